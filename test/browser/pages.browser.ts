import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import type { Run } from "../../src/core/run/run.ts";
import { askingRun, missingRun, startedRun, storedOnly } from "./page-states.ts";
import { LENA, ask } from "./states.ts";
import { useStage } from "./use-stage.ts";

const stage = useStage();

async function statusOf(run: Run): Promise<string | undefined> {
  return (await (await stage.engine()).findRun(run.id))?.status;
}

test("the question of a run stands above its log on load, is answered there, and is gone without a reload", async () => {
  const run = await askingRun(stage, "fruit");
  const page = await stage.person("mika");
  await page.goto(`${stage.url}/r/${run.number}`);
  expect(await page.locator("#asks h2").innerText()).toBe("Apple or pear?");
  expect(await page.locator("#log").innerText()).toMatch(/Looking at basket 6 of 6[^]*asks: Apple or pear\?/);
  expect(await page.locator("#log").innerText()).not.toContain("ASK_HUMAN");
  const [box, log] = [await page.locator("#asks").boundingBox(), await page.locator("#log").boundingBox()];
  expect(box!.y).toBeLessThan(log!.y);
  await page.reload();
  expect(await page.locator("#asks #answer").count()).toBe(1);
  await page.evaluate("window.isSame = true");
  await page.click("label:has-text('Pear')");
  expect(await page.locator("#asks button.p").innerText()).toContain("Answer “Pear” and resume");
  await page.click("#asks button.p");
  await page.waitForSelector("#asks .box", { state: "detached", timeout: 30_000 });
  await page.waitForSelector("#head >> text=complete", { timeout: 30_000 });
  await page.waitForSelector("#log >> text=Thank you.", { timeout: 15_000 });
  expect(await page.evaluate("window.isSame")).toBe(true);
  expect(page.url()).toBe(`${stage.url}/r/${run.id}`);
  expect(await page.locator("aside").innerText()).toContain("answer from mika accepted: “Pear”");
});

test("a question comes to the page of a run by itself, and goes when somebody else answers; what was written is kept", async () => {
  const run = await startedRun(stage, { name: "live", giveBack: "poll" });
  const page = await stage.person("mika");
  await page.goto(`${stage.url}/r/${run.id}`);
  await page.waitForSelector("#live:not([hidden])");
  expect(await page.locator("#asks .box").count()).toBe(0);
  const asked = await ask(stage, { question: "Which cache?", options: ["Redis", "Memcached"] }, undefined, run.id);
  await page.waitForSelector("#asks h2:has-text('Which cache?')");
  expect(await page.locator("#head .badge").innerText()).toContain("Waiting for Input");
  await page.fill("#note", "Redis, because of pub/sub");
  await (await stage.engine()).answer(asked.id, AnswerInput.parse({ answer: "Memcached" }), LENA);
  await page.waitForSelector("#asks .box", { state: "detached" });
  await page.waitForSelector("#lost:not([hidden])");
  expect(await page.inputValue("#kept")).toBe("Redis, because of pub/sub");
});

test("what an agent prints is added to its log as it comes", async () => {
  const gate = join(stage.home, "gate");
  const script = `echo begin; i=0; while [ ! -e "${gate}" ] && [ $i -lt 600 ]; do i=$((i+1)); sleep 0.1; done; cat "${gate}"; echo end`;
  await stage.type("run", "--name", "slow", "--", "sh", "-c", script);
  const page = await stage.person("mika");
  await stage.until("it runs", async () => {
    const [run] = (await (await stage.engine()).lookUp({ by: "name", text: "slow" }, 1)).runs;
    return run?.status === "running" ? run : undefined;
  });
  await page.goto(`${stage.url}/r/slow`);
  await page.waitForSelector("#log >> text=begin");
  expect(existsSync(gate)).toBe(false);
  appendFileSync(gate, "<b>now</b>\n");
  await page.waitForSelector("#log >> text=<b>now</b>", { timeout: 20_000 });
  await page.waitForSelector("#head >> text=complete", { timeout: 20_000 });
  expect(await page.locator("#log b").count()).toBe(0);
});

