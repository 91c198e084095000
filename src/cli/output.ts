import type { Context } from "./context.ts";
import { renderJson } from "./json.ts";

const INDENT = 2;

/** Prints the result of a command: as JSON with `--json`, else as text. */
export function printResult(
  context: Pick<Context, "stdout" | "json">,
  fields: readonly string[],
  result: { json: () => object | readonly object[]; page: () => string; /** Of a source document. */ keepsCase?: true },
): void {
  const { json, stdout } = context;
  if (!json) return stdout.write(result.page());
  const { keepsCase } = result;
  stdout.write(renderJson(result.json(), json, { fields, keepsCase, indent: stdout.isTty ? INDENT : undefined }));
}
