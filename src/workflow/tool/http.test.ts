import { expect, test } from "vitest";
import { WorkflowStage } from "../../../test/workflow/stage.ts";
import type { HttpRequest, HttpResponse } from "./tool.ts";

const SECRET = "s3cr3t-value-0123456789";

/** A run of one http step whose request gets this reply; tells what was sent. */
async function send(input: string, reply: Partial<HttpResponse> = {}) {
  const sent: HttpRequest[] = [];
  const request = (asked: HttpRequest) => {
    sent.push(asked);
    return Promise.resolve({ status: 200, headers: {}, body: "", ...reply });
  };
  const stage = new WorkflowStage({ outside: { request }, secrets: { KEY: SECRET } });
  const run = await stage.start(`name: call\nsteps: [{ id: call, tool: http, output: reply, input: ${input} }]`);
  const { steps, data } = await stage.checkpoint(run);
  return { stage, run, sent, step: steps["call"], reply: data["reply"] };
}

test("a reply is the output of the step, with its JSON", async () => {
  const { run, sent, reply } = await send("{ url: 'https://example.com/a' }", { status: 201, body: '{"id":7}' });
  expect(run.status).toBe("completed");
  expect(sent).toMatchObject([{ url: "https://example.com/a", method: "GET", body: undefined }]);
  expect(reply).toMatchObject({ status: 201, body: '{"id":7}', json: { id: 7 } });
});

test("JSON is posted with its type, and each step has a key of its own", async () => {
  const { run, sent } = await send("{ url: 'https://example.com', json: { a: 1 } }", { body: "not json" });
  expect(sent).toMatchObject([
    {
      method: "POST",
      body: '{"a":1}',
      headers: { "content-type": "application/json", "idempotency-key": `${run.id}:call` },
    },
  ]);
});

test("a reply that is no 2xx fails the step with its status and what it says, without secrets", async () => {
  const { run, step } = await send("{ url: 'https://example.com' }", { status: 503, body: `busy ${SECRET}` });
  expect(run).toMatchObject({ status: "failed", reason: "http_status" });
  expect(step?.failure?.message).toBe("The reply has status 503: busy [redacted]");
});

test("a secret in a header is sent and not kept", async () => {
  const { stage, run, sent } = await send(
    "{ url: 'https://example.com', headers: { authorization: 'Bearer {{ secrets.KEY }}' } }",
    { body: `echo ${SECRET}` },
  );
  expect(sent[0]?.headers["authorization"]).toBe(`Bearer ${SECRET}`);
  const kept = JSON.stringify([await stage.checkpoint(run), await stage.engine.readChain(run.id)]);
  expect(kept).toContain("echo [redacted]");
  expect(kept).not.toContain(SECRET);
});

test.each(["https://ada:pw@example.com", "https://ada@example.com", "ftp://example.com", "nothing"])(
  "nothing is sent to the address %s",
  async (url) => {
    const { run, sent } = await send(`{ url: '${url}' }`);
    expect(run).toMatchObject({ status: "failed", reason: "bad_input" });
    expect(sent).toEqual([]);
  },
);
