// Writes action/redact.mjs, the redaction of src for the GitHub action, which runs without a build: npm run redactor
import { build } from "esbuild";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const [outfile = join(ROOT, "action", "redact.mjs")] = process.argv.slice(2);

await build({
  absWorkingDir: ROOT,
  stdin: {
    contents: `export { redactor } from "./src/core/secret/redact.ts";
      export { secretsIn } from "./src/core/secret/secret-env.ts";`,
    resolveDir: ROOT,
    loader: "ts",
  },
  outfile,
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  charset: "utf8",
  banner: { js: "// Generated from src/core/secret. Do not edit it: npm run redactor" },
  logLevel: "warning",
});