test("a run whose answer was only stored is resumed by a button on the list", async () => {
  const run = await storedOnly(stage);
  const page = await stage.person("mika");
  await page.goto(`${stage.url}/runs?state=waiting`);
  const row = `[data-run="${run.id}"]`;
  expect(await page.locator(`${row} .badge`).innerText()).toBe("Answered, not resumed");
  await page.click(`${row} button:has-text("Resume")`);
  await page.waitForURL(`${stage.url}/r/${run.id}`);
  expect(await statusOf(run)).toBe("resuming");
});

test("how often a run was resumed, and why that failed, is told as it happens", async () => {
  const run = await missingRun(stage);
  const page = await stage.person("mika");
  await page.goto(`${stage.url}/r/${run.id}`);
  await page.waitForSelector("#resumes li.failed >> nth=1", { timeout: 20_000 });
  const tries = await page.locator("#resumes li").allInnerTexts();
  expect(tries[0]).toMatch(/failed: .*spawn[^]*start 2, claimed once · w_/);
  expect(tries[0]).toMatch(/Next attempt (immediately|after)/);
  expect(tries[1]).toContain("start 3");
  expect(await page.innerText("#head .badge")).toMatch(/Resume failed \d times/);
});

test("the list of runs says by itself who waits, and cancels a run after a second step", async () => {
  const page = await stage.person("mika");
  await page.goto(`${stage.url}/runs`);
  await page.waitForSelector("#live:not([hidden])");
  const run = await startedRun(stage, { name: "watched", giveBack: "poll" });
  const row = `[data-run="${run.id}"]`;
  await page.waitForSelector(row);
  await ask(stage, { question: "Which one?" }, undefined, run.id);
  await page.waitForSelector(`${row} .badge:has-text("Waiting for Input")`);
  await page.click(`${row} .ends > summary`);
  expect(await statusOf(run)).toBe("running");
  await page.click(`${row} .ends button`);
  await page.waitForURL(`${stage.url}/r/${run.id}`);
  expect(await statusOf(run)).toBe("cancelled");
});

test("without script a run is read, answered and followed, a template kept, a token issued", async () => {
  const run = await askingRun(stage, "plain");
  const page = await stage.person("mika", { javaScriptEnabled: false });
  await page.goto(`${stage.url}/runs?state=waiting`);
  await page.click(`[data-run="${run.id}"] a.q`);
  expect(await page.locator("#log").innerText()).toContain("Looking at basket 6 of 6");
  await page.click("label:has-text('Apple')");
  await page.click("#asks button.p");
  expect(page.url()).toBe(`${stage.url}/r/${run.id}`);
  expect(await page.locator("aside").innerText()).toContain("mika answered (web)");
  await page.goto(`${stage.url}/templates`);
  await page.fill("#name", "apples");
  await page.fill("#choose", "Apple");
  await page.click("#form button.p");
  expect(await page.locator(".rows").innerText()).toContain("apples chooses Apple");
  await page.goto(`${stage.url}/settings/tokens`);
  await page.fill("#subject", "ci");
  await page.click("main .filters button");
  expect(await page.locator("#shown-once").innerText()).toMatch(/^askd_a_/);
  await page.goto(`${stage.url}/activity?person=mika`);
  expect(await page.locator(".trail").innerText()).toContain("mika answered (web)");
});

test("a theme and keys are changed, and act at once", async () => {
  const page = await stage.person("mika", { colorScheme: "light" });
  await stage.type("ask", "Which?", "-o", "A", "-o", "B");
  await page.goto(`${stage.url}/settings`);
  const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
  const light = await background();
  await page.selectOption("#theme", "dark");
  await page.click("main .fold summary");
  await page.fill("[name='key.n']", "q");
  await page.click("main button.p");
  await page.waitForSelector("html[data-theme=dark]");
  expect(await background()).not.toBe(light);
  await page.goto(`${stage.url}/`);
  await page.keyboard.press("n");
  expect(await page.evaluate("document.activeElement.id")).not.toBe("note");
  await page.keyboard.press("q");
  expect(await page.evaluate("document.activeElement.id")).toBe("note");
});

