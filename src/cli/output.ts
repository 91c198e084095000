import type { Context } from "./context.ts";
import { renderJson } from "./json.ts";

const INDENT = 2;

/** Prints the result of a command: as JSON with `--json`, else as text. */
export function printResult(
  context: Pick<Context, "stdout" | "json">,
  fields: readonly string[],
  result: { json: () => object | readonly object[]; page: () => string },
): void {
  const { json, stdout } = context;
  if (!json) return stdout.write(result.page());
  stdout.write(renderJson(result.json(), json, { fields, indent: stdout.isTty ? INDENT : undefined }));
}
