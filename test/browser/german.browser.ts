import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findAxeProblems, findLayoutProblems } from "./inspect.ts";
import { BATCH_STATES, INSIGHTS_STATES } from "./insights-states.ts";
import { LINK_STATES } from "./link-states.ts";
import { EMPTY_PAGES, PAGES } from "./page-states.ts";
import { WebStage } from "./stage.ts";
import { OUTSIDE, STATES, type State } from "./states.ts";

/** Pictures go where git does not look. */
const OUT = resolve(".cache", "shots");
/** Where words have the least room, and where columns stand beside each other. */
const WIDTHS = [1280, 390, 320];
const AXE_WIDTH = 390;

const stage = new WebStage();
const pages: { outside?: Page; mika?: Page; admin?: Page } = {};
beforeAll(async () => {
  mkdirSync(OUT, { recursive: true });
  await stage.serve();
  pages.outside = await stage.visitor({ locale: "de" });
  pages.mika = await stage.person("mika", { locale: "de" });
  pages.admin = await stage.admin("mika", { locale: "de" });
});
afterAll(() => stage.close());

const UNSIGNED: ReadonlySet<State> = new Set([...OUTSIDE, ...LINK_STATES]);

// German words are longer. Every page in every state is looked at once more, the first of them on an empty store.
describe.each([...OUTSIDE, ...EMPTY_PAGES, ...STATES, ...PAGES, ...INSIGHTS_STATES, ...BATCH_STATES, ...LINK_STATES])(
  "$name",
  (state) => {
    test("has room for German, and is readable by all", async () => {
      const page = UNSIGNED.has(state) ? pages.outside! : state.isForAdmin ? pages.admin! : pages.mika!;
      await page.setViewportSize({ width: WIDTHS[0] ?? 0, height: 860 });
      await state.open(page, stage);
      expect(await page.getAttribute("html", "lang")).toBe("de");
      const problems: string[] = [];
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 860 });
        await page.screenshot({ path: join(OUT, `${state.name}-de-${width}.png`) });
        const axe = width === AXE_WIDTH ? await findAxeProblems(page) : [];
        problems.push(...[...(await findLayoutProblems(page)), ...axe].map((problem) => `${width}: ${problem}`));
      }
      expect(problems).toEqual([]);
    });
  },
);

test("no page does what its own policy forbids", () => {
  expect(stage.violations).toEqual([]);
});
