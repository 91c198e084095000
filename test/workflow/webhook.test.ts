import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { SignedHook } from "../../src/core/answer/hook-answer.ts";
import { createApp } from "../../src/server/app.ts";
import { loopbackDoors } from "../../src/server/guard.ts";
import { type StartByWebhook, hooksPart } from "../../src/server/hooks.ts";
import { startByWebhook as start } from "../../src/workflow/run/webhook-trigger.ts";
import { INCIDENT_TRIAGE } from "../../src/workflow/starter/incident-triage.ts";
import { WorkflowStage } from "./stage.ts";

const SECRET = "whsec_aGVsbG8gaGVsbG8gaGVsbG8=";
const HOOK: SignedHook = { name: "alert", readSecret: () => SECRET, isOnBehalf: false, startsWorkflows: true };
const PLAIN = `
name: triage
inputs: { service: { required: true }, count: { type: number, default: 1 } }
triggers:
  - webhook: alert
    condition: trigger.body.status == "firing"
    inputs: { service: "{{ trigger.body.service }}" }
steps:
  - { id: look, tool: shell, input: { argv: [look, "{{ inputs.service }}", "{{ inputs.count }}", "{{ trigger.type }}"] } }
`;
const FIRING = { status: "firing", service: "shop" };

interface Sent {
  id?: string;
  atS?: number;
  secret?: string;
  name?: string;
  text?: string;
}

/** Programs that post to the addresses of a server with workflows. */
function aDoor(stage: WorkflowStage, hooks: readonly SignedHook[] = [HOOK]) {
  const { engine } = stage;
  const startByWebhook: StartByWebhook = (webhook) => start(webhook, { ...engine.inside, host: "here" });
  const onBug = (error: unknown) => void stage.failures.push(error);
  const part = hooksPart({ receive: engine.receiveHook, answers: { engine, hooks, startByWebhook }, onBug });
  const app = createApp({ engine, doors: () => loopbackDoors(1), onBug, anonymousPerMinute: 1e9 }, [part]);
  return async (body: unknown, sent: Sent = {}) => {
    const { id = "msg_1", atS = Date.parse(stage.now) / 1000, secret = SECRET, name = "alert" } = sent;
    const text = sent.text ?? JSON.stringify(body);
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(`${id}.${atS}.${text}`).digest("base64");
    const response = await app.request(`http://127.0.0.1:1/hooks/${name}`, {
      method: "POST",
      body: text,
      headers: {
        host: "127.0.0.1:1",
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(text)),
        "webhook-id": id,
        "webhook-timestamp": String(atS),
        "webhook-signature": `v1,${signature}`,
      },
    });
    return { status: response.status, json: z.record(z.string(), z.unknown()).parse(await response.json()) };
  };
}

