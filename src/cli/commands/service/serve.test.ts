import { describe, expect, test } from "vitest";
import { SYSTEM } from "../../../core/people/actor.ts";
import type { ServeRequest } from "../../context.ts";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

describe("serve", () => {
  test.each([
    [["--host", "0.0.0.0"], 7],
    [["--host", "192.168.0.9", "--name", "askd.example"], 7],
    [["--behind-proxy"], 2],
    [["--port", "70000"], 2],
    [["--port", "http"], 2],
  ])("%j is refused before anything listens", async (argv, exit) => {
    expect((await type(new Scene(), ["serve", ...argv])).exit).toBe(exit);
  });

  test("prints where it is, works until interrupted, and closes", async () => {
    const requests: ServeRequest[] = [];
    const done: string[] = [];
    const interrupted = new AbortController();
    const scene = new Scene();
    const result = type(scene, ["serve", "--port", "0"], {
      // Its server has opened the store: another engine would take more connections.
      openEngine: () => Promise.reject(new Error("the store is opened twice")),
      interrupt: () => interrupted.signal,
      openServer: async (_at, request) => {
        requests.push(request);
        return {
          url: "http://127.0.0.1:1234",
          engine: scene.engine,
          work: () => {
            done.push("work");
            interrupted.abort();
            return new Promise<void>(() => undefined);
          },
          close: async () => void done.push("close"),
        };
      },
    });
    expect(await result).toMatchObject({ exit: 0, stdout: "http://127.0.0.1:1234\n" });
    expect(requests).toEqual([{ port: 0, names: [], isSecure: false }]);
    expect(done).toEqual(["work", "close"]);
  });
});

test.each([
  { where: "on a terminal", isTty: true, flags: [], link: /open this link once: (http:\/\/127\.0\.0\.1:1234\/\S+)/ },
  {
    where: "behind a proxy",
    isTty: true,
    flags: ["--behind-proxy", "--name", "askd.example.com"],
    link: /open this link once: (https:\/\/askd\.example\.com\/\S+)/,
  },
  { where: "in a log", isTty: false, flags: [], link: undefined },
])("serve prints a link that signs in with one click $where", async ({ isTty, flags, link }) => {
  const interrupted = new AbortController();
  const scene = new Scene();
  let stderr = "";
  await type(scene, ["serve", "--port", "0", ...flags], {
    stderr: { write: (text) => void (stderr += text), isTty, columns: 80 },
    interrupt: () => interrupted.signal,
    openServer: async () => ({
      url: "http://127.0.0.1:1234",
      engine: scene.engine,
      work: () => {
        interrupted.abort();
        return new Promise<void>(() => undefined);
      },
      close: () => Promise.resolve(),
    }),
  });
  const found = link?.exec(stderr)?.[1];
  if (link === undefined) return expect(stderr).not.toContain("open this link");
  expect(stderr).toMatch(link);
  expect(new URL(found ?? "").searchParams.get("as")).toBe("ada");
});

