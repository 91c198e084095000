import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { said } from "../../../test/scene.ts";
import { ServedScene } from "../../../test/served.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { QuestionId } from "../../core/id.ts";

const ASK = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };
const CI = { scope: "agent", subject: "ci" } as const;

let at: ServedScene;
let ci: string;
beforeEach(async () => {
  at = await ServedScene.start();
  ci = await at.token(CI);
});
afterEach(() => at.stop());

/** Asks as the program `ci`, has it answered, and says where the question is. */
async function answered(more: object = {}): Promise<{ id: QuestionId; path: string }> {
  const { body } = await at.send("POST", "/api/v1/questions", { token: ci, body: { ...ASK, ...more } });
  const id = QuestionId.parse(body.id);
  await at.scene.engine.answer(id, said("1"), ADA);
  return { id, path: `/api/v1/questions/${id}` };
}

async function stateOf(id: QuestionId) {
  const { question, run } = await at.scene.engine.read(id);
  return { handover: "handover" in question ? question.handover : undefined, run: run.status };
}

/** The state after all work that follows replies is done. */
async function settledState(id: QuestionId) {
  await at.restart();
  return stateOf(id);
}

describe("the token that asked takes the outcome", () => {
  test.each([
    { by: "reading the question", address: (path: string) => path },
    { by: "waiting for it", address: (path: string) => `${path}/wait` },
  ])("by $by", async ({ address }) => {
    const { id, path } = await answered();
    expect((await stateOf(id)).run).toBe("resuming");
    const { body } = await at.send("GET", address(path), { token: ci });
    expect(body).toMatchObject({ status: "answered", answer: "Redis" });
    expect(await settledState(id)).toMatchObject({ handover: { state: "given", witness: "read" }, run: "completed" });
  });

  test("by asking the same again, as a workflow does that is run again", async () => {
    const { id } = await answered({ key: "deploy/7" });
    const again = await at.send("POST", "/api/v1/questions", { token: ci, body: { ...ASK, key: "deploy/7" } });
    expect(again.body).toMatchObject({ id, answer: "Redis" });
    expect(await settledState(id)).toMatchObject({ handover: { state: "given" }, run: "completed" });
    expect((await at.send("POST", "/api/v1/questions", { token: ci, body: { ...ASK, key: "deploy/7" } })).body).toEqual(
      (await at.send("GET", `/api/v1/questions/${id}`, { token: ci })).body,
    );
  });

  test("or sees that its run is cancelled in that very moment", async () => {
    const { id, path } = await answered();
    const { engine } = at.scene;
    const { run } = await engine.read(id);
    const handOver = engine.handOver.bind(engine);
    engine.handOver = async (...given) => {
      engine.handOver = handOver;
      await engine.cancelRun(run.id, ADA);
      return handOver(...given);
    };
    const { status, body } = await at.send("GET", path, { token: ci });
    expect({ status, body }).toMatchObject({ status: 200, body: { status: "answered", answer: "Redis" } });
    expect(await settledState(id)).toMatchObject({ handover: { state: "void" }, run: "cancelled" });
  });

  test("by another token of the same program", async () => {
    const { id, path } = await answered();
    await at.send("GET", path, { token: await at.token(CI) });
    expect((await settledState(id)).run).toBe("completed");
  });

  test("and the run of a session that it named goes on", async () => {
    const run = await at.scene.startedRun({ giveBack: "poll" });
    const admin = await at.token({ scope: "admin", subject: "ci" });
    const body = { ...ASK, run_id: run.id, hold: "3m" };
    const asked = await at.send("POST", "/api/v1/questions", { token: admin, body });
    const id = QuestionId.parse(asked.body.id);
    await at.scene.engine.answer(id, said("1"), ADA);
    await at.scene.pass(15_000);
    expect((await stateOf(id)).run).toBe("resuming");
    await at.send("GET", `/api/v1/questions/${id}`, { token: admin });
    expect(await settledState(id)).toMatchObject({ handover: { state: "given" }, run: "running" });
  });

  test("in the run of its agent, as long as that is there", async () => {
    const run = await at.scene.startedRun();
    const own = await at.token({ scope: "agent", subject: "claude", runId: run.id });
    const asked = await at.send("POST", "/api/v1/questions", { token: own, body: ASK });
    const id = QuestionId.parse(asked.body.id);
    await at.scene.engine.answer(id, said("1"), ADA);
    await at.send("GET", `/api/v1/questions/${id}`, { token: own });
    expect(await settledState(id)).toMatchObject({ handover: { state: "given" }, run: "running" });
    expect((await at.scene.engine.endRun(run.id, { status: "completed" }, SYSTEM)).status).toBe("completed");
  });
});

describe("a correction that comes while the reply is on its way", () => {
  test("is not counted as given: the reply does not show it", async () => {
    const { id, path } = await answered();
    const { engine } = at.scene;
    const [{ body }] = await Promise.all([
      at.send("GET", path, { token: ci }),
      engine.amend(id, "Disk after all", ADA),
    ]);
    await settledState(id);
    const [amendment] = (await engine.read(id)).question.amendments;
    const isShown = JSON.stringify(body).includes("Disk after all");
    expect(amendment?.handover.state).toBe(isShown ? "given" : "void");
  });
});

describe("nobody else takes it", () => {
  test("neither a person nor another program, nor who wants the headers alone, nor a list", async () => {
    const { id, path } = await answered();
    const person = await at.token();
    const admin = await at.token({ scope: "admin", subject: "root" });
    await at.send("GET", path, { token: person });
    await at.send("GET", `${path}/wait`, { token: admin });
    await at.send("GET", path, { token: await at.token({ scope: "agent", subject: "other" }) });
    await fetch(`${at.url}${path}`, { method: "HEAD", headers: { authorization: `Bearer ${ci}` } });
    await at.send("GET", "/api/v1/questions", { token: ci });
    expect(await settledState(id)).toEqual({ handover: { state: "owed" }, run: "resuming" });
  });

  test("a person who asked by a token and looks on the web does not", async () => {
    const ada = await at.token();
    const { body } = await at.send("POST", "/api/v1/questions", { token: ada, body: ASK });
    const id = QuestionId.parse(body.id);
    await at.scene.engine.answer(id, said("1"), ADA);
    const web = await at.send("GET", `/api/v1/questions/${id}`, { headers: { cookie: `askd_session=${ada}` } });
    expect(web).toMatchObject({ status: 200, body: { answer: "Redis" } });
    expect((await settledState(id)).run).toBe("resuming");
  });

  test("a run with a callback is told by its callback", async () => {
    const secret = `whsec_${Buffer.alloc(24).toString("base64")}`;
    const run = { callback_url: "http://127.0.0.1:9/", callback_secret: secret };
    const { id, path } = await answered({ run });
    await at.send("GET", path, { token: ci });
    expect((await settledState(id)).handover).toEqual({ state: "owed" });
  });
});
