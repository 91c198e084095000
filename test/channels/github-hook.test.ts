import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { validate } from "@octokit/graphql-schema";
import { expect, onTestFinished, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { EDITOR_QUERY } from "../../src/channels/github/editor.ts";
import { isSigned } from "../../src/channels/github/hook.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import { hooksPart } from "../../src/server/hooks.ts";
import { forgeDeliveries } from "../proof/reach/forged-deliveries.ts";
import { Scene } from "../scene.ts";
import { ServedScene } from "../served.ts";
import { GithubServer, HOOK_SECRET } from "./github-server.ts";
import { REPO } from "./github-view.ts";

const WAIT = { timeout: 10_000 };
interface ExampleEvent {
  action?: string;
  repository?: { full_name?: string };
  sender?: { login: string };
}
const EXAMPLES = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve("@octokit/webhooks-examples/api.github.com/index.json"), "utf8"),
) as Array<{ name: string; examples: ExampleEvent[] }>;
const SECRET = `whsec_${Buffer.from("a secret of twenty-four b").toString("base64")}`;

async function aStage({ pollMs = 3_600_000 } = {}) {
  const service = await GithubServer.start({ pollMs });
  const scene = new Scene({ rules: { reach: [service.reach] }, openChannel: () => Promise.resolve(service.channel) });
  const engine = scene.engine as LocalEngine; // the engine of a scene
  const hooks = [
    { name: "pager", readSecret: () => SECRET, isOnBehalf: true },
    { name: "off", readSecret: () => undefined, isOnBehalf: false },
  ];
  const part = hooksPart({
    receive: engine.receiveHook,
    answers: { engine, hooks },
    onBug: (error) => expect(error).toBeUndefined(),
  });
  const served = await ServedScene.start({ parts: [part] }, scene);
  service.hookUrl = `${served.url}/hooks/github`;
  onTestFinished(async () => {
    await served.stop();
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  const ask = async (raw: Record<string, unknown> = {}) => {
    const { question } = await scene.ask({ issue: { repo: REPO, number: 123 }, ...raw });
    await scene.pass(0);
    await expect.poll(async () => (await engine.listDeliveries(question.id))[0]?.state, WAIT).toBe("sent");
    return question.id;
  };
  const answer = async (id: Awaited<ReturnType<typeof ask>>) => {
    const { question } = await engine.read(id);
    return question.status === "answered" ? question.answer : undefined;
  };
  /** Posts an answer as any program does that follows Standard Webhooks. */
  const post = async (name: string, body: object, { id = "msg_1", at = scene.now, secret = SECRET } = {}) => {
    const text = JSON.stringify(body);
    const signature = new Webhook(secret).sign(id, new Date(at), text);
    const seconds = String(Math.floor(Date.parse(at) / 1000));
    const headers = { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": signature };
    const reply = await fetch(`${served.url}/hooks/${name}`, {
      method: "POST",
      body: text,
      headers: { "content-type": "application/json", ...headers },
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
  return { service, scene, engine, served, ask, answer, post };
}

test("GitHub's own example of a signature is right", () => {
  const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  expect(isSigned("Hello, World!", signature, "It's a Secret to Everybody")).toBe(true);
  expect(isSigned("Hello, World?", signature, "It's a Secret to Everybody")).toBe(false);
});

test("a signed event answers at once, a comment and a ticked box; the sender of the event is who ticked it", async () => {
  const { service, ask, answer } = await aStage();
  const first = await ask();
  await service.say("B\nfaster", "lena");
  await expect.poll(() => answer(first), WAIT).toMatchObject({ by: { id: "@lena" }, note: "faster" });
  const second = await ask({ question: "Which port?", options: ["80", "443"] });
  await service.tick(service.comments.at(-1)!, "- [ ] **A) 80**", "mika");
  await expect
    .poll(() => answer(second), WAIT)
    .toMatchObject({ by: { id: "@mika" }, items: { "1": { values: ["80"] } } });
});

test("a comment that somebody else edited is no answer, whatever webhook told of it; the author's own edit is one", async () => {
  const { service, ask, answer } = await aStage();
  const id = await ask({ risk: "high" });
  const comment = service.add("It depends", "mika");
  await service.edit(comment, "A", "lena");
  expect(await answer(id)).toBeUndefined();
  await service.edit(comment, "B", "mika");
  expect(await answer(id)).toMatchObject({ by: { id: "@mika" }, items: { "1": { values: ["Memcached"] } } });
});

test("an edit by somebody else in the second of the comment is no answer either, by webhook and by looking", async () => {
  const { service, scene, engine, ask, answer } = await aStage({ pollMs: 20 });
  await scene.engine.putPerson({ id: "lena", version: 0, groups: [], github: "Lena" }, SYSTEM);
  const id = await ask({ risk: "high", allow_text: false, approvals: { need: 1, from: ["lena"] } });
  await service.say("looking", "lena");
  const asked = service.limits.of(/graphql/).length;
  expect(asked).toBe(0); // a signed event has the author's own words
  await service.editAtOnce(
    service.comments.findLast(({ login }) => login === "lena")!,
    "A",
    "mika",
  );
  void engine.work();
  await expect.poll(() => service.responses(), WAIT).toContainEqual(expect.stringContaining("somebody else edited it"));
  expect(await answer(id)).toBeUndefined();
});

test("a tick that was there already does not belong to the next person who edits the comment", async () => {
  const { service, scene, ask, answer } = await aStage();
  await scene.engine.putPerson({ id: "lena", version: 0, groups: [], github: "Lena" }, SYSTEM);
  const id = await ask({ approvals: { need: 1, from: ["lena"] } });
  const [comment] = service.comments;
  await service.tick(comment!, "- [ ] **A) Redis**", "mika");
  await service.edit(comment!, comment!.body.replace("needs your input", "needs input"), "lena");
  expect(await answer(id)).toBeUndefined();
  await service.tick(comment!, "- [ ] **B) Memcached**", "lena");
  expect(await answer(id)).toMatchObject({ by: { id: "lena" }, items: { "1": { values: ["Memcached"] } } });
});

test("the same comment by webhook and by looking is one answer, however often it comes", async () => {
  const { service, scene, engine, ask, answer } = await aStage({ pollMs: 20 });
  void engine.work();
  const id = await ask();
  await service.say("A");
  await service.repeat();
  await expect.poll(() => answer(id), WAIT).toMatchObject({ by: { id: "@mika" } });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { run } = await scene.engine.read(id);
  const types = (await engine.readChain(run.id)).map(({ event }) => event.type);
  expect(types.filter((type) => type === "question.answered")).toHaveLength(1);
  expect(types).not.toContain("question.late_reply");
  expect(service.responses()).toEqual([]);
});

test("a comment whose webhook was lost is found by looking", async () => {
  const { service, engine, ask, answer } = await aStage({ pollMs: 20 });
  service.hookUrl = undefined;
  const id = await ask();
  await service.say("A");
  void engine.work();
  await expect.poll(() => answer(id), WAIT).toMatchObject({ by: { id: "@mika" } });
});

test("a reply whose sender's rights cannot be asked for is refused for now, and counts once they can", async () => {
  const { service, engine, ask, answer } = await aStage({ pollMs: 20 });
  const id = await ask();
  const { hookUrl = "" } = service;
  service.hookUrl = undefined;
  service.hidesRights = true;
  const comment = service.add("A");
  const { body, headers } = service.signedEvent("created", comment, "mika");
  const response = await fetch(hookUrl, { method: "POST", body, headers });
  expect({ status: response.status, retryAfter: response.headers.get("retry-after") }).toEqual({
    status: 503,
    retryAfter: "30",
  });
  expect(await answer(id)).toBeUndefined();
  void engine.work();
  service.hidesRights = false;
  await expect.poll(() => answer(id), WAIT).toMatchObject({ by: { id: "@mika" } });
});

test("an answer of any program is taken with its signature, once, and refused with the reason", async () => {
  const { scene, ask, answer, post } = await aStage();
  const id = await ask({ allow_text: false });
  expect(await post("pager", { question_id: id, answer: "C" })).toMatchObject({
    status: 422,
    body: { code: "no_such_option" },
  });
  expect(await post("pager", { question_id: id })).toMatchObject({ status: 400, body: { code: "bad_input" } });
  const none = "q_00000000000000000000000000";
  expect(await post("pager", { question_id: none, answer: "A" })).toMatchObject({ status: 404 });
  const given = { question_id: id, answer: "B", answered_by: "lena" };
  const taken = { success: true, question_id: id, status: "answered", answered_at: scene.now };
  expect(await post("pager", given, { id: "msg_2" })).toEqual({ status: 200, body: taken });
  expect(await post("pager", given, { id: "msg_2" })).toEqual({ status: 200, body: taken });
  expect(await post("pager", given, { id: "msg_3" })).toMatchObject({ status: 409, body: { code: "not_pending" } });
  expect(await answer(id)).toMatchObject({
    by: { id: "hook:pager", onBehalfOf: "lena", channel: "hook", strength: "bearer" },
  });
});

test("a hook without a secret, or that nobody configured, is not there; a wrong signature is refused", async () => {
  const { served, ask, post } = await aStage();
  const id = await ask();
  const body = { question_id: id, answer: "A" };
  for (const name of ["off", "unknown", "telegram"]) expect(await post(name, body)).toMatchObject({ status: 404 });
  expect(await post("pager", body, { secret: `whsec_${Buffer.from("another").toString("base64")}` })).toMatchObject({
    status: 401,
  });
  expect(await post("pager", body, { at: "2026-01-01T11:54:00.000Z" as never })).toMatchObject({ status: 401 });
  const bare = await fetch(`${served.url}/hooks/github`, {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json" },
  });
  expect(bare.status).toBe(401);
});

test.each([
  "x\ny",
  "x\r\ny",
  "\u001b[31mred",
  "\u202eevil",
  "le\u200bna",
  "le\u2028na",
  "tab\tbed",
  " ",
  "\u0000",
  "\ud800",
  "n".repeat(201),
])("a program cannot say that %j answered", async (name) => {
  const { ask, answer, post } = await aStage();
  const id = await ask();
  expect(await post("pager", { question_id: id, answer: "A", answered_by: name })).toMatchObject({
    status: 400,
    body: { code: "bad_input" },
  });
  expect(await answer(id)).toBeUndefined();
});

test("high risk is not closed by a program", async () => {
  const { ask, answer, post } = await aStage();
  const id = await ask({ risk: "high" });
  expect((await post("pager", { question_id: id, answer: "A" })).status).toBe(403);
  expect(await answer(id)).toBeUndefined();
});

test("no delivery that was altered in any way is accepted", async () => {
  expect(await forgeDeliveries(200)).toEqual({ refused: 200, problems: [] });
});

test("every event of GitHub's published examples is read, and only comments of people are replies", async () => {
  const repos = [...new Set(EXAMPLES.flatMap(({ examples }) => examples.map((each) => each.repository?.full_name)))];
  const service = await GithubServer.start({ repos: repos.filter((name) => name !== undefined) });
  onTestFinished(() => service.close());
  const read = async (event: object) => {
    const body = JSON.stringify(event);
    const signature = `sha256=${createHmac("sha256", HOOK_SECRET).update(body).digest("hex")}`;
    return service.channel.readHook?.({ body, header: () => signature });
  };
  const counts = { examples: 0, replies: 0 };
  for (const { name, examples } of EXAMPLES) {
    for (const example of examples) {
      const batch = await read(example);
      counts.examples += 1;
      counts.replies += batch?.replies.length ?? 0;
      if (name !== "issue_comment") expect(batch?.replies).toEqual([]);
      else if (example.action === "deleted") expect(batch?.replies).toEqual([]);
      else
        expect(batch?.replies).toMatchObject([{ from: example.sender?.login, place: expect.stringMatching(/#\d+$/) }]);
    }
  }
  expect(counts).toEqual({ examples: 329, replies: 7 });
});

test("the questions to GraphQL are right by GitHub's published schema", () => {
  expect(validate(EDITOR_QUERY)).toEqual([]);
  expect(validate("query($id: ID!) { node(id: $id) { nobody } }")).not.toEqual([]);
});

/** HMAC-SHA256 by RFC 4231, as `X-Hub-Signature-256` writes it. */
test.each([
  ["Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"],
  ["\u000b".repeat(20), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
])("the signature with the key %j is that of the standard", (key, text, digest) => {
  expect(isSigned(text, `sha256=${digest}`, key)).toBe(true);
  for (const wrong of [digest, `sha1=${digest}`, `sha256=${digest.toUpperCase()}`, `sha256=${digest} `, "", undefined])
    expect(isSigned(text, wrong, key)).toBe(false);
});
