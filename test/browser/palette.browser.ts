import { expect, test } from "vitest";
import { LENA, ask } from "./states.ts";
import { useStage } from "./use-stage.ts";

const stage = useStage();

// The browser of a test is no app; what would be put on its icon is written down instead.
const BADGE = `
  window.badges = [];
  navigator.setAppBadge = async (count) => void window.badges.push(count);
  navigator.clearAppBadge = async () => void window.badges.push(0);
`;

test("everything is found by typing: a question, a page, something to do, a run by its number", async () => {
  const asked = await ask(
    stage,
    { question: "Redis or Memcached?", options: ["Redis", "Memcached"] },
    { name: "cache" },
  );
  await ask(stage, { question: "Which region?", timeout: "1h" }, { name: "infra" });
  const page = await stage.person("mika");
  await page.keyboard.press("Control+k");
  await page.waitForSelector("#palette[open]");
  expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe("combobox");
  await page.keyboard.type("memcached");
  expect(await page.locator("#found [aria-selected=true]").innerText()).toContain("Redis or Memcached?");
  await page.keyboard.press("Enter");
  await page.waitForSelector(`main[data-id="${asked.id}"]`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("note for the");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.id")).toBe("note");
  await page.keyboard.press("Control+k");
  await page.keyboard.press("ArrowUp");
  const last = await page.locator("#found li").last().getAttribute("id");
  expect(await page.locator("#palette input").getAttribute("aria-activedescendant")).toBe(last);
  await page.keyboard.press("Escape");
  await page.waitForSelector("#palette", { state: "hidden" });
  expect(await page.evaluate("document.activeElement.id")).toBe("note");
  const { run } = await (await stage.engine()).read(asked.id);
  await page.keyboard.press("Control+k");
  await page.keyboard.type(`#${run.number}`);
  await page.click("#found >> text=Open run");
  await page.waitForURL(`${stage.url}/r/${run.id}`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("region");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/?find=region");
  await page.waitForSelector("main h1:text-is('Which region?')");
});

test("a question that is closed is found, and said to be so", async () => {
  const asked = await ask(stage, { question: "Which port?", options: ["80", "8080"] }, { name: "ports" });
  await (await stage.engine()).cancel(asked.id, { reason: "not needed" }, LENA);
  await ask(stage, { question: "Which host?" }, { name: "hosts" });
  const page = await stage.person("mika");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("which");
  const found = page.locator("#found li");
  expect(await found.filter({ hasText: "Which port?" }).locator("small").innerText()).toMatch(
    /^Closed today, #\d+ ports$/,
  );
  expect(await found.filter({ hasText: "Which host?" }).locator("small").innerText()).toMatch(/^#\d+ hosts$/);
});

test("who turned single keys off is not asked for more by another", async () => {
  const page = await stage.person("mika");
  await page.goto(`${stage.url}/settings`);
  await page.check("input[name=keys][value=off]");
  await page.click("main form:has(#language) button.p");
  await page.waitForSelector("body[data-keys=off]");
  await page.keyboard.press("Control+k");
  expect(await page.locator("#palette[open]").count()).toBe(0);
});

test("how many wait is in the title, on the icon of the page and on that of the app", async () => {
  const page = await stage.visitor();
  await page.addInitScript(BADGE);
  await page.goto(`${stage.url}/login`);
  await stage.signIn(page, "mika");
  await page.waitForSelector("#live:not([hidden])");
  await ask(stage, { question: "One?" });
  await ask(stage, { question: "Two?" });
  await stage.until("both are counted", async () => (await page.title()).startsWith("(2) ") || undefined);
  expect(await page.locator("link[rel=icon]").getAttribute("href")).toBe("/favicon.svg?n=2");
  expect(await page.evaluate("window.badges.at(-1)")).toBe(2);
  await stage.cancelAll();
  await stage.until("none is", async () => (await page.evaluate("window.badges.at(-1)")) === 0 || undefined);
  const manifest = await fetch(`${stage.url}/manifest.webmanifest`);
  expect(manifest.headers.get("content-type")).toBe("application/manifest+json");
  expect(await manifest.json()).toMatchObject({ start_url: "/", display: "standalone" });
});

test("nothing was run or loaded that the policy of the pages forbids", () => {
  expect(stage.violations).toEqual([]);
});
