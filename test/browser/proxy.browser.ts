import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { TestProxy } from "../proxy.ts";
import { WebStage } from "./stage.ts";

const CACHE = ["Redis or Memcached?", "-o", "Redis", "-o", "Memcached"];

const stage = new WebStage();
let proxy: TestProxy;

beforeAll(async () => {
  proxy = await TestProxy.start();
  await serve();
});
afterEach(async () => {
  await stage.clear();
  await stage.cancelAll();
});
afterAll(async () => {
  await stage.close();
  await proxy.stop();
});

async function serve(): Promise<void> {
  await stage.serve("--behind-proxy", "--name", proxy.name);
  proxy.target = Number(new URL(stage.url).port);
}

/** A browser of somebody who is signed in, and who reaches the server by the proxy. */
async function visit(): Promise<Page> {
  const page = await stage.visitor({ ignoreHTTPSErrors: true });
  await page.goto(`${proxy.url}/login`);
  await stage.signIn(page, "mika");
  await page.waitForURL(`${proxy.url}/`);
  return page;
}

/** How a question was answered, by the trail. */
async function answersOf(id: string): Promise<string[]> {
  const question = await stage.until("it is answered", async () => {
    const read = await stage.read(id);
    return read.status === "answered" ? read : undefined;
  });
  const events = await (await stage.engine()).readChain(question.runId);
  return events.map(({ event }) => event.type).filter((type) => /settling|answered|late_reply|refused/.test(type));
}

test("what is sent while nobody is behind the proxy is kept, and sent when the server is back", async () => {
  const id = await stage.type("ask", ...CACHE);
  const page = await visit();
  await page.click("label:has-text('Memcached')");
  await page.fill("#note", "written before the restart");
  await stage.kill();
  await page.click("button.p");
  await stage.until(
    "the proxy replied to it",
    async () => proxy.turnedAway.some((request) => request === `POST /q/${id}/answer`) || undefined,
  );
  await page.waitForSelector("#offline:has-text('Connection lost')");
  expect(await page.inputValue("#note")).toBe("written before the restart");
  expect(await page.locator("body").innerText()).not.toContain("Bad Gateway");
  await serve();
  await page.waitForSelector("main[data-state=settling], main[data-state=answered]", { timeout: 30_000 });
  await page.waitForSelector("#offline", { state: "hidden" });
  expect(await answersOf(id)).toEqual(["question.settling", "question.answered"]);
  expect(await stage.read(id)).toMatchObject({ answer: { note: "written before the restart" } });
  expect(stage.violations).toEqual([]);
});

test("an answer that arrived, and whose reply the proxy lost, counts once and is shown as given", async () => {
  const id = await stage.type("ask", ...CACHE);
  const page = await visit();
  await page.click("label:has-text('Memcached')");
  await page.fill("#note", "said once");
  proxy.loseReply((request) => request === `POST /q/${id}/answer`);
  await page.click("button.p");
  await page.waitForSelector("main[data-state=settling], main[data-state=answered]", { timeout: 30_000 });
  expect(await answersOf(id)).toEqual(["question.settling", "question.answered"]);
  await page.waitForSelector("main[data-state=answered]");
  expect(await page.locator("#lost").isVisible()).toBe(false);
});
