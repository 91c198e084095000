import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Streams } from "./exchange.ts";

const BOUND_MS = 10_000;
const HEADERS = { "content-type": "text/event-stream" };

let streams: Streams;
let server: Server;
let url: string;
let writers: Array<ReadableStreamDefaultController<Uint8Array>>;
beforeEach(async () => {
  streams = new Streams(5);
  writers = [];
  server = createServer((_, outgoing) => {
    const events = new ReadableStream<Uint8Array>({ start: (controller) => void writers.push(controller) });
    streams.reply(outgoing, { status: 200, headers: HEADERS, events, findLast: () => "data: last\n\n" });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`; // a TCP server has a port
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test("whoever waits sees that the reply began, hears that the line is alive, and gets every event", async () => {
  const response = await fetch(url);
  expect({ status: response.status, type: response.headers.get("content-type") }).toEqual({
    status: 200,
    type: "text/event-stream",
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect(await reader?.read()).toMatchObject({ value: expect.stringContaining(": keepalive\n\n") });
  writers[0]?.enqueue(Buffer.from("data: 1\n\n"));
  writers[0]?.enqueue(Buffer.from("data: 2\n\n"));
  writers[0]?.close();
  let text = "";
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
  expect(text.replaceAll(": keepalive\n\n", "")).toBe("data: 1\n\ndata: 2\n\ndata: last\n\n");
  await expect.poll(() => streams.count, { timeout: BOUND_MS }).toBe(0);
});

test("a reply that breaks off does not end with the event that follows a whole one", async () => {
  const response = await fetch(url);
  writers[0]?.enqueue(Buffer.from("data: 1\n\n"));
  writers[0]?.error(new Error("broken"));
  expect(await response.text()).not.toContain("last");
});

test("nothing is kept of somebody who left, even in the middle of what they did not read", async () => {
  const leaving = new AbortController();
  const response = await fetch(url, { signal: leaving.signal });
  expect(response.status).toBe(200);
  for (let n = 0; n < 100; n += 1) writers[0]?.enqueue(Buffer.alloc(100_000, "x"));
  expect(streams.count).toBe(1);
  leaving.abort();
  await expect.poll(() => streams.count, { timeout: BOUND_MS }).toBe(0);
});
