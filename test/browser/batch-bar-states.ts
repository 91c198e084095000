import type { Page } from "playwright-core";
import type { WebStage } from "./stage.ts";
import { type State, ask } from "./states.ts";

/** Fills an empty inbox: two runs that ask the same, two with some of its options, one with others, one alone. */
async function fill(stage: WebStage): Promise<void> {
  await stage.cancelAll();
  const cache = { question: "Redis or Memcached for the cache?", options: ["Redis", "Memcached"] };
  await ask(stage, { ...cache, timeout: "5h" }, { name: "add-caching" });
  await ask(stage, { ...cache, timeout: "9h" }, { name: "add-sessions" });
  await ask(
    stage,
    { question: "What keeps the job queue?", options: ["RabbitMQ", "Redis"], timeout: "10h" },
    { name: "jobs" },
  );
  await ask(
    stage,
    { question: "Which store for rate limits?", options: ["Redis", "Memcached", "Memory"], timeout: "11h" },
    { name: "limits" },
  );
  const frozen = { question: "JWT tokens or session cookies?", options: ["JWT", "Cookies"], allow_text: false };
  await ask(stage, { ...frozen, timeout: "23h" }, { name: "auth", externalId: "tm-abc" });
  await ask(
    stage,
    { question: "Drop the legacy users_v1 table?", options: ["Drop it", "Leave it"], risk: "high", timeout: "1h" },
    { name: "cleanup" },
  );
}

/** Ticks rows by what they ask, and waits until the bar is there for all of them. */
export async function tick(page: Page, ...titles: string[]): Promise<void> {
  for (const title of titles) await page.check(`#list li:has-text("${title}") input`);
  await page.waitForSelector(`#selected[data-n="${titles.length}"]`);
}

/** Rows that are ticked in the inbox, and what becomes of them. */
export const BATCH_BAR_STATES: readonly State[] = [
  {
    name: "batch-bar",
    open: async (page, stage) => {
      await (
        await stage.engine()
      ).putTemplate(
        { name: "prefer-redis", choose: ["Redis"], text: "As everywhere." },
        { scope: "human", id: "lena", channel: "web", strength: "person" },
      );
      await fill(stage);
      await page.goto(`${stage.url}/`);
      await tick(page, "for the cache?", "job queue", "rate limits");
      await page.check(".pill:has-text('Redis') input >> nth=0");
    },
  },
  {
    name: "batch-bar-differ",
    open: async (page, stage) => {
      await fill(stage);
      await page.goto(`${stage.url}/`);
      await tick(page, "for the cache?", "session cookies");
    },
  },
  {
    name: "batch-bar-done",
    open: async (page, stage) => {
      await fill(stage);
      await page.goto(`${stage.url}/`);
      await tick(page, "for the cache?", "session cookies");
      await page.fill("#batch-content [name=said]", "Redis");
      await page.click("#batch-content button.p");
      await page.waitForSelector("#batch-content[data-done]");
    },
  },
  {
    name: "batch-same",
    open: async (page, stage) => {
      await fill(stage);
      await page.goto(`${stage.url}/`);
      await page.click("#list li:has-text('for the cache?') .row");
      await page.waitForSelector("input[name=batch]");
    },
  },
  {
    name: "palette",
    open: async (page, stage) => {
      await fill(stage);
      await page.goto(`${stage.url}/`);
      await page.keyboard.press("Control+k");
      await page.keyboard.type("re");
    },
  },
];
