import { afterEach, beforeEach, expect, test } from "vitest";
import type { QuestionId } from "../../core/id.ts";
import { ADA } from "../../../test/builders.ts";
import { ServedScene } from "../../../test/served.ts";
import { said } from "../../../test/scene.ts";

let at: ServedScene;
let cookie: string;
beforeEach(async () => {
  at = await ServedScene.start();
  cookie = `askd_session=${await at.token()}`;
});
afterEach(() => at.stop());

async function ask(raw: Record<string, unknown> = {}): Promise<QuestionId> {
  return (await at.scene.ask(raw)).question.id;
}

async function open(): Promise<string> {
  const { body } = await at.send("GET", "/batch", { headers: { cookie, accept: "text/html" } });
  return String(body["text"]);
}

async function post(path: string, fields: ReadonlyArray<readonly [string, string]>) {
  const csrf = /name="csrf" value="(\w+)"/.exec(await open())?.[1] ?? "";
  const body = new URLSearchParams([["csrf", csrf], ...fields.map(([name, value]): [string, string] => [name, value])]);
  const headers = { cookie, accept: "text/html", origin: at.url, "content-type": "application/x-www-form-urlencoded" };
  const got = await at.send("POST", path, { body: body.toString(), headers });
  return { status: got.status, html: String(got.body["text"]) };
}

async function state(id: QuestionId): Promise<string> {
  const { question } = await at.scene.engine.read(id);
  return question.status === "pending" && question.settling ? "settling" : question.status;
}

test("the same question of several runs is listed once, and what is dangerous not at all", async () => {
  const [one, two] = [await ask({ question: "Redis or  Memcached?" }), await ask({ question: "redis or memcached" })];
  await ask({ question: "Drop the table?", risk: "high" });
  const html = await open();
  expect(html).toContain(`value="${[one, two].sort().join(" ")}"`);
  expect(html).toContain("2 runs:");
  expect(html.match(/type="checkbox" name="q"/g)).toHaveLength(1);
});

test("nothing is answered before it is confirmed; then each is, or says why not, and nothing is lost", async () => {
  const [one, two, closed, other] = [
    await ask(),
    await ask(),
    await ask(),
    await ask({ options: ["A", "B"], allow_text: false }),
  ];
  const risky = await ask({ question: "Drop the table?", risk: "high" });
  await at.scene.engine.answer(closed, said("1"), ADA);
  const fields = [
    ...[`${one} ${two}`, closed, risky, other].map((value) => ["q", value] as const),
    ...([
      ["said", "Memcached"],
      ["note", "two nodes"],
    ] as const),
  ];
  const checked = await post("/batch/check", fields);
  expect(checked.html).toContain("Answer 2");
  expect(checked.html).toContain("answered by itself");
  expect(await Promise.all([one, two, risky, other].map(state))).toEqual(Array(4).fill("pending"));
  const { html } = await post("/batch", fields);
  expect(html).toContain("2 answered, 3 not");
  expect(html).toContain("two nodes");
  expect(await Promise.all([one, two, risky, other].map(state))).toEqual([
    "settling",
    "settling",
    "pending",
    "pending",
  ]);
  expect((await at.scene.engine.read(closed)).question).toMatchObject({ answer: { by: { id: "ada" } } });
});

test("a canned answer is filled for each", async () => {
  const id = await ask();
  await at.scene.engine.putTemplate({ name: "redis", choose: ["Redis"], text: "As everywhere." }, ADA);
  await post("/batch", [
    ["q", id],
    ["template", "redis"],
  ]);
  expect((await at.scene.engine.read(id)).question).toMatchObject({
    settling: { answer: { note: "As everywhere.", template: "redis" } },
  });
  expect((await post("/batch/check", [["q", id]])).status).toBe(422);
});
