const ENTITIES = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };

/** All texts in a value, however deep. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}

/** The letters and digits of a text: what no channel escapes, breaks or draws differently. */
export function lettersOf(value: string): string {
  const plain = value.replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => ENTITIES[entity as keyof typeof ENTITIES]);
  return plain.replaceAll(/[^\p{L}\p{N}]/gu, "");
}
