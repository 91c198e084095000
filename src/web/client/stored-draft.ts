import { all, answerForm, body, card, find } from "./dom.ts";

type Fields = Array<[name: string, value: string]>;

const LONGEST_MS = 7 * 86_400_000;
const NOT_KEPT = new Set(["csrf", "do", "force", "word", "for", "by"]);

/** Stores the form of the open card until it is sent. */
export function storeDraft(): void {
  const form = answerForm();
  const id = card()?.dataset["id"];
  if (!form || id === undefined) return;
  const fields = [...new FormData(form)].filter(
    (field): field is [string, string] => typeof field[1] === "string" && !NOT_KEPT.has(field[0]),
  );
  write(`askd:draft:${id}`, { at: Date.now(), fields });
  // A reload must open this question again, not the first one of the inbox.
  if (location.pathname === "/") {
    history.replaceState(null, "", `/q/${id}`);
    body.dataset["page"] = "question";
  }
}

export function deleteDraft(id: string | undefined): void {
  if (id !== undefined) localStorage.removeItem(`askd:draft:${id}`);
}

/** Fills the form with the stored draft, or shows its text if the form is gone. */
export function restoreDraft(): void {
  const main = card();
  const id = main?.dataset["id"];
  const draft = id === undefined ? undefined : read(`askd:draft:${id}`);
  if (!main || !draft) return;
  const form = answerForm();
  if (form && main.dataset["state"] === "open") {
    if (!main.dataset["filled"]) fill(form, draft);
    return;
  }
  if (main.dataset["by"] === body.dataset["me"]) {
    if (main.dataset["state"] !== "settling") deleteDraft(id);
    return;
  }
  showUnsentText(writtenText(draft));
}

/** The free text of a form. */
export function writtenText(fields: Fields): string {
  return fields
    .filter(([name, value]) => /^(t\.|note$|back$)/.test(name) && value.trim() !== "")
    .map(([, value]) => value.trim())
    .join("\n");
}

/** Deletes drafts that nobody came back to. */
export function deleteOldDrafts(): void {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith("askd:draft:") && !read(key)) localStorage.removeItem(key);
  }
}

function showUnsentText(text: string) {
  const panel = find<HTMLElement>("#lost");
  const kept = find<HTMLTextAreaElement>("#kept");
  if (!panel || !kept || text === "" || kept.value !== "") return;
  kept.value = text;
  panel.hidden = false;
}

function fill(form: HTMLFormElement, fields: Fields) {
  const names = new Set(fields.map(([name]) => name));
  for (const input of all<HTMLInputElement>("input[type=radio], input[type=checkbox]", form)) {
    if (names.has(input.name))
      input.checked = fields.some(([name, value]) => name === input.name && value === input.value);
  }
  for (const [name, value] of fields) {
    const field = form.elements.namedItem(name);
    const isText = field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement;
    if (isText || (field instanceof HTMLInputElement && !/radio|checkbox/.test(field.type))) field.value = value;
  }
}

function read(key: string) {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
    if (kept === null || typeof kept !== "object" || !("at" in kept) || !("fields" in kept)) return undefined;
    if (Date.now() - Number(kept.at) > LONGEST_MS || !Array.isArray(kept.fields)) return undefined;
    return kept.fields.flatMap((field: unknown) =>
      Array.isArray(field) ? [[String(field[0]), String(field[1])] satisfies [string, string]] : [],
    );
  } catch {
    return undefined; // not one of our entries
  }
}

function write(key: string, value: unknown) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Storage is full or disabled; the form itself still has the text.
  }
}
