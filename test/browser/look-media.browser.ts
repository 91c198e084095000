import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { capture } from "./capture.ts";
import { findAxeProblems, findLayoutProblems } from "./inspect.ts";
import { workedRun } from "./scripted-claude.ts";
import { WebStage } from "./stage.ts";
import { ask } from "./states.ts";

const OUT = resolve("shots", "media");
const STILL = { reducedMotion: "reduce" } as const;
const MEDIA = [
  { name: "print", media: "print" },
  { name: "forced-light", forcedColors: "active", colorScheme: "light" },
  { name: "forced-dark", forcedColors: "active", colorScheme: "dark" },
  { name: "contrast-light", contrast: "more", colorScheme: "light" },
  { name: "contrast-dark", contrast: "more", colorScheme: "dark" },
] as const;

const stage = new WebStage();
const opened: { page?: Page } = {};
beforeAll(async () => {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  await stage.serve();
  opened.page = await stage.person("mika");
  await ask(stage, { question: "Which port?", options: ["80", "8080"] });
  const run = await workedRun(stage, "add-caching");
  await opened.page.goto(`${stage.url}/q/${run.pendingId!}`);
  await opened.page.waitForSelector("#work .diff");
});
afterAll(() => stage.close());

describe.each(MEDIA)("$name", ({ name, ...media }) => {
  test.each([1280, 390])("a question is readable, %i wide", async (width) => {
    const page = opened.page!;
    await page.setViewportSize({ width, height: 860 });
    await page.emulateMedia({ media: null, forcedColors: null, contrast: null, colorScheme: null, ...STILL, ...media });
    await capture(page, { path: join(OUT, `question-${name}-${width}.png`) });
    expect(await findLayoutProblems(page)).toEqual([]);
    if (!("forcedColors" in media)) expect(await findAxeProblems(page)).toEqual([]);
  });
});

test("on paper there is the question, and nothing to press", async () => {
  const page = opened.page!;
  await page.emulateMedia({ media: "print", forcedColors: null, contrast: null });
  expect(await page.locator("h1 >> visible=true").allInnerTexts()).toEqual([
    "Redis or Memcached for the caching layer?",
  ]);
  expect(await page.locator("button, summary, nav").filter({ visible: true }).count()).toBe(0);
});

test("with the colours of the system the button that answers stands out from all that is beside it", async () => {
  const page = opened.page!;
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.emulateMedia({ media: null, forcedColors: "active", contrast: null });
  const look = (selector: string, what: string): Promise<unknown> =>
    page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${what}`);
  expect(await look(".act .p", "backgroundColor")).not.toBe(await look(".act .menu > summary", "backgroundColor"));
  expect(await look(".act .menu > summary", "color")).toBe(await look(".act > button:not(.p)", "color"));
});

test("with the colours of the system the row that is open and the chosen option are told from the others", async () => {
  const page = opened.page!;
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.emulateMedia({ media: null, forcedColors: "active", contrast: null });
  const edge = (selector: string): Promise<unknown> =>
    page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).borderInlineStartColor`);
  expect(await edge(".row[aria-current]")).not.toBe(await edge(".row:not([aria-current])"));
  expect(await edge(".opt:has(:checked)")).not.toBe(await edge(".opt:not(:has(:checked))"));
});
