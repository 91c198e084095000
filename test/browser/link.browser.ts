import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { linkTo } from "./link-states.ts";
import { WebStage } from "./stage.ts";
import { ask } from "./states.ts";

const stage = new WebStage();
beforeAll(() => stage.serve());
afterAll(() => stage.close());

test("a link answers without a script, and its address is told to nobody", async () => {
  const page = await stage.visitor({ javaScriptEnabled: false });
  const heard: Array<string | undefined> = [];
  const other = createServer((request, response) => {
    if (request.url === "/more") heard.push(request.headers.referer);
    response.end("elsewhere");
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo; // it listens on a port
  const question = await ask(stage, {
    question: "Apple or pear?",
    context: `See [more](http://127.0.0.1:${port}/more).`,
    options: ["Apple", "Pear"],
  });
  const url = await linkTo(stage, question);
  await page.goto(`${url}?choose=Pear`);
  await page.click("text=more");
  await page.goBack();
  expect(heard).toEqual([undefined]);
  expect(await page.innerText("button.p")).toBe("Answer “Pear”");
  await page.click("label:has-text('Something else')");
  expect(await page.innerText("button.p")).toBe("Send your own answer");
  await page.click("label:has-text('Pear')");
  expect((await stage.read(question.id)).status).toBe("pending");
  await page.click("button.p");
  await page.waitForSelector("form[action$='/undo']");
  const answered = await stage.until("it is answered", async () => {
    const now = await stage.read(question.id);
    return now.status === "answered" ? now : undefined;
  });
  expect(answered.answer).toMatchObject({ by: { id: "lena", channel: "link" } });
  await page.reload();
  expect(await page.locator("main").innerText()).toContain("lena chose “Pear”");
  await new Promise((resolve) => other.close(resolve));
});

test("no page does what its own policy forbids", () => {
  expect(stage.violations).toEqual([]);
});
