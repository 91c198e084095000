import { Agent, request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SYSTEM } from "../../core/people/actor.ts";
import { API_PATH, type CallerScope, type Route, scopesOf } from "../../core/api/route.ts";
import { ROUTES, VERBS } from "../../core/api/table.ts";
import { tokenId } from "../../core/people/token.ts";
import { AGENT } from "../../../test/builders.ts";
import { ServedScene } from "../../../test/served.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
const MARK = "xyzzy-only-for-ada";
const BODIES: Readonly<Record<string, object>> = {
  ask: { question: "Anything else?" },
  answer: { answer: "1" },
  preview: { answer: "1" },
  amend: { text: "no" },
  assign: { to: ["lena"] },
  snooze: { until: "2030-01-01T00:00:00Z" },
  extend: { by: "1h" },
  comment: { text: "hm" },
  issueLink: { person: "eve" },
  cancel: { reason: "no" },
  hold: { window: "1h", holder: "me" },
  endHold: { why: "gone" },
  given: { witness: "me" },
  endRun: { status: "failed" },
  issueToken: { scope: "admin", subject: "eve" },
  putPerson: { groups: [] },
  handOverToken: { to: "eve" },
};

/** One way to come to the server, and what is allowed to it. */
interface Visitor {
  name: string;
  headers: Record<string, string>;
  /** Scopes by which some routes are open to it; those are not tried. */
  may?: CallerScope;
  /** Methods that are tried with it. */
  only?: (method: string) => boolean;
  /** May read what is its own, which here is nothing of what is marked. */
  mayReadOwn?: boolean;
}
interface Place {
  verb: string;
  method: string;
  path: string;
  row?: Route;
}

let at: ServedScene;
let places: Place[];
let visitors: Visitor[];
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  at = await ServedScene.start();
  const run = await at.scene.startedRun({ name: MARK, externalId: MARK });
  const other = await at.scene.startedRun({ session: "elsewhere" });
  const { question } = await at.scene.engine.ask(at.scene.input({ question: `${MARK}?`, hold: "1h" }), AGENT, {
    runId: run.id,
  });
  await at.scene.engine.putPerson({ id: "ada", version: 0, name: MARK, groups: [] }, SYSTEM);
  const human = await at.token();
  const own = await at.token({ scope: "agent", subject: "claude", runId: run.id });
  const foreign = await at.token({ scope: "agent", subject: "eve", runId: other.id });
  const runless = await at.token({ scope: "agent", subject: "eve" });
  const revoked = await at.token();
  await at.scene.engine.revokeToken(tokenId(revoked), SYSTEM);
  const code = await at.token({ scope: "login" });
  places = placesFor({ question: question.id, run: run.id, token: tokenId(human) });
  // The first use of a day is written down; it says nothing about what was done with it.
  for (const text of [human, own, foreign, runless]) await at.scene.engine.authenticate(text, "api");
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  const isWrite = (method: string) => method !== "GET" && method !== "HEAD";
  visitors = [
    { name: "nobody", headers: {} },
    { name: "a wrong token", headers: bearer("askd_h_00000000000000000000000000") },
    { name: "a revoked token", headers: bearer(revoked) },
    { name: "a login code", headers: bearer(code) },
    { name: "another host", headers: { ...bearer(human), host: `evil.example:${at.port}` } },
    { name: "another origin", headers: { ...bearer(human), origin: "https://evil.example" } },
    { name: "no origin", headers: { ...bearer(human), origin: "null" } },
    { name: "another site", headers: { ...bearer(human), "sec-fetch-site": "cross-site" } },
    { name: "a form", headers: { ...bearer(human), "content-type": "text/plain" }, only: isWrite },
    { name: "a cookie that came along", headers: { cookie: `askd_session=${human}` }, only: isWrite },
    { name: "an agent of another run", headers: bearer(foreign), may: "agent", mayReadOwn: true },
    { name: "an agent without a run", headers: bearer(runless), may: "agent", mayReadOwn: true },
    { name: "the agent itself", headers: bearer(own), may: "agent" },
    { name: "a person", headers: bearer(human), may: "human" },
  ];
});
afterAll(async () => {
  agent.destroy();
  await at.stop();
});

