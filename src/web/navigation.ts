import type { Key } from "./words.ts";

/** The pages that there are; those without an entry below are reached from others. */
export type PageName = "inbox" | "question" | "settings" | "problem" | "login";

/** What the bar at the top leads to. */
export const NAVIGATION: ReadonlyArray<{ name: PageName; href: string; key: Key }> = [
  { name: "inbox", href: "/", key: "nav.inbox" },
  { name: "settings", href: "/settings", key: "nav.settings" },
];
