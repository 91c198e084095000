import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findAxeProblems, findLayoutProblems } from "./inspect.ts";
import { WebStage } from "./stage.ts";

const stage = new WebStage();
const opened: { page?: Page } = {};
beforeAll(async () => {
  opened.page = await stage.visitor({ viewport: { width: 390, height: 600 } });
});
afterAll(() => stage.close());

async function problemsOf(html: string): Promise<string[]> {
  await opened.page!.setContent(`<!doctype html><html lang="en"><body style="margin: 8px">${html}</body></html>`);
  return findLayoutProblems(opened.page!);
}

const LONG = "averylongwordthatnothingbreaks".repeat(3);

describe("what looks wrong is found", () => {
  test.each<[string, string, string]>([
    ["a box that is wider than the window", `<div style="width: 500px">wide</div>`, "the page is 508 wide"],
    ["a word that leaves the window", `<p>${LONG}</p>`, "runs out of p"],
    ["a word that leaves its box", `<div style="width: 120px"><p>${LONG.slice(0, 40)}</p></div>`, "runs out of p"],
    ["a table that is too wide", `<table><tr><td>${LONG}<td>${LONG}</table>`, "outside the window"],
    [
      "text that is cut at the side without dots",
      `<div style="width: 90px; overflow: hidden; white-space: nowrap">one two three four five</div>`,
      "cut off at the side by div",
    ],
    [
      "text that is cut by a box further out",
      `<div style="width: 90px; overflow: clip"><span style="white-space: nowrap">one two three four five</span></div>`,
      "cut off at the side by div",
    ],
    [
      "a line that is cut below",
      `<p style="height: 14px; overflow: hidden">one<br>two</p>`,
      "cut off above or below by p",
    ],
    [
      "a button that is too small for its words",
      `<button style="width: 40px; white-space: nowrap">Answer it</button>`,
      "runs out of button",
    ],
    [
      "a word that is torn on a button",
      `<button style="width: 24px; overflow-wrap: anywhere">Copy</button>`,
      "a word is torn in button",
    ],
    [
      "a choice that has no room",
      `<select style="width: 80px"><option>Redis or Memcached</select>`,
      "no room in select",
    ],
    ["a hint that has no room", `<input style="width: 60px" placeholder="number, name or ID">`, "no room in input"],
    ["a field that leaves the window", `<input style="width: 420px">`, "outside the window: input"],
  ])("%s", async (_what, html, problem) => {
    expect((await problemsOf(html)).join("\n")).toContain(problem);
  });
});

describe("what is meant is let be", () => {
  test.each<[string, string]>([
    ["text that wraps", `<p>${"one two three ".repeat(30)}</p>`],
    [
      "dots",
      `<p style="width: 90px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap">one two three four</p>`,
    ],
    ["what can be scrolled", `<pre style="overflow: auto" tabindex="0">${LONG} ${LONG}</pre>`],
    [
      "what is for those who listen",
      `<p class="unseen" style="position: absolute; width: 1px; overflow: hidden">one two</p>`,
    ],
    ["what is hidden", `<p hidden>${LONG}</p>`],
  ])("%s", async (_what, html) => {
    expect(await problemsOf(html)).toEqual([]);
  });
});

test("too little contrast is found", async () => {
  await problemsOf(`<main><h1>askd</h1><p style="color: #aaa; background: #fff">hardly to be read</p></main>`);
  expect((await findAxeProblems(opened.page!)).join("\n")).toContain("color-contrast");
});