describe("what somebody may not do", () => {
  test("has no effect and shows nothing, on every route by every method", async () => {
    const before = await state();
    let tried = 0;
    const wrong: string[] = [];
    for (const visitor of visitors) {
      for (const place of places) {
        if (isAllowed(visitor, place) || visitor.only?.(place.method) === false) continue;
        tried += 1;
        const { status, text } = await send(place, visitor);
        const isSilent = !text.includes(MARK) && !text.includes("askd_");
        const isRead = place.method === "GET" || place.method === "HEAD";
        const isRefused = status >= 400 || (visitor.mayReadOwn && isRead);
        if (!isSilent || !isRefused) wrong.push(`${visitor.name}: ${place.method} ${place.path} ${status}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(await state()).toEqual(before);
    expect(tried).toBeGreaterThanOrEqual(2_000);
  }, 120_000);

  test("is refused before anything is said about the address", async () => {
    const nowhere: Place = { verb: "", method: "GET", path: "/api/v1/nothing/here" };
    expect((await send(nowhere, { name: "nobody", headers: {} })).status).toBe(401);
  });
});

/** Every route with every method, and some that are not in the table. */
function placesFor(ids: { question: string; run: string; token: string }): Place[] {
  const rows = VERBS.map((verb) => {
    const row: Route = ROUTES[verb];
    const id = row.path.startsWith("/tokens") ? ids.token : row.path.startsWith("/people") ? "ada" : undefined;
    const named = row.path.startsWith("/runs") ? ids.run : ids.question;
    return { verb, row, path: `${API_PATH}${row.path.replace("{id}", id ?? named)}${queryFor(verb, ids.run)}` };
  });
  const sessions = ["", "/pending-question", "/answer", "/task", "/events"].map((rest) => `/sessions/${MARK}${rest}`);
  const verbs = [
    "",
    "/work",
    "/look",
    "/answer",
    "/preview",
    "/undo",
    "/claim",
    "/release",
    "/snooze",
    "/extend",
    "/stop",
  ];
  const pages = ["/", "/settings", "/live", "/test-question", ...verbs.map((rest) => `/q/${ids.question}${rest}`)];
  return [
    ...pages.flatMap((path) => METHODS.map((method) => ({ verb: "page", method, path }))),
    ...rows.flatMap(({ verb, row, path }) =>
      METHODS.map((method) => ({ verb, method, path, ...(row.method === method && { row }) })),
    ),
    ...sessions.flatMap((path) => METHODS.map((method) => ({ verb: "session", method, path }))),
  ].filter(({ verb }) => verb !== "redeemLogin");
}

function queryFor(verb: string, run: string): string {
  if (verb === "usageOf") return `?runs=${run}`;
  if (verb === "lookUp") return `?by=name&text=${MARK}`;
  return verb === "wait" ? "?until=2020-01-01T00:00:00Z" : "";
}

/** Visitors are tested elsewhere. Agents of other runs pass on routes that hide foreign rows. */
function isAllowed({ may, mayReadOwn }: Visitor, { verb, method, path, row }: Place): boolean {
  // Pages take the cookie of a session and nothing else.
  if (may === undefined || verb === "page") return false;
  const named = VERBS.filter((each) => API_PATH + ROUTES[each].path === path.split("?")[0]);
  const isHead = method === "HEAD";
  if (verb === "session") return !mayReadOwn && !(may === "agent" && (method === "POST" || method === "PUT"));
  if (mayReadOwn) return verb === "ask" || (named.length > 0 && method === "POST" && path === `${API_PATH}/questions`);
  if (isHead) return true;
  return row ? scopesOf(row).includes(may) : sharesAddress(path, method, may);
}

/** Another verb at the same address may be open by this method. */
function sharesAddress(path: string, method: string, may: CallerScope): boolean {
  return VERBS.some((verb) => {
    const row: Route = ROUTES[verb];
    const shape = new RegExp(`^${API_PATH}${row.path.replace("{id}", "[^/]+")}$`);
    return row.method === method && scopesOf(row).includes(may) && shape.test(path.split("?")[0] ?? "");
  });
}

/** Everything that could have changed. */
async function state(): Promise<unknown> {
  const { engine } = at.scene;
  // That somebody tried is written down; it is the only thing that is.
  const events = (await engine.readFeed("", 10_000)).filter(({ event }) => event.type !== "question.refused");
  const runs = await engine.listRuns({ order: "oldest", limit: 100 });
  const questions = await engine.listQuestions({ order: "oldest", limit: 100 });
  return [
    events.map(({ event }) => event),
    runs,
    questions,
    await engine.listTokens(SYSTEM),
    await engine.listPeople(),
  ];
}

function send({ verb, method, path }: Place, { headers }: Visitor): Promise<{ status: number; text: string }> {
  const body = method === "GET" || method === "HEAD" ? undefined : JSON.stringify(BODIES[verb] ?? {});
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port: at.port,
        method,
        path,
        agent,
        headers: {
          ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
          ...headers,
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
