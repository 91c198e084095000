import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { capture } from "./capture.ts";
import { findAxeProblems, findLayoutProblems } from "./inspect.ts";
import type { WebStage } from "./stage.ts";
import type { State } from "./states.ts";

/** Pictures of every page in every state go where git does not look. */
const OUT = resolve("shots");
/** `npm run shots` takes them all; every change is looked at once wide and light, once narrow and dark. */
const IS_WHOLE = process.env["ASKD_SHOTS"] === "all";
/** The looks of a page whose wide window is so wide. */
function looksAt(width: number) {
  const wide = { width, height: 860 };
  const narrow = { width: 390, height: 844 };
  const looks = [
    { name: `light-${width}`, colorScheme: "light", ...wide },
    { name: `dark-${width}`, colorScheme: "dark", ...wide },
    { name: "light-390", colorScheme: "light", ...narrow },
    { name: "dark-390", colorScheme: "dark", ...narrow },
  ] as const;
  const german = [
    { name: `de-${width}`, ...wide },
    { name: "de-390", ...narrow },
  ] as const;
  return {
    looks: looks.filter(({ name }) => IS_WHOLE || name === `light-${width}` || name === "dark-390"),
    german: german.filter(({ name }) => IS_WHOLE || name === "de-390"),
  };
}
type Looks = ReturnType<typeof looksAt>;
/** How wide the wide window is, unless a page needs another one. */
const WIDE = 1280;
const REFLOW = { width: 320, height: 640 };
const ADDED_MS = IS_WHOLE ? 250 : 120;

type Language = "en" | "de";

/** Takes pictures of states, into a folder of their own, and says what is wrong with what is seen. */
export function lookAtAll(
  folder: string,
  stage: WebStage,
  states: readonly State[],
  { wide = WIDE }: { wide?: number } = {},
): void {
  const seen = looksAt(wide);
  const out = join(OUT, folder);
  const readers = new Readers(stage);
  beforeAll(async () => {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    await stage.serve();
  });
  afterAll(() => stage.close());

  describe.each(states)("$name", (state) => {
    test("is readable by all, in light and dark, wide and narrow", async () => {
      expect(await lookAt(await readers.find(state, "en"), seen, { stage, state, out })).toEqual([]);
    });
    test("has room for German words", async () => {
      expect(await lookAtGerman(await readers.find(state, "de"), seen, { stage, state, out })).toEqual([]);
    });
  });

  test("every page has its picture in every state, theme, width and language", () => {
    const looks = [...seen.looks, ...seen.german];
    const wanted = states.flatMap((state) => looks.map((look) => `${state.name}-${look.name}.png`));
    expect(readdirSync(out).toSorted()).toEqual(wanted.toSorted());
  });
  test("no page does what its own policy forbids", () => {
    expect(stage.violations).toEqual([]);
  });
}

/** A state of a page, and the folder of its pictures. */
interface LookedAt {
  stage: WebStage;
  state: State;
  out: string;
}

async function lookAt(page: Page, { looks }: Looks, { stage, state, out }: LookedAt): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, { name, colorScheme, ...size }] of looks.entries()) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    if (index === 0) await state.open(page, stage);
    await state.turn?.(page);
    await page.waitForTimeout(ADDED_MS); // what the script adds belongs to the picture
    await takePicture(page, state, join(out, `${state.name}-${name}.png`));
    // Of all rules only this one depends on the theme.
    const rules = IS_WHOLE && colorScheme === "dark" ? ["color-contrast"] : [];
    const found = [...(await findLayoutProblems(page)), ...(await findAxeProblems(page, ...rules))];
    problems.push(...found.map((problem) => `${name}: ${problem}`));
  }
  await page.setViewportSize(REFLOW);
  problems.push(...(await findLayoutProblems(page)).map((problem) => `320: ${problem}`));
  await state.leave?.(page);
  return problems;
}

async function lookAtGerman(page: Page, { german }: Looks, { stage, state, out }: LookedAt): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, { name, ...size }] of german.entries()) {
    await page.setViewportSize(size);
    if (index === 0) await state.open(page, stage);
    await state.turn?.(page);
    await takePicture(page, state, join(out, `${state.name}-${name}.png`));
    problems.push(...(await findLayoutProblems(page)).map((problem) => `${name}: ${problem}`));
  }
  await page.setViewportSize(REFLOW);
  problems.push(...(await findLayoutProblems(page)).map((problem) => `320: ${problem}`));
  await state.leave?.(page);
  return problems;
}

/** What is taller than the window gets a taller window: what sticks to its end is then where it belongs. */
async function takePicture(page: Page, { isTall = false }: State, path: string): Promise<void> {
  const size = page.viewportSize();
  if (isTall && size) {
    const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
    await page.setViewportSize({ width: size.width, height: Math.max(size.height, height) });
  }
  await capture(page, { path });
  if (size) await page.setViewportSize(size);
}

/** One browser for everybody that states are opened by. */
class Readers {
  readonly #stage: WebStage;
  readonly #pages = new Map<string, Promise<Page>>();

  constructor(stage: WebStage) {
    this.#stage = stage;
  }

  find({ seenBy = "person" }: State, locale: Language): Promise<Page> {
    const name = `${seenBy} ${locale}`;
    const page = this.#pages.get(name) ?? this.#open(seenBy, locale);
    this.#pages.set(name, page);
    return page;
  }

  #open(seenBy: NonNullable<State["seenBy"]>, locale: Language): Promise<Page> {
    if (seenBy === "nobody") return this.#stage.visitor({ locale });
    return seenBy === "admin" ? this.#stage.admin("mika", { locale }) : this.#stage.person("mika", { locale });
  }
}
