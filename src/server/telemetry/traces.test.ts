import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endsQuestion, parseTraceparent, traceRun } from "../../core/trail/trace.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { MCP, Scene, pendingOf, said } from "../../../test/scene.ts";
import { ServedScene } from "../../../test/served.ts";
import { readTarget, SpanSender } from "./otlp.ts";

const MINUTE = 60_000;
const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

interface Sent {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Array<{ key: string; value: { stringValue?: string } }>;
  links?: Array<{ traceId: string; spanId: string }>;
}

let receiver: Server;
let url: string;
let status: number;
let spans: Sent[];
let headers: Array<Record<string, unknown>>;
beforeEach(async () => {
  [status, spans, headers] = [200, [], []];
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      headers.push({ ...request.headers, path: request.url });
      const body = JSON.parse(Buffer.concat(chunks).toString());
      spans.push(...body.resourceSpans[0].scopeSpans[0].spans);
      response.writeHead(status).end("{}");
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterEach(() => new Promise((resolve) => receiver.close(resolve)));

function target() {
  return readTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b" })!;
}

/** Held, then parked, answered and resumed. */
async function wholeLife(scene: Scene, raw: Record<string, unknown> = {}) {
  const { engine } = scene;
  const run = await scene.startedRun({ session: "s-1" });
  const asked = await engine.ask(scene.input({ hold: "1m", key: "call-7", ...raw }, MCP), AGENT, { runId: run.id });
  const { id } = pendingOf(asked);
  await scene.pass(MINUTE);
  await engine.endHold(id, "window");
  await engine.endRun(run.id, { status: "completed" }, AGENT);
  await scene.pass(60 * MINUTE);
  await engine.answer(id, said("1"), ADA);
  await scene.pass(MINUTE);
  await engine.startRun(run.id, AGENT);
  await engine.given(id, "seen");
  return { run, id };
}

test("hold, park and resume of a question are one trace, whichever server sees its end", async () => {
  const scene = new Scene();
  const { run } = await wholeLife(scene);
  // The first life was over before anybody listened; the second asks and ends in different servers.
  const at = await ServedScene.start({ traces: target() }, scene);
  const { engine } = scene;
  const asked = await engine.ask(scene.input({ question: "JWT?", hold: "1m", key: "call-8" }), AGENT, {
    runId: run.id,
  });
  await at.restart();
  await scene.pass(MINUTE);
  await engine.answer(asked.question.id, said("1"), ADA);
  await engine.given(asked.question.id, "seen");
  while (at.served.live.tail.cursor !== (await scene.store.findFeedEnd())) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await at.stop();
  expect(headers[0]).toMatchObject({ path: "/v1/traces", "content-type": "application/json", "x-key": "a b" });
  expect(spans.map(({ name }) => name).sort()).toEqual([
    "execute_tool ask_human",
    "execute_tool ask_human",
    "hold",
    "hold",
    "park",
    "resume",
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const first = spans.find(({ name }) => name === "execute_tool ask_human");
  const attributes = Object.fromEntries(first!.attributes.map(({ key, value }) => [key, value.stringValue]));
  expect(attributes).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "ask_human",
    "gen_ai.tool.call.id": "call-7",
    "gen_ai.conversation.id": "s-1",
    "gen_ai.agent.name": "claude",
    "askd.question.status": "answered",
  });
  const park = spans.find(({ name }) => name === "park")!;
  expect(park).toMatchObject({ parentSpanId: first!.spanId, links: [{ spanId: first!.spanId }] });
  expect(minutes(park)).toBe(60);
  expect(minutes(first!)).toBe(62);
  expect(minutes(spans.find(({ name }) => name === "resume")!)).toBe(1);
  expect(JSON.stringify(spans)).not.toMatch(/Redis|JWT/);
});

function minutes({ startTimeUnixNano, endTimeUnixNano }: Sent): number {
  return Number((BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1_000_000n) / MINUTE;
}

test("a trace that came with the ask goes on", async () => {
  const at = await ServedScene.start();
  const token = await at.token({ scope: "agent", subject: "ci" });
  const body = { question: "Redis or Memcached?" };
  const asked = await at.send("POST", "/api/v1/questions", { token, body, headers: { traceparent: TRACEPARENT } });
  const { engine } = at.scene;
  const { question } = (await engine.listQuestions({ order: "newest", limit: 1 })).map((each) => ({
    question: each,
  }))[0]!;
  expect(question.id).toBe(asked.body.id);
  await engine.answer(question.id, said("Redis"), ADA);
  const { run } = await engine.given(question.id, "read");
  const events = (await engine.readChain(run.id)).map(({ event }) => event);
  expect(events.some(endsQuestion)).toBe(true);
  const [whole, park] = traceRun(run, events).get(question.id)!;
  expect(whole).toMatchObject({ traceId: "4bf92f3577b34da6a3ce929d0e0e4736", parentId: "00f067aa0ba902b7" });
  expect(park).toMatchObject({ name: "park", traceId: whole!.traceId, parentId: whole!.spanId });
  await at.stop();
});

test("a question that is not over has no spans yet, and one that times out has an error", async () => {
  const scene = new Scene();
  const { run, question } = await scene.ask({ timeout: "1h" });
  const made = async () =>
    traceRun(
      run,
      (await scene.engine.readChain(run.id)).map(({ event }) => event),
    );
  expect((await made()).size).toBe(0);
  await scene.pass(60 * MINUTE);
  expect((await made()).get(question.id)?.map(({ name, isError }) => [name, isError])).toEqual([
    ["execute_tool ask_human", true],
    ["park", false],
  ]);
});

test("a receiver that refuses or is away is written down and nothing else", async () => {
  const failures: Array<[string, number]> = [];
  const sender = new SpanSender({
    target: target(),
    version: "0.0.0",
    everyMs: 60_000,
    onFailure: (error, count) => void failures.push([String(error), count]),
  });
  const scene = new Scene();
  const { run, id } = await wholeLife(scene);
  const events = (await scene.engine.readChain(run.id)).map(({ event }) => event);
  const made = traceRun(run, events).get(id)!;
  status = 503;
  sender.add(made);
  await sender.flush();
  expect(failures).toEqual([["Error: the receiver of traces replied 503", 4]]);
  sender.add(Array.from({ length: 5_000 }, () => made[0]!));
  expect(failures[1]).toEqual(["Error: too many spans wait", 904]);
  status = 200;
  await sender.flush();
  expect(spans).toHaveLength(4 + 4_096);
  expect(headers).toHaveLength(1 + 8);
});

test.each([
  [{}, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318/" }, "http://c:4318/v1/traces"],
  [
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c:4318/t", OTEL_EXPORTER_OTLP_ENDPOINT: "http://d" },
    "http://c:4318/t",
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318", OTEL_SDK_DISABLED: "true" }, undefined],
])("with %j spans go to %s", (env, expected) => {
  expect(readTarget(env)?.url).toBe(expected);
});

test.each(["", "00-xyz", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`, `${TRACEPARENT}x`])(
  "%j is no trace to go on with",
  (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  },
);
