import { afterAll, beforeAll, expect, test } from "vitest";
import { GITHUB_TOKEN, GithubServer } from "./github-server.ts";
import { REPO } from "./github-view.ts";

let service: GithubServer;

beforeAll(async () => {
  service = await GithubServer.start();
});

afterAll(async () => {
  await service.close();
  const [problem] = service.traffic.problems;
  if (problem !== undefined) throw new Error(problem);
});

/** Sends a request as a program does; the service checks it and its own reply against GitHub's description. */
async function call(method: string, path: string, json?: unknown, { base } = service) {
  const response = await fetch(`${base}/repos/${REPO}${path}`, {
    method,
    headers: { authorization: `Bearer ${GITHUB_TOKEN}`, "user-agent": "test", "content-type": "application/json" },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  const body: unknown = text === "" ? undefined : JSON.parse(text);
  return { status: response.status, body };
}

test("a pull request is opened from a branch that is there, once, found by its branch, and changed", async () => {
  const opening = { title: "Fix it", head: "fix/1", base: "main", body: "as asked", draft: true };
  expect(await call("POST", "/pulls", opening)).toMatchObject({ status: 422, body: { errors: [{ field: "head" }] } });
  service.pulls.push("fix/1");
  const opened = await call("POST", "/pulls", opening);
  expect(opened).toMatchObject({ status: 201, body: { state: "open", draft: true, head: { ref: "fix/1" } } });
  expect(await call("POST", "/pulls", opening)).toMatchObject({
    status: 422,
    body: { errors: [{ message: "A pull request already exists for acme:fix/1." }] },
  });
  expect((await call("GET", "/pulls?head=acme:fix/1&state=open")).body).toMatchObject([{ title: "Fix it" }]);
  const { number } = opened.body as { number: number };
  expect(await call("PATCH", `/pulls/${number}`, { state: "closed" })).toMatchObject({ body: { state: "closed" } });
  expect(await call("GET", `/pulls/${number}`)).toMatchObject({ status: 200, body: { state: "closed" } });
  expect((await call("GET", "/pulls")).body).toEqual([]);
  expect((await call("GET", "/pulls/1")).status).toBe(404);
});

test("a ref is made once, read, listed by its beginning, moved and deleted", async () => {
  const sha = "a".repeat(40);
  const made = { ref: "refs/askd/q-1/closed", sha };
  expect((await call("POST", "/git/refs", made)).status).toBe(201);
  expect((await call("POST", "/git/refs", made)).status).toBe(422);
  expect((await call("GET", "/git/matching-refs/askd/q-1")).body).toMatchObject([{ ref: made.ref, object: { sha } }]);
  const moved = await call("PATCH", "/git/refs/askd/q-1/closed", { sha: "b".repeat(40) });
  expect(moved).toMatchObject({ status: 200, body: { object: { sha: "b".repeat(40) } } });
  expect((await call("DELETE", "/git/refs/askd/q-1/closed")).status).toBe(204);
  expect((await call("GET", "/git/ref/askd/q-1/closed")).status).toBe(404);
  expect((await call("GET", "/git/ref/heads/main")).status).toBe(200);
});

test("what is kept in a blob comes back, and a commit can hold it", async () => {
  const content = Buffer.from("kept ".repeat(50)).toString("base64");
  const blob = await call("POST", "/git/blobs", { content, encoding: "base64" });
  const { sha } = blob.body as { sha: string };
  const read = (await call("GET", `/git/blobs/${sha}`)).body as { content: string };
  expect(Buffer.from(read.content, "base64").toString()).toBe("kept ".repeat(50));
  const tree = await call("POST", "/git/trees", { tree: [{ path: "work", mode: "100644", type: "blob", sha }] });
  const commit = await call("POST", "/git/commits", { message: "work", tree: (tree.body as { sha: string }).sha });
  expect(commit.status).toBe(201);
});

test("labels and assignees of an issue are among its events", async () => {
  await call("POST", "/issues/9/labels", { labels: ["auto-fix-skip"] });
  await call("POST", "/issues/9/labels", { labels: ["auto-fix-skip"] });
  await call("POST", "/issues/9/assignees", { assignees: ["lena"] });
  expect((await call("GET", "/issues/9/events")).body).toMatchObject([
    { event: "labeled", label: { name: "auto-fix-skip" } },
    { event: "assigned", assignee: { login: "lena" } },
  ]);
});

test("open issues are listed by their label, with who put it there, and a closed one is listed as closed", async () => {
  service.issues.addLabel(31, "auto-fix", "mika");
  service.issues.addLabel(31, "urgent", "lena");
  service.issues.addLabel(32, "auto-fix", "lena");
  const numbers = async (query: string) =>
    ((await call("GET", `/issues?${query}`)).body as Array<{ number: number }>).map(({ number }) => number);
  expect(await numbers("labels=auto-fix")).toEqual([32, 31]);
  expect(await numbers("labels=auto-fix,urgent&state=open&per_page=100")).toEqual([31]);
  expect((await call("GET", "/issues/31/events")).body).toMatchObject([
    { event: "labeled", actor: { login: "mika" }, label: { name: "auto-fix" } },
    { event: "labeled", actor: { login: "lena" }, label: { name: "urgent" } },
  ]);
  const closed = await call("PATCH", "/issues/31", { state: "closed" });
  expect(closed).toMatchObject({ status: 200, body: { state: "closed", labels: [{ name: "auto-fix" }, {}] } });
  expect(await numbers("labels=auto-fix")).toEqual([32]);
  expect(await numbers("labels=auto-fix&state=closed")).toEqual([31]);
  expect(await call("DELETE", "/issues/31/labels/urgent")).toMatchObject({ body: [{ name: "auto-fix" }] });
  expect((await call("DELETE", "/issues/31/labels/urgent")).status).toBe(404);
});

test("a reaction is there once for each account", async () => {
  const { id } = service.add("A question");
  const path = `/issues/comments/${id}/reactions`;
  expect(await call("POST", path, { content: "eyes" })).toMatchObject({ status: 201, body: { content: "eyes" } });
  expect((await call("POST", path, { content: "eyes" })).status).toBe(200);
  expect((await call("GET", path)).body).toMatchObject([{ content: "eyes", user: { login: "askd[bot]" } }]);
});

test("what GitHub does not publish is a problem: a status, a field, a query, an operation", async () => {
  const strict = await GithubServer.start();
  const ask = (method: string, path: string, json?: unknown) => call(method, path, json, strict);
  try {
    strict.limits.plan(/./, { status: 418, message: "I am a teapot" });
    await ask("GET", "/issues/1");
    await ask("PATCH", "/issues/1", { state: "shut" });
    await ask("PATCH", "/issues/1", { state: "closed", reason: "done" });
    await ask("GET", "/issues?label=auto-fix");
    await ask("GET", "/milestones");
    strict.limits.plan(/./, { status: 503, message: "Service unavailable" });
    await ask("GET", "/issues/1");
  } finally {
    await strict.close();
  }
  expect(strict.traffic.problems).toEqual([
    expect.stringMatching(/^reply GET .*\/issues\/1 418: GitHub describes no such reply/),
    expect.stringMatching(/^request PATCH .*\/issues\/1: data\/state must be equal to one of/),
    "unknown field reason of PATCH /repos/{owner}/{repo}/issues/{issue_number}",
    "unknown query label of GET /repos/{owner}/{repo}/issues",
    "no such operation: GET /repos/acme/api/milestones",
  ]);
});
