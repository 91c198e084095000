import { expect, test } from "vitest";
import { redact } from "../../../core/secret/redact.ts";
import { readOwnSecrets } from "./own-secrets.ts";

const MADE_UP = "q7Rt2Yw9Lm4Kx8Zb";

test("what the environment and the .env files of the folder hold is taken out, also encoded", async () => {
  const files: Record<string, string> = {
    "/project/.env": `API_KEY=${MADE_UP}file\n`,
    "/project/.env.local": "MODE=dev\n",
  };
  const readFile = (path: string): Promise<string> =>
    path in files ? Promise.resolve(files[path] ?? "") : Promise.reject(new Error("not there"));
  const secrets = await readOwnSecrets({ cwd: "/project", readFile }, { DB_PASSWORD: `${MADE_UP}env` });
  expect(secrets).toEqual([`${MADE_UP}env`, `${MADE_UP}file`]);
  const encoded = secrets.map((secret) => Buffer.from(secret).toString("base64url"));
  expect(redact(`a ${encoded.join(" b ")} c`, secrets)).toBe("a [redacted] b [redacted] c");
});
