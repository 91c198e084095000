interface TrustedPolicy {
  createHTML(text: string): string;
}
declare global {
  interface Window {
    trustedTypes?: { createPolicy(name: string, rules: { createHTML(text: string): string }): TrustedPolicy };
  }
}

/** What the server told about the reader. */
export const body = document.body;
const words = readWords();
// Pages of this server are the only text that ever becomes elements here.
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

/** Turns a page of this server into elements. */
export function parsePage(html: string): Document {
  return new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");
}

/** One text out of a reply in JSON. */
export async function readField(response: Response, name: string): Promise<string | undefined> {
  const given: unknown = await response.json();
  const fields: ReadonlyArray<[string, unknown]> =
    given !== null && typeof given === "object" ? Object.entries(given) : [];
  const value = fields.find(([key]) => key === name)?.[1];
  return typeof value === "string" ? value : undefined;
}

/** The card that is open. */
export function card(): HTMLElement | null {
  return find<HTMLElement>("main[data-id]");
}

export function answerForm(): HTMLFormElement | null {
  return find<HTMLFormElement>("#answer");
}

/** Says something to those who do not see it. */
export function announce(text: string): void {
  const said = find("#said");
  if (said) said.textContent = text;
}

/** One sentence on each line, after its name. */
function readWords(): Record<string, string> {
  const lines = (body.dataset["words"] ?? "").split("\n").map((line) => /^(.+?)=(.*)$/.exec(line));
  return Object.fromEntries(lines.map((line) => [line?.[1] ?? "", line?.[2] ?? ""]));
}
