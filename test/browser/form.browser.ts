import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { LENA, REDIS, ask } from "./states.ts";
import { useStage } from "./use-stage.ts";

const stage = useStage();

const SIZES = [
  { width: 1280, height: 860 },
  { width: 390, height: 844 },
] as const;

/** Waits until something stands inside the window, and is covered by nothing. */
async function isSeen(page: Page, selector: string): Promise<boolean> {
  const look = `(() => {
    const it = document.querySelector(${JSON.stringify(selector)});
    const { left, top, width, height, bottom } = it.getBoundingClientRect();
    const over = document.elementFromPoint(left + width / 2, top + height / 2);
    return bottom <= innerHeight && (over === it || it.contains(over));
  })()`;
  return stage.until(`${selector} is seen`, async () => (await page.evaluate(look)) === true || undefined, 5_000);
}

test.each(SIZES)("what is asked before a run is stopped is in sight, $width wide", async (size) => {
  const { id } = await ask(stage, REDIS);
  const page = await stage.person("mika");
  await page.setViewportSize(size);
  await page.goto(`${stage.url}/q/${id}`);
  await page.click(".menu.more > summary");
  await page.click(".stop summary");
  expect(await isSeen(page, ".stop button")).toBe(true);
  if (size.width < 900) return;
  const list = await page.locator("#list").boundingBox();
  expect(list && list.y + list.height).toBe(size.height);
});

test.each(["en", "de"])("the help about keys can be closed on a small screen, in %s", async (locale) => {
  const page = await stage.person("mika", { locale });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.keyboard.press("?");
  expect(await isSeen(page, "#keys button")).toBe(true);
});

test("what is wrong is told where it was written: in the menu, which stays open, or at the field", async () => {
  const one = await ask(stage, REDIS);
  const page = await stage.person("mika");
  await page.goto(`${stage.url}/q/${one.id}`);
  await page.click(".menu.more > summary");
  await page.click("button[formaction$='/assign']");
  await page.waitForSelector(".menu.more[open] .panel > #problem");
  const schema = { type: "object", properties: { size: { type: "integer", maximum: 100 }, name: { type: "string" } } };
  const two = await ask(stage, { items: [{ text: "How large is the pool?", schema }] });
  await page.goto(`${stage.url}/q/${two.id}`);
  await page.evaluate(`document.querySelector("#answer").noValidate = true`);
  await page.fill("input[type=number]", "500");
  await page.click("#answer button.p");
  await page.waitForSelector("#problem + input[type=number][aria-invalid=true]:focus");
  expect(await page.locator("#answer [aria-invalid=true]").count()).toBe(1);
});

test("whoever is signed out is told so, with the way back to where they were", async () => {
  const { id } = await ask(stage, REDIS);
  const page = await stage.person("mika");
  const address = `${stage.url}/q/${id}`;
  await page.goto(address);
  await page.waitForSelector("#live:not([hidden])");
  await page.route(address, (route) => route.fulfill({ status: 303, headers: { location: "/login" } }));
  await (await stage.engine()).comment(id, "Any news?", LENA);
  await page.waitForSelector("#offline:has-text('You are signed out')");
  expect(await page.locator("#live").isVisible()).toBe(false);
  await page.unroute(address);
  await page.click("#offline a");
  await page.waitForSelector("#code");
  await stage.signIn(page, "mika");
  await page.waitForURL(address);
});

test("the button that answers never shows its words on the colour that it had before", async () => {
  const { id } = await ask(stage, REDIS);
  const page = await stage.person("mika");
  await page.goto(`${stage.url}/q/${id}`);
  const look = `getComputedStyle(document.querySelector("#answer button.p")).transitionDuration`;
  await page.emulateMedia({ reducedMotion: "no-preference" });
  expect(await page.evaluate(look)).toBe("0s");
});

test("the button says whether something is to be chosen or to be written first", async () => {
  const page = await stage.person("mika");
  const said = (): Promise<string> => page.locator("#answer button.p .label").innerText();
  await page.goto(`${stage.url}/q/${(await ask(stage, { question: "What should it say?" })).id}`);
  expect(await said()).toBe("Write an answer first");
  await page.goto(`${stage.url}/q/${(await ask(stage, { question: "Which?", options: ["This", "That"] })).id}`);
  expect(await said()).toBe("Choose an answer first");
  await page.click("#answer label:has-text('Something else')");
  expect(await said()).toBe("Write an answer first");
  await page.fill("#answer [data-words]", "Neither");
  expect(await said()).toBe("Answer “Neither”");
});

test("nothing was run or loaded that the policy of the pages forbids", () => {
  expect(stage.violations).toEqual([]);
});
