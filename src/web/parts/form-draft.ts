/** What a form was sent with, by the names of its fields, so that it can be shown again as it was. */
export type Draft = ReadonlyMap<string, readonly string[]>;

export const NO_DRAFT: Draft = new Map();

/** The values of radio buttons and boxes that mean words of one's own. */
export const OTHER = "other";

/** The names of the fields of one item of a question. */
export function fieldNames(index: number): { choice: string; text: string; part: (property: string) => string } {
  return { choice: `i.${index}`, text: `t.${index}`, part: (property) => `f.${index}.${property}` };
}

export function draftedText(draft: Draft, name: string): string {
  return draft.get(name)?.[0] ?? "";
}
