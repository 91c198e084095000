import type { MessageKey } from "../words/words.ts";

/** All pages; those without a navigation entry are reached from others. */
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

/** Entries of the navigation bar. */
export const NAVIGATION: ReadonlyArray<{ name: PageName; href: string; key: MessageKey }> = [
  { name: "inbox", href: "/", key: "nav.inbox" },
  { name: "runs", href: "/runs", key: "nav.runs" },
  { name: "activity", href: "/activity", key: "nav.activity" },
  { name: "templates", href: "/templates", key: "nav.templates" },
  { name: "insights", href: "/insights", key: "nav.insights" },
  { name: "settings", href: "/settings", key: "nav.settings" },
];
