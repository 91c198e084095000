import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import { tick } from "./batch-bar-states.ts";
import { LENA, ask } from "./states.ts";
import { useStage } from "./use-stage.ts";

// Longer than the five seconds that people have: a busy machine must not decide what is tested.
const stage = useStage('[answers]\nundo_window = { web = "2m" }\n');

const YES = { options: ["Yes", "No"] };

async function askAll(...titles: string[]): Promise<string[]> {
  const asked = [];
  for (const [index, question] of titles.entries()) {
    asked.push(await ask(stage, { ...YES, question, timeout: `${index + 1}h` }, { name: question }));
  }
  return asked.map(({ id }) => id);
}

async function stateOf(id: string): Promise<string> {
  const question = await stage.read(id);
  return question.status === "pending" && question.settling ? "settling" : question.status;
}

function ticked(page: Page): Promise<string[]> {
  return page.locator("#list li:has(:checked) .q").allInnerTexts();
}

test("rows are ticked by keys, get one answer, and all of it is taken back by one key", async () => {
  const ids = await askAll("One?", "Two?", "Three?", "Four?");
  const page = await stage.person("mika");
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+J");
  await page.keyboard.press("Shift+J");
  await page.waitForSelector("#selected:has-text('3 selected')");
  expect(await ticked(page)).toEqual(["One?", "Two?", "Three?"]);
  await page.keyboard.press("Shift+K");
  await page.waitForSelector("#selected:has-text('2 selected')");
  expect(await ticked(page)).toEqual(["One?", "Two?"]);
  expect(await page.locator("#batch-content button.p").innerText()).toContain("Choose an answer first");
  await page.keyboard.press("2");
  expect(await page.locator("#batch-content button.p").innerText()).toContain("Answer 2 with “No”");
  expect(await Promise.all(ids.map(stateOf))).toEqual(Array(4).fill("pending"));
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector("#batch-content[data-done]:has-text('2 answered')");
  expect(await Promise.all(ids.map(stateOf))).toEqual(["settling", "settling", "pending", "pending"]);
  await page.waitForSelector("[data-group=waiting] h2:has-text('(2)')");
  await page.keyboard.press("u");
  await page.waitForSelector("#batch-content .banner:has-text('2 undone')");
  expect(await Promise.all(ids.map(stateOf))).toEqual(Array(4).fill("pending"));
  await page.waitForSelector("#list li:has-text('One?') :checked");
  expect(await page.locator(".pill :checked").getAttribute("value")).toBe("o:No");
});

test("rows that share no option ask for words", async () => {
  await ask(stage, { question: "One?", options: ["Yes", "No"], timeout: "1h" }, { name: "one" });
  await ask(stage, { question: "Two?", options: ["Red", "Blue"], timeout: "2h" }, { name: "two" });
  const page = await stage.person("mika");
  await tick(page, "One?", "Two?");
  const send = page.locator("#batch-content button.p");
  expect(await send.innerText()).toContain("Write an answer first");
  await page.fill("#batch-content [name=said]", "Both");
  expect(await send.innerText()).toContain("Answer 2 with “Both”");
});

test("what is refused is told with why, and stops none of the others", async () => {
  const [one, two] = await askAll("One?", "Two?");
  const only = await ask(stage, { question: "Which?", options: ["Apple", "Pear"], allow_text: false });
  const page = await stage.person("mika");
  await tick(page, "One?", "Two?", "Which?");
  expect(await page.locator("#batch-content").innerText()).toContain("1 of them accepts nothing else");
  await page.keyboard.press("r");
  await page.keyboard.type("Yes");
  await page.keyboard.press("Enter");
  expect(await Promise.all([one!, two!].map(stateOf))).toEqual(["pending", "pending"]);
  await page.click("#batch-content button.p");
  await page.waitForSelector("#batch-content:has-text('2 answered, 1 not')");
  expect(await page.locator("#batch-content").innerText()).toContain("is not one of the options");
  expect(await Promise.all([one!, two!, only.id].map(stateOf))).toEqual(["settling", "settling", "pending"]);
  await page.click("[data-select=close]");
  await page.waitForSelector("#selected:has-text('1 selected')");
});

test("the outcome of a batch stays until it is closed, also when there is nothing left to tick", async () => {
  await askAll("One?", "Two?");
  await ask(stage, { question: "Which?", options: ["Apple", "Pear"], allow_text: false });
  const page = await stage.person("mika");
  await tick(page, "One?", "Two?", "Which?");
  await page.fill("#batch-content [name=said]", "Yes");
  await page.click("#batch-content button.p");
  await page.waitForSelector("#batch-content:has-text('2 answered, 1 not')");
  // The answers cannot be undone any more, and a single question has no box.
  await page.waitForSelector("#list li.gone");
  await page.waitForSelector("#list [name=q]", { state: "detached" });
  expect(await page.locator("#batch-content").innerText()).toContain("is not one of the options");
  await page.click("[data-select=close]");
  await page.waitForSelector("#batch", { state: "hidden" });
});

test("what is ticked stays so while questions come and go, and while others are read", async () => {
  await askAll("One?", "Two?", "Three?");
  const page = await stage.person("mika");
  await tick(page, "One?", "Three?");
  await askAll("Zero?");
  await page.waitForSelector("#list li:has-text('Zero?')");
  expect((await ticked(page)).toSorted()).toEqual(["One?", "Three?"]);
  await page.click("#list li:has-text('Two?') .row");
  await page.waitForSelector("main h1:text-is('Two?')");
  await page.waitForSelector("#selected:has-text('2 selected')");
  expect((await ticked(page)).toSorted()).toEqual(["One?", "Three?"]);
  const { id } = await stage.pending("One?");
  await (await stage.engine()).answer(id, AnswerInput.parse({ answer: "Yes" }), LENA);
  await page.waitForSelector("#selected:has-text('1 selected')");
  expect(await ticked(page)).toEqual(["Three?"]);
});

test("the same question of several runs is one row, and is answered once for all", async () => {
  const ids = await askAll("Same?", "Same?", "Same?", "Other?");
  const page = await stage.person("mika");
  expect(await page.locator("[data-group=waiting] li").count()).toBe(2);
  await tick(page, "Same?");
  expect(await page.locator("#selected").innerText()).toBe("1 selected, 3 runs");
  await page.click("[data-select=none]");
  await page.check("input[name=batch]");
  await page.click("#answer label:has-text('Yes')");
  await page.click("#answer button.p");
  await page.waitForSelector("#batch-content[data-done]:has-text('3 answered')");
  expect(await Promise.all(ids.map(stateOf))).toEqual(["settling", "settling", "settling", "pending"]);
});

test("without script rows are ticked in the inbox and answered on the page for it", async () => {
  const ids = await askAll("One?", "Two?", "Three?");
  const page = await stage.person("mika", { javaScriptEnabled: false });
  await page.check("#list li:has-text('One?') input");
  await page.check("#list li:has-text('Three?') input");
  await page.click("#list .several button");
  expect(await page.locator("input[name=q]:checked").count()).toBe(2);
  await page.click(".pill:has-text('No')");
  await page.click("main button.p");
  await page.click("main button.p");
  expect(await page.locator("h1").innerText()).toBe("2 answered");
  expect(await Promise.all(ids.map(stateOf))).toEqual(["settling", "pending", "settling"]);
  await page.click("text=Undo all");
  expect(await page.locator("input[name=q]:checked").count()).toBe(2);
  expect(await Promise.all(ids.map(stateOf))).toEqual(Array(3).fill("pending"));
});

test("nothing was run or loaded that the policy of the pages forbids", () => {
  expect(stage.violations).toEqual([]);
});
