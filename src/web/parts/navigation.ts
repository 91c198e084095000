import type { Key } from "../words/words.ts";

/** The pages that there are; those without an entry below are reached from others. */
export type PageName =
  | "inbox"
  | "question"
  | "runs"
  | "activity"
  | "templates"
  | "insights"
  | "settings"
  | "problem"
  | "login";

/** What the bar at the top leads to. */
export const NAVIGATION: ReadonlyArray<{ name: PageName; href: string; key: Key }> = [
  { name: "inbox", href: "/", key: "nav.inbox" },
  { name: "runs", href: "/runs", key: "nav.runs" },
  { name: "activity", href: "/activity", key: "nav.activity" },
  { name: "templates", href: "/templates", key: "nav.templates" },
  { name: "insights", href: "/insights", key: "nav.insights" },
  { name: "settings", href: "/settings", key: "nav.settings" },
];