describe("token", () => {
  test("is made, listed without its text, and revoked by the start of its id", async () => {
    const scene = new Scene();
    const { stdout } = await type(scene, ["token", "create", "--scope", "human", "--subject", "lena"]);
    expect(stdout).toMatch(/^askd_h_[\w-]+\n$/);
    const text = stdout.trim();
    expect((await scene.engine.authenticate(text, "api"))?.actor).toMatchObject({ id: "lena", scope: "human" });
    const listed = await type(scene, ["token", "list"]);
    expect(listed.stdout).toMatch(/^[0-9a-f]{12} {2}human {2}good until 2026-04-01T\S+ {2}lena {2}made by ada /);
    expect(listed.stdout).not.toContain(text);
    expect((await type(scene, ["token", "revoke", listed.stdout.slice(0, 12)])).exit).toBe(0);
    expect(await scene.engine.authenticate(text, "api")).toBeUndefined();
    expect((await type(scene, ["token", "revoke", "nothing"])).exit).toBe(5);
  });

  test("of one subject are told apart by their names, handed over, and revoked by name", async () => {
    const scene = new Scene();
    await scene.engine.putPerson({ id: "lena", version: 0, groups: [] }, SYSTEM);
    const create = ["token", "create", "--scope", "agent", "--subject", "ci"];
    const texts: string[] = [];
    for (const name of ["nightly", "release"]) {
      texts.push((await type(scene, [...create, "--name", name])).stdout.trim());
    }
    const listed = (await type(scene, ["token", "list"])).stdout;
    expect(listed).toMatch(/ci {2}"nightly", made by ada \S+, never used\n/);
    expect(listed).toMatch(/ci {2}"release", made by ada \S+, never used\n/);
    expect((await type(scene, ["token", "hand-over", "release", "--to", "nobody"])).exit).toBe(2);
    expect((await type(scene, ["token", "hand-over", "release"])).exit).toBe(2);
    const handed = await type(scene, ["token", "hand-over", "release", "--to", "lena", "--json=maker"]);
    expect(JSON.parse(handed.stdout)).toEqual({ maker: "lena" });
    expect((await type(scene, ["token", "revoke", "nightly"])).exit).toBe(0);
    const found = await Promise.all(texts.map((text) => scene.engine.authenticate(text, "api")));
    expect(found.map((each) => each !== undefined)).toEqual([false, true]);
    await type(scene, [...create, "--name", "release"]);
    expect((await type(scene, ["token", "revoke", "release"])).stderr).toMatch(
      /"release" matches several tokens: \w{12}, \w{12}/,
    );
    const never = await type(scene, [...create, "--expires", "never", "--json=expires_at"]);
    expect(JSON.parse(never.stdout)).toEqual({ expires_at: null });
  });

  test("is never made by an agent in its run", async () => {
    const scene = new Scene();
    const run = await scene.startedRun();
    const env = { ASKD_RUN: run.id };
    const argv = ["token", "create", "--scope", "human", "--subject", "ada"];
    expect((await type(scene, argv, { env })).exit).toBe(7);
    expect((await type(scene, ["login"], { env })).exit).toBe(7);
  });
});

test("login prints a code that works once, and where to type it", async () => {
  const scene = new Scene();
  const { stdout, stderr } = await type(scene, ["login"], {
    findServer: () => Promise.resolve("http://127.0.0.1:4319"),
  });
  expect(stderr).toBe("Open http://127.0.0.1:4319/login and enter it there\n");
  const by = { scope: "system", id: "login", channel: "web", strength: "none" } as const;
  expect((await scene.engine.redeemLogin(stdout.trim(), by)).token).toMatchObject({ scope: "human", subject: "ada" });
  await expect(scene.engine.redeemLogin(stdout.trim(), by)).rejects.toMatchObject({ code: "sign_in" });
});

describe("link", () => {
  test("prints where one person answers one question, and is revoked with the question's name", async () => {
    const scene = new Scene();
    const { question } = await scene.ask();
    const findServer = () => Promise.resolve("http://127.0.0.1:4319");
    const made = await type(scene, ["link", question.id, "--for", "lena", "--choose", "Redis"], { findServer });
    expect(made.stdout).toMatch(/^http:\/\/127\.0\.0\.1:4319\/a\/askd_l_[\w-]{27}\?choose=Redis\n$/);
    const text = /askd_l_[\w-]{27}/.exec(made.stdout)?.[0] ?? "";
    const found = await scene.engine.authenticate(text, "link");
    expect(found?.actor).toMatchObject({ id: "lena", scope: "human", channel: "link" });
    expect(found?.token.questionId).toBe(question.id);
    expect((await type(scene, ["link", question.id, "--revoke"])).stdout).toContain("1 link to ");
    expect(await scene.engine.authenticate(text, "link")).toBeUndefined();
  });

  test("needs a person's name, and is never made by an agent in its run", async () => {
    const scene = new Scene();
    const { question } = await scene.ask();
    const env = { ASKD_RUN: (await scene.startedRun()).id };
    expect((await type(scene, ["link", question.id])).exit).toBe(2);
    expect((await type(scene, ["link", question.id, "--for", "lena"], { env })).exit).toBe(7);
    expect((await type(scene, ["link", "q-zzzz", "--for", "lena"])).exit).toBe(5);
  });
});
