import { afterEach, beforeEach, expect, test } from "vitest";
import { GITHUB_TOKEN, GithubServer } from "./channels/github-server.ts";

const FILE = new URL("../action/github.mjs", import.meta.url).href;
const COMMENTS = "/repos/acme/api/issues/123/comments";
const HOUR_MS = 3_600_000;

interface Client {
  send(method: string, path: string, more?: object): Promise<{ status: number }>;
  query(query: string, variables: object): Promise<object>;
}
type ClientClass = new (env: object, over: { pause: (ms: number) => Promise<void> }) => Client;

let service: GithubServer;
let pauses: number[] = [];

beforeEach(async () => {
  service = await GithubServer.start();
  pauses = [];
});
afterEach(() => service.close());

/** The action's way to GitHub; its pauses are noted, and take no time. */
async function aClient(env: object = { ASKD_GITHUB_WRITE_MS: "0" }) {
  const { GitHub } = (await import(FILE)) as { GitHub: ClientClass };
  const pause = async (ms: number) => void pauses.push(ms);
  return new GitHub({ GITHUB_API_URL: service.base, GITHUB_TOKEN, ...env }, { pause });
}

const write = (client: Client) => client.send("POST", COMMENTS, { body: { body: "hello" }, expected: [201] });
const SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";

test.each([
  ["a second limit without a time", { status: 403, message: SECONDARY }, 60_000],
  ["too many requests without a time", { status: 429, message: "Too many requests" }, 60_000],
  ["a limit with a time", { status: 403, message: SECONDARY, headers: { "retry-after": "90" } }, 90_000],
])("after %s a request is sent again when GitHub wants it", async (_name, reply, waitMs) => {
  service.limits.plan(/^POST /, reply);
  expect(await write(await aClient())).toMatchObject({ status: 201 });
  expect(pauses).toEqual([waitMs]);
  expect(service.comments).toHaveLength(1);
});

test("the end of the hour's limit is waited for if it is near, and named if it is not", async () => {
  const limited = (ms: number) => {
    const resetS = String(Math.ceil((Date.now() + ms) / 1000));
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": resetS };
    service.limits.plan(/^POST /, { status: 403, message: "API rate limit exceeded", headers });
  };
  const client = await aClient();
  limited(120_000);
  await write(client);
  expect(pauses).toEqual([expect.closeTo(121_000, -4)]);
  limited(HOUR_MS);
  await expect(write(client)).rejects.toThrow(/API rate limit exceeded; try again in (59|60|61) minutes/);
});

test("a refusal that is no limit is not sent again", async () => {
  service.limits.plan(/^POST /, { status: 403, message: "Resource not accessible by integration" });
  await expect(write(await aClient())).rejects.toThrow("Resource not accessible by integration");
  expect(pauses).toEqual([]);
});

test("a pause is between two changes, and reading waits for nothing", async () => {
  const client = await aClient({ ASKD_GITHUB_WRITE_MS: String(HOUR_MS) });
  await write(client);
  await client.send("GET", COMMENTS);
  await client.query("query", { id: "none" });
  expect(pauses).toEqual([]);
  await write(client);
  expect(pauses).toHaveLength(1);
  expect(pauses[0]).toBeGreaterThan(HOUR_MS - 60_000);
  const usual = await aClient({});
  await write(usual);
  await write(usual);
  expect(pauses.slice(1).filter((ms) => ms > 1_000)).toEqual([]);
});
