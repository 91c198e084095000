import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { MemoryStore } from "../../../test/memory-store/memory.ts";
import { createDatabase } from "../../../test/postgres.ts";
import { Scene, said } from "../../../test/scene.ts";
import type { Store } from "../../store/store.ts";
import { STORE_CHAIN } from "../../core/id.ts";
import { type Actor, SYSTEM } from "../../core/people/actor.ts";
import { openPostgres } from "../../store/postgres/postgres.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite.ts";

const KINDS = ["memory", "SQLite", "PostgreSQL"] as const;
type Kind = (typeof KINDS)[number];

const person = (id: string): Actor => ({ ...ADA, id });
const admin = (id: string): Actor => ({ ...person(id), scope: "admin" });
let databases = 0;

/** A store that is removed after the test. */
async function open(kind: Kind): Promise<Store | undefined> {
  if (kind === "memory") return undefined;
  if (kind === "PostgreSQL") {
    const store = await openPostgres({ url: await createDatabase(`people_${process.pid}_${(databases += 1)}`) });
    onTestFinished(() => store.close());
    return store;
  }
  const dir = mkdtempSync(join(tmpdir(), "askd-people-"));
  const store = await openSqliteStore(join(dir, "askd.db"));
  onTestFinished(async () => {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return store;
}

async function stage(kind: Kind, ...names: string[]): Promise<Scene> {
  const store = await open(kind);
  const scene = new Scene({ store: (now) => store ?? new MemoryStore(now) });
  for (const id of names) await scene.engine.putPerson({ id, version: 0, groups: [] }, SYSTEM);
  return scene;
}

async function eventsOf({ store }: Scene): Promise<string[]> {
  return (await store.readChain(STORE_CHAIN)).events.map(({ event }) => event.type);
}

async function isIn({ engine }: Scene, text: string): Promise<boolean> {
  return (await engine.authenticate(text, "api")) !== undefined;
}

describe.each(KINDS)("on %s", { timeout: 120_000 }, (kind) => {
  test("tokens end with the person who made them or for whom they speak, unless they are handed over", async () => {
    const scene = await stage(kind, "cho", "lena");
    const { engine } = scene;
    const ci = await engine.issueToken({ scope: "agent", subject: "ci" }, person("cho"));
    const kept = await engine.issueToken({ scope: "agent", subject: "ci" }, person("cho"));
    const own = await engine.issueToken({ scope: "human", subject: "cho" }, admin("lena"));
    const bot = await engine.issueToken({ scope: "human", subject: "bot" }, admin("cho"));
    const grandchild = await engine.issueToken({ scope: "agent", subject: "deep" }, person("bot"));
    const other = await engine.issueToken({ scope: "agent", subject: "ci" }, person("lena"));
    const { question } = await scene.ask();
    const link = await engine.issueLink(question.id, "lena", admin("cho"));
    const login = await engine.issueToken({ scope: "login", subject: "cho" }, person("cho"));
    const session = await engine.redeemLogin(
      (await engine.issueToken({ scope: "login", subject: "cho" }, person("cho"))).text,
      SYSTEM,
    );
    await engine.handOverToken(kept.token.id, "lena", admin("lena"));
    await engine.removePerson("cho", {}, admin("lena"));
    const ended = [ci, own, bot, grandchild, session];
    for (const { text } of ended) expect(await isIn(scene, text)).toBe(false);
    for (const { text } of [kept, other]) expect(await isIn(scene, text)).toBe(true);
    expect(await engine.authenticate(link.text, "link")).toBeUndefined();
    await expect(engine.redeemLogin(login.text, SYSTEM)).rejects.toMatchObject({ code: "sign_in" });
    await expect(engine.issueToken({ scope: "agent", subject: "ci" }, person("cho"))).rejects.toThrow("was removed");
    expect((await engine.listTokens(SYSTEM)).filter(({ maker, revokedAt }) => maker === "cho" && !revokedAt)).toEqual(
      [],
    );
    expect((await engine.verify()).problems).toEqual([]);
  });

  test("a removal hands over what the person made for others, and not what speaks for them", async () => {
    const scene = await stage(kind, "cho", "lena");
    const ci = await scene.engine.issueToken({ scope: "agent", subject: "ci" }, person("cho"));
    const own = await scene.engine.issueToken({ scope: "human", subject: "cho" }, person("cho"));
    const trial = await scene.engine.removePerson("cho", { handOverTo: "lena", isTrial: true }, SYSTEM);
    expect(Object.fromEntries(trial.tokens.map(({ subject, handedTo }) => [subject, handedTo]))).toEqual({
      cho: undefined,
      ci: "lena",
    });
    expect(await scene.engine.findPerson("cho")).toBeDefined();
    for (const handOverTo of ["cho", "nobody"]) {
      await expect(scene.engine.removePerson("cho", { handOverTo }, SYSTEM)).rejects.toMatchObject({
        code: "bad_input",
      });
    }
    await scene.engine.removePerson("cho", { handOverTo: "lena" }, SYSTEM);
    expect([await isIn(scene, ci.text), await isIn(scene, own.text)]).toEqual([true, false]);
    await scene.engine.removePerson("lena", {}, SYSTEM);
    expect(await isIn(scene, ci.text)).toBe(false);
  });

  test("what somebody holds is listed with what becomes of it, and goes with them in one commit", async () => {
    const scene = await stage(kind, "cho", "lena", "mika");
    const { engine } = scene;
    const claimed = (await scene.ask({ question: "Claimed?" })).question;
    const assigned = (await scene.ask({ question: "Assigned?" })).question;
    const approvals = { need: 2, from: ["cho", "lena"] };
    const voted = (await scene.ask({ question: "Both?", options: ["yes", "no"], approvals })).question;
    const enough = { need: 2, from: ["cho", "lena", "mika"] };
    const still = (await scene.ask({ question: "Two of three?", options: ["yes", "no"], approvals: enough })).question;
    await engine.claim(claimed.id, person("cho"));
    await engine.assign(assigned.id, ["cho", "mika"], person("lena"));
    await engine.answer(voted.id, said("yes"), person("cho"));
    await engine.answer(still.id, said("yes"), person("cho"));
    const commits: number[] = [];
    const stop = scene.store.onChange(({ questions }) => commits.push(questions.size));
    const removal = await engine.removePerson("cho", {}, SYSTEM);
    stop();
    expect(commits.filter((count) => count > 0)).toEqual([4]);
    const ids = (held: ReadonlyArray<{ id: string }>): string[] => held.map(({ id }) => id);
    expect(removal.isRemoved).toBe(true);
    expect(ids(removal.claims)).toEqual([claimed.id]);
    expect(removal.assignments).toEqual([{ id: assigned.id, title: "Assigned?", to: ["mika"] }]);
    expect(ids(removal.votes).toSorted()).toEqual([voted.id, still.id].toSorted());
    expect(removal.approvals).toMatchObject([{ id: voted.id, need: 2, left: 1 }]);
    expect((await engine.read(claimed.id)).question.claim).toBeUndefined();
    expect((await engine.read(assigned.id)).question.to).toEqual(["mika"]);
    const after = await engine.answer(still.id, said("yes"), person("lena"));
    expect(after.question.status).toBe("pending");
    expect((await engine.answer(still.id, said("yes"), person("mika"))).question.status).toBe("answered");
    expect((await engine.verify()).problems).toEqual([]);
  });

  test("a vote that comes while its voter is being removed does not count for those who vote later", async () => {
    const scene = await stage(kind, "cho", "lena", "mika");
    const approvals = { need: 2, from: ["cho", "lena", "mika"] };
    const { question } = await scene.ask({ question: "Two?", options: ["yes", "no"], approvals });
    await scene.engine.removePerson("cho", {}, SYSTEM);
    // The request was let in before the removal and is written after it.
    await scene.engine.answer(question.id, said("yes"), person("cho"));
    expect((await scene.engine.answer(question.id, said("yes"), person("lena"))).question.status).toBe("pending");
  });

  test("a vote in its undo window is taken back with its voter", async () => {
    const scene = await stage(kind, "cho", "lena");
    const approvals = { need: 2, from: ["cho", "lena"] };
    const { question } = await scene.ask({ question: "Both?", options: ["yes", "no"], approvals, on_timeout: "wait" });
    await scene.engine.answer(question.id, said("yes"), person("cho"));
    await scene.engine.answer(question.id, { ...said("yes"), undoMs: 5_000 }, person("lena"));
    await scene.engine.removePerson("cho", {}, SYSTEM);
    await scene.pass(6_000);
    expect((await scene.engine.read(question.id)).question.status).toBe("pending");
  });

  test("the last admin can be neither removed nor lowered, also where two go at once", async () => {
    for (let order = 0; order < 6; order += 1) {
      const scene = await stage(kind, "cho", "lena");
      const { engine } = scene;
      const tokens = [
        (await engine.issueToken({ scope: "admin", subject: "cho" }, SYSTEM)).token,
        (await engine.issueToken({ scope: "admin", subject: "lena" }, SYSTEM)).token,
      ];
      const acts = [
        () => engine.removePerson("cho", {}, admin("lena")),
        () => engine.removePerson("lena", {}, admin("cho")),
        () => engine.revokeToken(tokens[0]?.id ?? "", admin("lena")),
        () => engine.revokeToken(tokens[1]?.id ?? "", admin("cho")),
      ];
      const [first, second] =
        [
          [0, 1],
          [1, 0],
          [0, 3],
          [3, 0],
          [2, 3],
          [2, 1],
        ][order] ?? [];
      const done = await Promise.allSettled([acts[first ?? 0]?.(), acts[second ?? 0]?.()]);
      expect(done.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const refused = done.find((each) => each.status === "rejected");
      expect(refused).toMatchObject({
        reason: { code: "not_permitted", message: expect.stringContaining("last admin") },
      });
      const left = (await engine.listTokens(SYSTEM)).filter(({ revokedAt }) => revokedAt === undefined);
      expect(left).toHaveLength(1);
    }
  });

  test("removed people come back with nothing of what they had", async () => {
    const scene = await stage(kind, "cho");
    const { text } = await scene.engine.issueToken({ scope: "human", subject: "cho" }, SYSTEM);
    await scene.engine.removePerson("cho", {}, SYSTEM);
    await expect(scene.engine.removePerson("cho", {}, SYSTEM)).rejects.toMatchObject({ code: "not_found" });
    await scene.engine.putPerson({ id: "cho", version: 0, groups: [] }, SYSTEM);
    expect(await isIn(scene, text)).toBe(false);
    expect(await eventsOf(scene)).toEqual([
      "person.added",
      "token.made",
      "person.removed",
      "token.revoked",
      "person.added",
    ]);
  });

  test("two people cannot have one address, in whatever case and at the same moment", async () => {
    const scene = await stage(kind);
    const put = (id: string, more: object) => scene.engine.putPerson({ id, version: 0, groups: [], ...more }, SYSTEM);
    await put("ada", { email: "ada@example.com", slack: "U1", github: "ada" });
    for (const same of [{ email: "Ada@Example.com" }, { slack: "U1" }, { github: "Ada" }]) {
      await expect(put("lena", same)).rejects.toMatchObject({ code: "bad_input" });
    }
    expect(await put("ada", { email: "ada@example.com", groups: ["ops"] })).toMatchObject({ id: "ada" });
    await put("lena", { email: "lena@example.com" });
    await expect(put("lena", { email: "ada@example.com" })).rejects.toThrow("ada has the same e-mail address");
    const both = await Promise.allSettled(["mika", "noor"].map((id) => put(id, { email: "team@example.com" })));
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});
