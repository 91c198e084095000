import { afterEach, describe, expect, test } from "vitest";
import type { QuestionId } from "../src/core/id.ts";
import { HOUR_MS, MINUTE_MS } from "../src/core/instant.ts";
import { SYSTEM } from "../src/core/people/actor.ts";
import { ADA } from "./builders.ts";
import { Board } from "./channels/board-channel.ts";
import { Scene } from "./scene.ts";
import { ServedScene } from "./served.ts";
import { type } from "./typed.ts";

const REACH = [
  { name: "telegram", person: undefined, isPersonal: true },
  { name: "ntfy", person: undefined, isPersonal: false },
];

const stopped: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const stop of stopped.splice(0)) await stop();
});

/** Ada, lena and mika have chats of their own, lena and mika are in ops; ntfy is a shared phone. */
async function aScene() {
  const boards = { telegram: new Board(), ntfy: new Board() };
  const openChannel = (name: string) => Promise.resolve(name === "ntfy" ? boards.ntfy : boards.telegram);
  const scene = new Scene({ rules: { reach: REACH }, openChannel });
  const people = { ada: [], lena: ["ops"], mika: ["ops"] };
  for (const [id, groups] of Object.entries(people))
    await scene.engine.putPerson({ id, groups, telegram: id, version: 0 }, SYSTEM);
  return { scene, boards };
}

async function told(scene: Scene, id: QuestionId) {
  const { deliveries = [] } = (await scene.engine.read(id)).question;
  return deliveries.map(({ channel, person }) => `${channel} ${person ?? "-"}`);
}

async function verify(scene: Scene) {
  expect((await scene.engine.verify()).problems).toEqual([]);
}

describe("each step tells its people in its channels:", () => {
  const steps = [
    { after: "30m", to: ["@ops"], channels: ["telegram"] },
    { after: "10m", channels: ["ntfy"] },
  ];

  test("by the chain of an ask, from step to step", async () => {
    const { scene, boards } = await aScene();
    const { question } = await scene.ask({
      to: ["ada"],
      notify: ["telegram"],
      timeout: "1h",
      on_timeout: { type: "escalate", steps },
    });
    expect(await told(scene, question.id)).toEqual(["telegram ada"]);
    await scene.pass(HOUR_MS);
    expect(await told(scene, question.id)).toEqual(["telegram ada", "telegram lena", "telegram mika"]);
    await scene.pass(MINUTE_MS);
    const texts = [...boards.telegram.messages.values()].map(({ text }) => text);
    expect(texts).toHaveLength(3);
    for (const text of texts) expect(text).toContain("Escalated to ops");
    expect(boards.ntfy.messages.size).toBe(0);
    await scene.pass(30 * MINUTE_MS);
    expect(await told(scene, question.id)).toContain("ntfy -");
    await scene.pass(10 * MINUTE_MS);
    expect((await scene.engine.read(question.id)).question).toMatchObject({ status: "timeout", policy: "fail" });
    await verify(scene);
  });

  test("by a bare escalate with the chain of the settings", async () => {
    const { boards } = await aScene();
    const escalation = { steps: [{ afterMs: HOUR_MS, to: ["ops"], channels: [] }], then: "skip" as const };
    const openChannel = () => Promise.resolve(boards.telegram);
    const scene = new Scene({ rules: { reach: REACH, escalation }, openChannel });
    await scene.engine.putPerson({ id: "lena", groups: ["ops"], telegram: "lena", version: 0 }, SYSTEM);
    await scene.engine.putPerson({ id: "ada", groups: [], telegram: "ada", version: 0 }, SYSTEM);
    const { question } = await scene.ask({ to: ["ada"], timeout: "1h", on_timeout: "escalate" });
    await scene.pass(HOUR_MS);
    expect(await told(scene, question.id)).toEqual(["telegram ada", "ntfy -", "telegram lena"]);
    await scene.pass(HOUR_MS);
    expect((await scene.engine.read(question.id)).question).toMatchObject({ status: "timeout", policy: "skip" });
  });

  test("by timeoutAction {type, notifyChannel, assignTo}: one step as long as the question, then it fails", async () => {
    const { scene, boards } = await aScene();
    const served = await ServedScene.start({}, scene);
    stopped.push(() => served.stop());
    const token = await served.token({ scope: "agent", subject: "claude" });
    const timeoutAction = { type: "escalate", notifyChannel: "telegram", assignTo: "@lena" };
    const { status, body } = await served.send("POST", "/api/v1/questions", {
      token,
      body: { question: "Deploy?", to: ["ada"], timeoutHours: 2, timeoutAction },
    });
    expect(status).toBe(201);
    const id = body.id as QuestionId; // as the reply says
    await scene.pass(2 * HOUR_MS);
    expect((await scene.engine.read(id)).question).toMatchObject({ status: "pending", to: ["lena"], escalated: 1 });
    expect(await told(scene, id)).toContain("telegram lena");
    await scene.pass(0);
    expect([...boards.telegram.messages.values()].at(-1)?.text).toContain("Escalated to lena");
    expect((await type(scene, ["answer", id, "go"], { user: "lena" })).exit).toBe(0);
    const other = await scene.ask({ timeoutHours: 2, timeoutAction });
    await scene.pass(2 * HOUR_MS);
    await scene.pass(2 * HOUR_MS);
    expect((await scene.engine.read(other.question.id)).question).toMatchObject({ status: "timeout", policy: "fail" });
  });

  test("people who were told before are called again if a step or an assignment names them, and only they", async () => {
    const { scene, boards } = await aScene();
    const { question } = await scene.ask({
      timeout: "5m",
      on_timeout: { type: "escalate", steps: [{ after: "4m", to: ["lena"], channels: ["telegram"] }] },
    });
    await scene.pass(0);
    expect(boards.telegram.messages.size).toBe(3);
    await scene.pass(5 * MINUTE_MS);
    await scene.pass(0);
    expect(boards.telegram.reminders).toEqual([expect.stringContaining("Escalated to lena")]);
    await scene.engine.assign(question.id, ["mika"], ADA);
    await scene.pass(0);
    await scene.pass(0);
    expect(boards.telegram.reminders).toHaveLength(2);
    expect(boards.telegram.messages.size).toBe(3);
    await verify(scene);
  });

  test("a shared address is called again by an escalation, in the message that is there", async () => {
    const { scene, boards } = await aScene();
    await scene.ask({
      notify: ["ntfy"],
      to: ["ada"],
      timeout: "5m",
      on_timeout: { type: "escalate", steps: [{ after: "4m", to: ["lena"] }] },
    });
    await scene.pass(0);
    await scene.pass(5 * MINUTE_MS);
    await scene.pass(0);
    expect(boards.ntfy.only.text).toContain("Escalated to lena");
    expect(boards.ntfy.reminders).toHaveLength(1);
  });
});

