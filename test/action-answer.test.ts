import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { QUESTION, endService, runStep } from "./action-step.ts";
import { GithubServer } from "./channels/github-server.ts";

let service: GithubServer;
const step = (inputs: Record<string, string> = QUESTION, over: Parameters<typeof runStep>[2] = {}) =>
  runStep(service, inputs, over);
const notes = () =>
  service.comments.filter(({ body }) => body.includes("note=")).map(({ body }) => body.split("\n")[0]);

beforeEach(async () => {
  service = await GithubServer.start();
});
afterEach(() => endService(service));

/** Edits a comment a while after it was written: times of GitHub have whole seconds. */
async function editLater(comment: ReturnType<GithubServer["add"]>, body: string, login: string) {
  comment.createdAt = "2026-01-01T00:00:00Z";
  await service.edit(comment, body, login);
}

test("an answer that somebody edited into another person's comment is the answer of the editor", async () => {
  await step();
  const comment = service.add("I would rather wait", "lena");
  await editLater(comment, "B", "mika");
  expect((await step()).outputs).toMatchObject({ state: "answered", answer: "early", "answered-by": "@mika" });
});

test("an edit in the second of the comment is the answer of the editor too", async () => {
  await step();
  await service.editAtOnce(service.add("I would rather wait", "lena"), "B", "reader");
  expect((await step()).outputs).toMatchObject({ state: "pending" });
  await service.editAtOnce(service.add("looking", "lena"), "B", "mika");
  expect((await step()).outputs).toMatchObject({ state: "answered", answer: "early", "answered-by": "@mika" });
});

test("a comment whose editor GitHub cannot look up is read again later", async () => {
  await step();
  service.add("B", "lena");
  service.graphqlProblem = { reply: { data: null, errors: [{ message: "Something went wrong" }] } };
  expect((await step()).outputs).toMatchObject({ state: "pending" });
  expect(notes()).toEqual([]);
  service.graphqlProblem = undefined;
  expect((await step()).outputs).toMatchObject({ state: "answered", answer: "early", "answered-by": "@lena" });
});

test("an answer that was edited by who may not write, or by nobody that GitHub names, does not count", async () => {
  await step();
  await editLater(service.add("I would rather wait", "lena"), "B", "reader");
  service.hidesEditors = true;
  await editLater(service.add("Which one is safer?", "mika"), "A", "mika");
  for (let count = 0; count < 2; count += 1) expect((await step()).outputs).toMatchObject({ state: "pending" });
  expect(notes()).toEqual([
    expect.stringContaining("@reader Thank you. Only people with write access"),
    expect.stringContaining("GitHub does not say who edited"),
  ]);
  service.hidesEditors = false;
  await editLater(service.add("a", "mika"), "A", "mika");
  expect((await step()).outputs).toMatchObject({ state: "answered", answer: "check", "answered-by": "@mika" });
});

test("a command of who may not write is no answer either, and is replied to once", async () => {
  const { outputs } = await step();
  service.add(`/answer ${outputs["question-id"]} B`, "reader");
  service.add("/answer in my own words", "stranger");
  for (let count = 0; count < 2; count += 1) expect((await step()).outputs).toMatchObject({ state: "pending" });
  expect(notes()).toEqual([expect.stringContaining("@reader Thank you. Only people with write access")]);
});

test("on GitHub Enterprise Server the editor is asked for beside /api/v3, where GraphQL is", async () => {
  const server = await startEnterprise();
  try {
    const over = { env: { GITHUB_API_URL: `${server.url}/api/v3`, GITHUB_GRAPHQL_URL: `${server.url}/api/graphql` } };
    await step(QUESTION, over);
    await service.tick(service.comments[0]!, "- [ ] **B) Initialize early**", "mika");
    expect((await step(QUESTION, over)).outputs).toMatchObject({ state: "answered", answer: "early" });
  } finally {
    server.close();
  }
});

test("a tick whose editor GitHub cannot look up leaves the question open, and says so", async () => {
  await step();
  await service.tick(service.comments[0]!, "- [ ] **B) Initialize early**", "mika");
  const server = await startEnterprise({ data: null, errors: [{ message: "Something went wrong" }] });
  try {
    const found = await step(QUESTION, { env: { GITHUB_GRAPHQL_URL: `${server.url}/api/graphql` } });
    expect(found).toMatchObject({ exit: 0, outputs: { state: "pending" } });
    expect(notes()).toEqual([expect.stringContaining("GitHub does not say who ticked")]);
  } finally {
    server.close();
  }
});

/** The addresses of GitHub Enterprise Server before the service: REST below /api/v3, GraphQL at /api/graphql. */
async function startEnterprise(graphql?: object) {
  const server = createServer((request, response) => {
    void (async () => {
      const [, path] = /^(?:\/api\/v3|\/api(?=\/graphql$))(\/.*)$/.exec(request.url ?? "") ?? [];
      const isWrong = path === undefined || request.url === "/api/v3/graphql";
      if (isWrong || graphql) return response.writeHead(isWrong ? 404 : 200).end(JSON.stringify(graphql ?? {}));
      const { authorization = "", "user-agent": agent = "" } = request.headers;
      const reply = await fetch(`${service.base}${path}`, {
        method: request.method ?? "GET",
        headers: { authorization, "user-agent": agent },
        body: request.method === "GET" ? undefined : await text(request),
      });
      return response.writeHead(reply.status).end(await reply.text());
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
