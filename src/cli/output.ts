import type { Context } from "./context.ts";
import { renderJson } from "./json.ts";

const INDENT = 2;

/** Prints what a command found: as JSON where that was asked for, as a page otherwise. */
export function printResult(
  context: Pick<Context, "stdout" | "json">,
  fields: readonly string[],
  result: { json: () => object | readonly object[]; page: () => string },
): void {
  const { json, stdout } = context;
  if (!json) return stdout.write(result.page());
  stdout.write(renderJson(result.json(), json, { fields, ...(stdout.isTty && { indent: INDENT }) }));
}
