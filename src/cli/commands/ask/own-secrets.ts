import { join } from "node:path";
import { parseEnvFile, secretsIn } from "../../../core/secret/secret-env.ts";
import type { Context } from "../../context.ts";

const ENV_FILES = [".env", ".env.local", ".env.development", ".env.production", ".env.test", ".envrc"];
const LONGEST_ENV_FILE = 1_000_000;
/** The most that a server accepts with a question. */
const MOST_SECRETS = 500;

/** Secrets in this environment and in the folder's `.env` files, which must not reach a channel. */
export async function readOwnSecrets(
  context: Pick<Context, "cwd" | "readFile">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const files = await Promise.all(
    ENV_FILES.map((name) => context.readFile(join(context.cwd, name)).catch(() => "")), // most of them are not there
  );
  const found = files
    .filter((text) => text.length <= LONGEST_ENV_FILE)
    .flatMap((text) => secretsIn(parseEnvFile(text)));
  return [...new Set([...secretsIn(env), ...found])].slice(0, MOST_SECRETS);
}
