import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { findAxeProblems, findLayoutProblems } from "./inspect.ts";
import type { State } from "./states.ts";
import type { WebStage } from "./stage.ts";

/** Pictures go where git does not look. */
const OUT = resolve(".cache", "shots");
const LOOKS = [
  { name: "light-1280", colorScheme: "light", width: 1280, height: 860 },
  { name: "dark-1280", colorScheme: "dark", width: 1280, height: 860 },
  { name: "light-390", colorScheme: "light", width: 390, height: 844 },
  { name: "dark-390", colorScheme: "dark", width: 390, height: 844 },
] as const;
const REFLOW = { width: 320, height: 640 };

/** Opens a page, takes its picture wide and narrow, light and dark, and says what is wrong with it. */
export async function lookAt(page: Page, stage: WebStage, state: State): Promise<string[]> {
  mkdirSync(OUT, { recursive: true });
  const problems: string[] = [];
  for (const [index, { name, colorScheme, ...size }] of LOOKS.entries()) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    if (index === 0) await state.open(page, stage);
    await page.screenshot({ path: join(OUT, `${state.name}-${name}.png`), fullPage: true });
    const found = [...(await findLayoutProblems(page)), ...(await findAxeProblems(page))];
    problems.push(...found.map((problem) => `${name}: ${problem}`));
  }
  await page.setViewportSize(REFLOW);
  return [...problems, ...(await findLayoutProblems(page)).map((problem) => `320: ${problem}`)];
}
