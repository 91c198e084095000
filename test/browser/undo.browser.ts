import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { LENA, ask } from "./states.ts";
import { useStage } from "./use-stage.ts";

// Longer than the five seconds that people have: a busy machine must not decide what is tested.
const stage = useStage('[answers]\nundo_window = { web = "2m" }\n');

const CACHE = ["Redis or Memcached?", "-o", "redis:Redis (recommended)", "-o", "memcached:Memcached"] as const;

test("an answer can be taken back for a while, and the form is as it was", async () => {
  const page = await stage.person("mika");
  const id = await stage.type("ask", ...CACHE);
  await page.waitForSelector("#answer");
  await page.fill("#note", "keep it small");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector('main[data-state="settling"]');
  expect(await page.innerText("#terminal code")).toMatch(/^askd show \d+$/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("u");
  await page.waitForSelector('main[data-state="open"]');
  expect(await page.inputValue("#note")).toBe("keep it small");
  expect(await page.innerText("#terminal code")).toMatch(/^askd answer \d+ 1$/);
  expect((await stage.read(id)).status).toBe("pending");
});

test("what happens while a page is being read anew is shown too, and so is what comes after it", async () => {
  const engine = await stage.engine();
  const { id } = await ask(stage, { question: "Is it slow?", options: ["Yes", "No"] });
  const page = await stage.person("mika");
  const address = `${stage.url}/q/${id}`;
  await page.goto(address);
  await page.waitForSelector("#live:not([hidden])");
  let [held, goOn] = [(): void => undefined, (): void => undefined];
  const isHeld = new Promise<void>((resolve) => (held = resolve));
  const isOver = new Promise<void>((resolve) => (goOn = resolve));
  const hold = async (route: Route): Promise<void> => {
    held();
    await isOver;
    await route.continue();
  };
  await page.route(address, hold, { times: 1 });
  await engine.comment(id, "first", LENA);
  await isHeld;
  await engine.comment(id, "second", LENA);
  await page.waitForTimeout(1_000); // it is heard of while the page is read; if not, nothing is tested, and all is well
  goOn();
  await page.waitForSelector("#comments:has-text('second')");
  await engine.comment(id, "third", LENA);
  await page.waitForSelector("#comments:has-text('third')");
  expect(await page.locator("#comments > p").count()).toBe(3);
});

test("without script a question is read, answered, taken back and answered again", async () => {
  const id = await stage.type("ask", ...CACHE, "--context", "See [the plan](https://example.com/plan).");
  const page = await stage.person("mika", { javaScriptEnabled: false });
  expect(await page.locator(".md a").innerText()).toContain("(example.com)");
  await page.click("label:has-text('Memcached')");
  await page.fill("#note", "no script here");
  await page.click("button.p");
  expect(await page.locator("#state").innerText()).toContain("Answered “Memcached”");
  await page.click("#state >> text=Undo");
  expect((await stage.read(id)).status).toBe("pending");
  await page.click("text=Something else");
  await page.fill("[name='t.0']", "Neither");
  await page.fill("#note", "no script here");
  await page.click("button.p");
  expect(await page.locator("#state").innerText()).toContain("Answered “Neither”");
  expect(await stage.read(id)).toMatchObject({ settling: { answer: { note: "no script here", by: { id: "mika" } } } });
});
