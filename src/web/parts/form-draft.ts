/** Values of a form by field name, to show it again as it was submitted. */
export type FormDraft = ReadonlyMap<string, readonly string[]>;

export const EMPTY_DRAFT: FormDraft = new Map();

/** Value of the choice that means free text. */
export const OTHER_CHOICE = "other";

/** Names of the form fields of one item. */
export function itemFieldNames(index: number): { choice: string; text: string; part: (property: string) => string } {
  return { choice: `i.${index}`, text: `t.${index}`, part: (property) => `f.${index}.${property}` };
}

export function draftText(draft: FormDraft, name: string): string {
  return draft.get(name)?.[0] ?? "";
}
