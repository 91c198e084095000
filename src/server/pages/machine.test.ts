import { afterEach, beforeEach, expect, test } from "vitest";
import { AGENT } from "../../../test/builders.ts";
import { beat } from "../../../test/machines.ts";
import { PageVisit } from "../../../test/page-visit.ts";
import { HOUR_MS } from "../../core/instant.ts";

const BUILD = "build-7~3fa91c";

let visit: PageVisit;
let here: string | undefined;
beforeEach(async () => {
  here = undefined;
  visit = await PageVisit.start({ here: () => here });
});
afterEach(() => visit.stop());

/** A run of build-7 that was parked there three hours ago, when its worker beat last. */
async function parked() {
  const { scene } = visit.at;
  const run = await scene.startedRun({ host: BUILD });
  const { question } = await scene.engine.ask(scene.input({ timeout: "24h" }), AGENT, { runId: run.id });
  await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  await beat(scene.store, BUILD);
  await scene.pass(3 * HOUR_MS);
  return { run, question };
}

test("whoever answers a run whose machine is away reads so, on the card and on the page of the run", async () => {
  const { run, question } = await parked();
  expect((await visit.open(`/q/${question.id}`)).html).not.toContain("build-7 is back");
  await visit.post(`/q/${question.id}/answer`, { "i.0": "0", do: "answer" });
  const settling = (await visit.open(`/q/${question.id}`)).html;
  expect(settling).toContain("Run #1 resumes when build-7 is back.");
  expect(settling).not.toContain('data-as="run.settling"');
  const toast = (await visit.open("/settings")).html;
  expect(toast).toContain("Waiting for build-7");
  expect(toast).not.toContain('data-as="run.settling"');
  await visit.at.scene.pass(10_000);
  for (const path of [`/q/${question.id}`, `/r/${run.id}`]) {
    const { html } = await visit.open(path);
    expect(html).toContain("Run #1 resumes when build-7 is back.");
    expect(html).toContain("That machine was last seen 3h ago.");
    expect(html).toContain("askd runs resume 1 --elsewhere");
    expect(html).not.toContain("Run #1: resuming");
  }
  expect((await visit.open("/runs")).html).toContain("Waiting for build-7");
  const german = (await visit.open(`/q/${question.id}`, { "accept-language": "de" })).html;
  expect(german).toContain("Lauf #1 wird fortgesetzt, sobald build-7 wieder erreichbar ist.");
});

test("nothing of it is said once the machine is heard of, or where this server starts its agents", async () => {
  const { run, question } = await parked();
  await visit.post(`/q/${question.id}/answer`, { "i.0": "0", do: "answer" });
  await visit.at.scene.pass(10_000);
  here = BUILD;
  expect((await visit.open(`/r/${run.id}`)).html).not.toContain("build-7 is back");
  here = undefined;
  expect((await visit.open(`/r/${run.id}`)).html).toContain("build-7 is back");
  await beat(visit.at.scene.store, BUILD);
  expect((await visit.open(`/r/${run.id}`)).html).not.toContain("build-7 is back");
});

test("programs read the machine that a run waits for", async () => {
  const { run, question } = await parked();
  const token = await visit.at.token();
  const path = `/api/v1/questions/${question.id}`;
  expect((await visit.at.send("GET", path, { token })).body["machine"]).toBeNull();
  const answered = await visit.at.send("POST", `${path}/answer`, { token, body: { answer: "1" } });
  const machine = { id: BUILD, name: "build-7", heard_at: "2026-01-01T12:00:00.000Z" };
  expect(answered.body).toMatchObject({ run_status: "resuming", machine });
  expect((await visit.at.send("GET", `/api/v1/runs/${run.id}`, { token })).body).toMatchObject({ machine });
  const { body } = await visit.at.send("GET", "/api/v1/runs", { token });
  expect(body.runs).toMatchObject([{ machine }]);
  expect((await visit.at.send("GET", `${path}/wait`, { token })).body).toMatchObject({ machine });
  expect((await visit.at.send("GET", "/api/v1/machines", { token })).body).toEqual({ machines: [machine] });
  const agent = await visit.at.token({ scope: "agent", subject: "ci" });
  expect((await visit.at.send("GET", "/api/v1/machines", { token: agent })).status).toBe(403);
});
