import type { Page } from "playwright-core";
import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import type { WebStage } from "./stage.ts";
import { LENA, type State, ask } from "./states.ts";

const PEOPLE = ["lena", "mika", "noor"];

/** Ticks the first three and goes as far as what would happen. */
async function opensCheck(page: Page, stage: WebStage): Promise<void> {
  await page.goto(`${stage.url}/batch`);
  for (const box of (await page.locator("input[name=q]").all()).slice(0, 3)) await box.check();
  await page.fill("main [name=said]", "20 connections");
  await page.click("main button.p");
  await page.waitForSelector("form[action='/batch']");
}

/** Several questions at once: to tick, and to confirm. */
export const BATCH_STATES: readonly State[] = [
  { name: "batch", isTall: true, open: (page, stage) => page.goto(`${stage.url}/batch`) },
  {
    name: "batch-refused",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/batch`);
      await page.click("main button.p");
      await page.waitForSelector("main [role=alert]");
    },
  },
  {
    name: "batch-check",
    open: opensCheck,
  },
  {
    name: "batch-done",
    // Each who looks answers others, so that all of them see what it is like when it went well.
    open: async (page, stage) => {
      await opensCheck(page, stage);
      await page.click("main button.p");
      await page.waitForSelector("form[action='/batch']", { state: "detached" });
    },
  },
];

/** The page with numbers: with little, and with questions that pile up. */
export const INSIGHTS_STATES: readonly State[] = [
  {
    name: "insights",
    isTall: true,
    open: async (page, stage) => {
      const engine = await stage.engine();
      for (const [index, person] of [...PEOPLE, ...PEOPLE].entries()) {
        const agent = ["claude", "codex"][index % 2] ?? "";
        const asked = await ask(stage, { question: `Cache number ${index}?`, options: ["Redis", "None"] }, { agent });
        const channel = index % 2 === 0 ? "slack" : "web";
        await engine.answer(asked.id, AnswerInput.parse({ answer: "1" }), { ...LENA, id: person, channel });
      }
      for (let index = 0; index < 12; index += 1) await ask(stage, { question: `Which limit for pool ${index}?` });
      await page.goto(`${stage.url}/insights?for=24h`);
      await page.click(".charts > details > summary");
      await page.click("section details > summary");
    },
  },
];
