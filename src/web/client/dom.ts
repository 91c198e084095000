interface TrustedPolicy {
  createHTML(text: string): string;
}
declare global {
  interface Window {
    trustedTypes?: { createPolicy(name: string, rules: { createHTML(text: string): string }): TrustedPolicy };
  }
}

/** Carries the reader's settings as data attributes. */
export const body = document.body;
const words = readWords();
// Only pages of this server are ever parsed as HTML.
const policy = window.trustedTypes?.createPolicy("askd", { createHTML: (text) => text });

export function say(key: string, values: Record<string, string | number> = {}): string {
  return (words[key] ?? "").replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

export function find<Found extends Element>(selector: string, within: ParentNode = document): Found | null {
  return within.querySelector<Found>(selector);
}

export function all<Found extends Element>(selector: string, within: ParentNode = document): Found[] {
  return [...within.querySelectorAll<Found>(selector)];
}

/** Parses a page of this server. */
export function parsePage(html: string): Document {
  return new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");
}

/** Reads one text field of a JSON response. */
export async function readField(response: Response, name: string): Promise<string | undefined> {
  const given: unknown = await response.json();
  const fields: ReadonlyArray<[string, unknown]> =
    given !== null && typeof given === "object" ? Object.entries(given) : [];
  const value = fields.find(([key]) => key === name)?.[1];
  return typeof value === "string" ? value : undefined;
}

/** The open card. */
export function card(): HTMLElement | null {
  return find<HTMLElement>("main[data-id]");
}

export function answerForm(): HTMLFormElement | null {
  return find<HTMLFormElement>("#answer");
}

/** Announces a text to screen readers. */
export function announce(text: string): void {
  const said = find("#said");
  if (said) said.textContent = text;
}

/** One message per line: `key=text`. */
function readWords() {
  const lines = (body.dataset["words"] ?? "").split("\n").map((line) => /^(.+?)=(.*)$/.exec(line));
  return Object.fromEntries(lines.map((line) => [line?.[1] ?? "", line?.[2] ?? ""]));
}
