import { Refusal } from "../core/refusal.ts";
import { Unfit } from "../edit/change.ts";
import type { KeyPath } from "../edit/table.ts";
import { setInToml, unsetInToml } from "../edit/toml-edit.ts";

/** The text of a settings file with one key set; `written` is its value as TOML. Every other byte stays. */
export function setKey(text: string, path: KeyPath, written: string): string {
  return refuseUnfit(() => setInToml(text, path, written));
}

/** The text of a settings file without one key; the same text if the key is not there. */
export function unsetKey(text: string, path: KeyPath): string {
  return refuseUnfit(() => unsetInToml(text, path));
}

function refuseUnfit(edit: () => string) {
  try {
    return edit();
  } catch (cause) {
    if (!(cause instanceof Unfit)) throw cause;
    throw new Refusal("bad_input", cause.message, { cause, hint: "Change it yourself with: askd config edit" });
  }
}
