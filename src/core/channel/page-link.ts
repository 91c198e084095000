import type { Rules } from "../rules.ts";
import type { Language } from "../text/language.ts";
import { tellIn } from "./message-words.ts";

const LOOPBACK = /^https?:\/\/(?:127(?:\.\d+){3}|(?:[\w-]+\.)*localhost|\[::1\])(?::\d+)?(?:\/|$)/i;

/** The address of a page, for people who are elsewhere; undefined without a public address. */
export function pageLink(path: string, { publicUrl }: Pick<Rules, "publicUrl">): string | undefined {
  return publicUrl === undefined ? undefined : `${publicUrl.replace(/\/+$/, "")}${path}`;
}

/** Says whether an address leads to the machine that it is opened on. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address);
}

/** The lines of a link in a text: one that works on one machine only says so. */
export function linkLines(link: string | undefined, language: Language): string[] {
  if (link === undefined) return [];
  return isLoopback(link) ? [link, tellIn(language, "link.here")] : [link];
}

/** The label of a link or of the button that opens it. */
export function openLabel(link: string, language: Language): string {
  return tellIn(language, isLoopback(link) ? "open.here" : "open");
}
