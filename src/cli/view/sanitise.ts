import { makeVisible } from "../../core/text/visible.ts";

/** Makes foreign text safe to print: what a terminal would obey, or a reader would miss, becomes visible. */
export function sanitise(text: string): string {
  return makeVisible(text);
}

/** Foreign text in one line. */
export function oneLine(text: string): string {
  return sanitise(text.replace(/[\r\n\t]+/g, " "))
    .replace(/ {2,}/g, " ")
    .trim();
}