describe("a signed request to the address of a webhook", () => {
  test("starts a run of each workflow that waits for it, with inputs of its body", async () => {
    const stage = new WorkflowStage();
    await stage.approveFile(PLAIN);
    await stage.approveFile(PLAIN.replace("name: triage", "name: other"));
    const { status, json } = await aDoor(stage)(FIRING);
    expect(status).toBe(200);
    const runs = await stage.runs();
    expect(runs.map(({ name }) => name).toSorted()).toEqual(["other", "triage"]);
    expect(json).toEqual({
      success: true,
      runs: runs.map(({ id, number, name }) => ({ run_id: id, number, workflow: name })),
      refused: [],
    });
    await stage.doDue();
    expect(stage.ran).toEqual([
      ["look", "shop", "1", "webhook"],
      ["look", "shop", "1", "webhook"],
    ]);
    expect((await stage.engine.verify()).problems).toEqual([]);
  });

  test("counts once by its id, however often and at how many times at once it comes", async () => {
    const stage = new WorkflowStage();
    await stage.approveFile(PLAIN);
    const post = aDoor(stage);
    const replies = await Promise.all([post(FIRING), post(FIRING), post(FIRING)]);
    stage.skip(60_000);
    replies.push(await post(FIRING));
    const [run, ...others] = await stage.runs();
    expect(others).toEqual([]);
    for (const { status, json } of replies) {
      expect({ status, json }).toMatchObject({ status: 200, json: { runs: [{ run_id: run?.id }] } });
    }
    expect(await post(FIRING, { id: "msg_2" })).toMatchObject({ status: 200 });
    expect(await stage.runs()).toHaveLength(2);
  });

  test("starts nothing if its condition is false, and says that no workflow waits for it", async () => {
    const stage = new WorkflowStage();
    await stage.approveFile(PLAIN);
    expect(await aDoor(stage)({ ...FIRING, status: "resolved" })).toEqual({
      status: 200,
      json: { success: true, runs: [], refused: [] },
    });
    expect(await stage.runs()).toEqual([]);
  });

  test.each<[string, unknown, RegExp]>([
    ["an input is missing", { status: "firing" }, /needs the input service/],
    ["an input has the wrong type", { status: "firing", service: ["a"] }, /service must be a string/],
  ])("starts nothing if %s, and says so", async (_what, body, why) => {
    const stage = new WorkflowStage();
    await stage.approveFile(PLAIN);
    const { status, json } = await aDoor(stage)(body);
    expect({ status, json }).toMatchObject({
      status: 200,
      json: { runs: [], refused: [{ workflow: "triage", code: "bad_input", detail: expect.stringMatching(why) }] },
    });
    expect(await stage.runs()).toEqual([]);
  });

  test("takes nothing from the body but what the inputs of its trigger name", async () => {
    const stage = new WorkflowStage();
    await stage.approveFile(
      PLAIN.replace('service: "{{ trigger.body.service }}"', "service: \"{{ trigger.body.inputs.none || 'none' }}\""),
    );
    await aDoor(stage)({ ...FIRING, count: 99, inputs: { count: 99 } });
    await stage.doDue();
    expect(stage.ran).toEqual([["look", "none", "1", "webhook"]]);
  });

  test("starts nothing of a file that was changed since it was approved", async () => {
    const stage = new WorkflowStage();
    const { file } = await stage.approveFile(PLAIN);
    writeFileSync(file, PLAIN.replace("[look,", "[other,"));
    expect((await aDoor(stage)(FIRING)).json).toMatchObject({ runs: [], refused: [{ code: "not_permitted" }] });
    expect(await stage.runs()).toEqual([]);
  });
});

describe("a request that is not signed as it should be", () => {
  test.each<[string, Sent, number]>([
    ["with another secret", { secret: "whsec_b3RoZXIgb3RoZXIgb3RoZXI=" }, 401],
    ["too old", { atS: Date.parse("2026-01-01T11:54:00.000Z") / 1000 }, 401],
    ["from the future", { atS: Date.parse("2026-01-01T12:06:00.000Z") / 1000 }, 401],
    ["with a body that is no JSON", { text: "{" }, 400],
    ["to a name that no settings have", { name: "elsewhere" }, 404],
  ])("%s starts nothing", async (_what, sent, status) => {
    const stage = new WorkflowStage();
    await stage.approveFile(PLAIN);
    expect(await aDoor(stage)(FIRING, sent)).toMatchObject({ status });
    expect(await stage.runs()).toEqual([]);
  });

  test("is refused while its hook has no secret, and a hook that posts answers starts no workflow", async () => {
    const stage = new WorkflowStage();
    await stage.approveFile(PLAIN);
    expect(await aDoor(stage, [{ ...HOOK, readSecret: () => undefined }])(FIRING)).toMatchObject({ status: 404 });
    expect(await aDoor(stage, [{ ...HOOK, startsWorkflows: false }])(FIRING)).toMatchObject({ status: 400 });
    expect(await stage.runs()).toEqual([]);
  });

  test("a hook that starts workflows answers no question", async () => {
    const stage = new WorkflowStage();
    const run = await stage.start(
      "name: ask\nsteps: [{ id: a, tool: post_question, input: { question: A? }, suspend: true }]",
    );
    await aDoor(stage)({ question_id: run.pendingId, answer: "yes" });
    expect(await stage.run(run.id)).toMatchObject({ status: "awaiting_input" });
  });
});

test("incident triage starts by its alert, once for each service, and asks what to do", async () => {
  const stage = new WorkflowStage();
  await stage.approveFile(INCIDENT_TRIAGE);
  const post = aDoor(stage);
  const alert = { status: "firing", service: "shop", message: "Error rate above 5 %" };
  const { json } = await post(alert);
  expect(json).toMatchObject({ runs: [{ workflow: "incident-triage" }] });
  await stage.doDue();
  expect(await post(alert, { id: "msg_2" })).toMatchObject({
    json: { runs: [], refused: [{ code: "already_pending" }] },
  });
  expect((await post({ ...alert, service: "mail" }, { id: "msg_3" })).json).toMatchObject({ runs: [{}], refused: [] });
  expect(stage.agents[0]?.prompt).toContain("Error rate above 5 %");
});