describe("at the deadline of another policy", () => {
  test("the named person is assigned and told of the outcome in the named channel", async () => {
    const { scene, boards } = await aScene();
    const on_timeout = { type: "fail", notifyChannel: "telegram", assignTo: "@mika" };
    const { question } = await scene.ask({ to: ["ada"], notify: ["ntfy"], timeout: "1h", on_timeout });
    await scene.pass(0);
    await scene.pass(HOUR_MS);
    await scene.pass(0);
    const after = (await scene.engine.read(question.id)).question;
    expect(after).toMatchObject({ status: "timeout", policy: "fail", to: ["mika"] });
    expect(await told(scene, question.id)).toEqual(["telegram ada", "ntfy -", "telegram mika"]);
    const text = [...boards.telegram.messages.values()].at(-1)?.text ?? "";
    expect(text).toContain("Nobody answered in time; the run fails. For mika now.");
    const states = (await scene.engine.listDeliveries(question.id)).map(({ state }) => state);
    expect(states).toEqual(["closed", "closed", "closed"]);
    await verify(scene);
  });

  test("without such fields nobody new is told", async () => {
    const { scene, boards } = await aScene();
    const { question } = await scene.ask({ to: ["ada"], notify: ["telegram"], timeout: "1h", on_timeout: "skip" });
    await scene.pass(0);
    await scene.pass(HOUR_MS);
    await scene.pass(0);
    expect(await told(scene, question.id)).toEqual(["telegram ada"]);
    expect(boards.telegram.messages.size).toBe(1);
  });
});

test.each([
  [
    "an unknown field",
    { type: "escalate", assign: "lena" },
    /there is no field "assign"; write a policy \(wait, proceed, .*\), or like/,
  ],
  ["an unknown policy", { type: "shout", assignTo: "lena" }, /use wait, proceed, skip/],
  ["a step without people and channels", { type: "escalate", steps: [{ after: "1h" }] }, /name people in "to"/],
  [
    "two ways to say who gets it",
    { type: "escalate", assignTo: "lena", steps: [{ after: "1h", to: ["mika"] }] },
    /"assign_to" beside "steps" would never be used/,
  ],
  [
    "somebody to tell when nothing ends",
    { type: "wait", assignTo: "lena" },
    /"assign_to" would never be used: with "wait" the question does not end at the deadline/,
  ],
])("%s is refused with what to write", async (_, on_timeout, said) => {
  const { scene } = await aScene();
  await expect(async () => scene.ask({ on_timeout })).rejects.toThrow(said);
});
