import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { workedRun } from "./scripted-claude.ts";
import { WebStage } from "./stage.ts";

const stage = new WebStage();
const opened: { page?: Page } = {};
beforeAll(async () => {
  await stage.serve();
  opened.page = await stage.person("mika");
  const run = await workedRun(stage, "add-caching");
  await opened.page.goto(`${stage.url}/q/${run.pendingId!}`);
});
afterAll(() => stage.close());

async function boxOf(selector: string): Promise<{ y: number; height: number }> {
  const box = await opened.page!.locator(selector).boundingBox();
  if (!box) throw new Error(`${selector} is not to be seen`);
  return box;
}

test("on a screen everything that is needed to answer is above the fold, in its order", async () => {
  await opened.page!.setViewportSize({ width: 1280, height: 860 });
  const parts = [
    ".crumb",
    ".card > h1:not(.inbox-title)",
    "#chips",
    ".md >> nth=0",
    ".opt >> nth=0",
    "#note",
    "#answer button.p",
  ];
  const tops: number[] = [];
  for (const part of parts) tops.push((await boxOf(part)).y);
  expect(tops).toEqual(tops.toSorted((one, other) => one - other));
  const button = await boxOf("#answer button.p");
  expect(button.y + button.height).toBeLessThanOrEqual(860);
});

test("on a phone the question, its clock, why it matters and two options stand above the button", async () => {
  await opened.page!.setViewportSize({ width: 390, height: 844 });
  const [second, bar] = [await boxOf(".opt >> nth=1"), await boxOf(".act")];
  expect(second.y + second.height).toBeLessThanOrEqual(bar.y);
  expect(bar.y + bar.height).toBeLessThanOrEqual(844);
});

test("on a phone everything that is pressed is large enough", async () => {
  await opened.page!.setViewportSize({ width: 390, height: 844 });
  const parts = [".to-list", ".opt label >> nth=0", "#answer button.p", ".menu.back > summary", ".menu.more > summary"];
  const small: string[] = [];
  for (const part of parts) if ((await boxOf(part)).height < 44) small.push(part);
  expect(small).toEqual([]);
});