test("an admin lists people and revokes a session; who is signed in with it is out", async () => {
  const [admin, lena] = [await stage.admin("root"), await stage.person("lena")];
  await admin.goto(`${stage.url}/settings/people`);
  await admin.fill("#new-id", "lena");
  await admin.fill("#new-groups", "platform");
  await admin.click("#form button.p");
  await admin.waitForSelector(".rows >> text=@platform");
  await admin.goto(`${stage.url}/settings/tokens`);
  const row = "section:has(h2:text('Sessions')) li:has-text('lena') >> nth=0";
  await admin.click(`${row} >> summary`);
  await Promise.all([admin.waitForURL("**/settings/tokens"), admin.click(`${row} >> button`)]);
  await lena.goto(`${stage.url}/runs`);
  expect(new URL(lena.url()).pathname).toBe("/login");
  expect(await lena.locator("main").innerText()).toContain("askd login");
});

test("nothing was run or loaded that the policy of the pages forbids", () => {
  expect(stage.violations).toEqual([]);
});

test("the line that is read stays where it is while the agent prints, and the end is followed again", async () => {
  const [gate, end] = [join(stage.home, "gate-log"), join(stage.home, "gate-end")];
  const wait = (file: string) => `i=0; while [ ! -e "${file}" ] && [ $i -lt 600 ]; do i=$((i+1)); sleep 0.1; done`;
  const script = `seq -f "early %g" 400; ${wait(gate)}; seq -f "late %g" 2000; ${wait(end)}; echo done`;
  await stage.type("run", "--name", "chatty", "--", "sh", "-c", script);
  const page = await stage.person("mika");
  await page.goto(`${stage.url}/r/chatty`);
  await page.waitForSelector("#log >> text=early 400", { timeout: 20_000 });
  const line = page.locator("#log > div:text-is('early 360')");
  await page.evaluate(
    `[...document.querySelectorAll("#log > div")].find((row) => row.textContent === "early 360").scrollIntoView({ block: "start", behavior: "instant" })`,
  );
  await page.waitForTimeout(500);
  const before = (await line.boundingBox())!.y;
  appendFileSync(gate, "");
  await page.waitForSelector("#log >> text=late 1000", { state: "attached", timeout: 20_000 });
  expect(Math.abs((await line.boundingBox())!.y - before)).toBeLessThan(2);
  await page.evaluate(`document.querySelector("#log").scrollTop = 1e9`);
  appendFileSync(end, "");
  await page.waitForSelector("#log > div:text-is('done')", { timeout: 20_000 });
});

test("the page of a run without a question has no question to look at, also after an update", async () => {
  const run = await startedRun(stage, { name: "quiet", giveBack: "poll" });
  const page = await stage.person("mika");
  const posted: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") posted.push(new URL(request.url()).pathname);
  });
  await page.goto(`${stage.url}/r/${run.id}`);
  await page.waitForSelector("#live:not([hidden])");
  await stage.type("ask", "Another?", "-o", "Yes");
  await page.waitForSelector(".top nav >> text=1");
  await page.waitForTimeout(13_000);
  expect(posted.filter((path) => path.includes("//"))).toEqual([]);
});

test("an option is named with its number, its label and whether it is recommended", async () => {
  await stage.type("ask", "Which table?", "-o", "Outbox table (recommended)", "-o", "Queue");
  const page = await stage.person("mika");
  await page.waitForSelector("#answer");
  expect(await page.getByRole("radio", { name: "1 Outbox table, recommended", exact: true }).count()).toBe(1);
  expect(await page.getByRole("radio", { name: "2 Queue", exact: true }).count()).toBe(1);
});
