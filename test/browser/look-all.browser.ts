import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { CARD_STATES } from "./card-states.ts";
import { CHANNEL_STATES } from "./channel-states.ts";
import { BATCH_STATES, INSIGHTS_STATES } from "./insights-states.ts";
import { LINK_STATES } from "./link-states.ts";
import { EMPTY_PAGES, PAGES } from "./page-states.ts";
import { OUTSIDE, STATES } from "./states.ts";

const SOURCES = resolve("src", "server", "pages");
/** What is asked for by a page, and is none. */
const PARTS: ReadonlySet<string> = new Set([
  "/live",
  "/r/:id/log",
  "/assets/:file",
  "/favicon.svg",
  "/manifest.webmanifest",
]);
/** The states that each page has a picture of, with the one where there is nothing yet. */
const PICTURED: Readonly<Record<string, readonly string[]>> = {
  "/": ["inbox", "first-run", "empty", "search-none", "many"],
  "/q/:id": ["question", "high-risk", "several", "typed", "answered", "expired", "cancelled", "no-access", "offline"],
  "/q/:id/work": ["work-page"],
  "/runs": ["runs", "runs-first", "runs-none"],
  "/r/:id": ["run-asks", "run-worked", "run-parts", "run-failed", "run-missing"],
  "/r/:id/work": ["run-work-page"],
  "/activity": ["activity", "activity-first", "activity-none"],
  "/templates": ["templates", "templates-first", "templates-refused"],
  "/insights": ["insights", "insights-first"],
  "/batch": ["batch", "batch-first", "batch-check", "batch-done"],
  "/channels": ["channels", "channels-first"],
  "/settings": ["settings", "settings-refused"],
  "/settings/policies": ["policies"],
  "/settings/people": ["people", "people-first", "people-admin"],
  "/settings/tokens": ["tokens", "tokens-admin"],
  "/workflows": [], // look-workflow.browser.ts has them
  "/workflows/:id": [],
  "/a/:token": ["link", "link-answered", "link-closed", "link-late", "link-bad"],
};

test("every page that the server has is pictured", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
  const texts = files.map((file) => readFileSync(join(SOURCES, file), "utf8"));
  const routes = texts.flatMap((text) => [...text.matchAll(/\.get\("(\/[^"]*)"/g)].map(([, route = ""]) => route));
  expect(routes.filter((route) => !PARTS.has(route)).toSorted()).toEqual(Object.keys(PICTURED).toSorted());
});

test("what is to be pictured is there, once", () => {
  const names = [
    ...OUTSIDE,
    ...STATES,
    ...CARD_STATES,
    ...EMPTY_PAGES,
    ...PAGES,
    ...LINK_STATES,
    ...INSIGHTS_STATES,
    ...BATCH_STATES,
    ...CHANNEL_STATES,
  ].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(Object.values(PICTURED).flatMap((wanted) => wanted.filter((name) => !names.includes(name)))).toEqual([]);
});
