import { makeVisible } from "../../core/text/visible.ts";

/** Makes foreign text safe to print: control and invisible characters become visible. */
export function sanitise(text: string): string {
  return makeVisible(text);
}

/** Foreign text in one line. */
export function oneLine(text: string): string {
  return sanitise(text.replace(/[\r\n\t]+/g, " "))
    .replace(/ {2,}/g, " ")
    .trim();
}
