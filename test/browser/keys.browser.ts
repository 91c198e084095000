import { expect, test } from "vitest";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { approvalAsk } from "../../src/core/question/approval.ts";
import { parseAsk } from "../../src/core/question/ask-input.ts";
import { AGENT } from "../builders.ts";
import { ROOMY } from "../scene.ts";
import { useStage } from "./use-stage.ts";

const stage = useStage();

async function askThree() {
  for (const [name, due] of [
    ["First?", "1h"],
    ["Second?", "2h"],
    ["Third?", "3h"],
  ] as const) {
    await stage.type("ask", name, "-o", "Yes", "-o", "No", "--timeout", due);
  }
}

test("after an answer the next row opens, not the first", async () => {
  await askThree();
  const page = await stage.person("mika");
  await page.click("#list .row:has-text('Second?')");
  await page.waitForSelector("main[data-id] h1:has-text('Second?')");
  await page.keyboard.press("1");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector("main[data-id] h1:has-text('Third?')");
  await page.keyboard.press("1");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector("main[data-id] h1:has-text('First?')");
  expect(await page.locator("#list [data-group=waiting] .row").count()).toBe(1);
});

test("j and k open the next and the previous question", async () => {
  await askThree();
  const page = await stage.person("mika");
  await page.waitForSelector("main[data-id] h1:has-text('First?')");
  for (const [key, title] of [
    ["j", "Second?"],
    ["j", "Third?"],
    ["k", "Second?"],
  ] as const) {
    await page.keyboard.press(key);
    await page.waitForSelector(`main[data-id] h1:has-text('${title}')`);
    expect(await page.locator("#list .row[aria-current]").innerText()).toContain(title);
  }
});

test("Ctrl Enter with nothing chosen says so, and sends nothing", async () => {
  await stage.type("ask", "Which?", "-o", "Yes", "-o", "No");
  const page = await stage.person("mika");
  await page.waitForSelector("#answer");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector("#missing:has-text('Nothing was sent: choose an answer first.')");
  expect(await page.locator("main").getAttribute("data-state")).toBe("open");
  await page.keyboard.press("1");
  expect(await page.locator("#missing").innerText()).toBe("");
});

test("an approval is allowed for the rest of the run, or with a changed command", async () => {
  const engine = await stage.engine();
  const run = await engine.createRun({ name: "tests", agent: "claude", host: "here", giveBack: "poll" }, SYSTEM);
  await engine.startRun(run.id, SYSTEM);
  const ask = async (key: string, command: string) => {
    const use = { tool: "Bash", input: { command }, takesChange: true };
    const input = parseAsk({ ...approvalAsk(use), key }, { via: "hook" }, ROOMY, await engine.now());
    return (await engine.ask(input, AGENT, { runId: run.id })).question;
  };
  const first = await ask("one", "npm test");
  const page = await stage.person("mika");
  await page.waitForSelector("#answer");
  await page.click("label:has-text('Allow with a change')");
  const changed = page.locator(".opt:has(textarea) textarea");
  expect(await changed.inputValue()).toBe("npm test");
  await changed.fill("npm test -- --run");
  expect(await page.locator("button.p").innerText()).toContain("npm test -- --run");
  await page.keyboard.press("Control+Enter");
  await expect.poll(async () => (await stage.read(first.id)).status, { timeout: 15_000 }).toBe("answered");
  expect(await stage.read(first.id)).toMatchObject({
    answer: { items: { 1: { values: ["allow-changed"], text: "npm test -- --run" } } },
  });
  await engine.handOver(first.id);
  await engine.given(first.id, "hook");
  const second = await ask("two", "npm test -- b");
  await page.goto(`${stage.url}/q/${second.id}`);
  await page.click("label:has-text('Allow commands that begin with \"npm test\" for the rest of this run')");
  await page.click("button.p");
  await expect.poll(async () => (await stage.read(second.id)).status, { timeout: 15_000 }).toBe("answered");
  await engine.handOver(second.id);
  await engine.given(second.id, "hook");
  const third = await ask("three", "npm test -- c");
  expect(third.status).toBe("answered");
  await page.goto(`${stage.url}/q/${third.id}`);
  expect(await page.locator("#state").innerText()).toContain("allowed for the rest of the run");
});
