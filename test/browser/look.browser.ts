import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findAxeProblems, findLayoutProblems } from "./inspect.ts";
import { EMPTY_PAGES, PAGES } from "./page-states.ts";
import { WebStage } from "./stage.ts";
import { OUTSIDE, STATES } from "./states.ts";

/** Pictures of every page in every state go where git does not look. */
const OUT = resolve("shots");
const LOOKS = [
  { name: "light-1280", colorScheme: "light", width: 1280, height: 860 },
  { name: "dark-1280", colorScheme: "dark", width: 1280, height: 860 },
  { name: "light-390", colorScheme: "light", width: 390, height: 844 },
  { name: "dark-390", colorScheme: "dark", width: 390, height: 844 },
] as const;
const REFLOW = { width: 320, height: 640 };
const ADDED_MS = 250;

const stage = new WebStage();
const pages: { outside?: Page; mika?: Page; admin?: Page } = {};
beforeAll(async () => {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  await stage.serve();
  pages.outside = await stage.visitor();
  pages.mika = await stage.person("mika");
  pages.admin = await stage.admin("mika");
});
afterAll(() => stage.close());

describe.each([...OUTSIDE, ...EMPTY_PAGES, ...STATES, ...PAGES])("$name", (state) => {
  test("is readable by all, in light and dark, wide and narrow", async () => {
    const page = OUTSIDE.includes(state) ? pages.outside! : state.isForAdmin ? pages.admin! : pages.mika!;
    const problems: string[] = [];
    for (const [index, { name, colorScheme, ...size }] of LOOKS.entries()) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      if (index === 0) await state.open(page, stage);
      await page.waitForTimeout(ADDED_MS); // what the script adds belongs to the picture
      await page.screenshot({ path: join(OUT, `${state.name}-${name}.png`) });
      const found = [...(await findLayoutProblems(page)), ...(await findAxeProblems(page))];
      problems.push(...found.map((problem) => `${name}: ${problem}`));
    }
    await page.setViewportSize(REFLOW);
    problems.push(...(await findLayoutProblems(page)).map((problem) => `320: ${problem}`));
    expect(problems).toEqual([]);
    expect(LOOKS.filter(({ name }) => !existsSync(join(OUT, `${state.name}-${name}.png`)))).toEqual([]);
  });
});

test("no page does what its own policy forbids", () => {
  expect(stage.violations).toEqual([]);
});
