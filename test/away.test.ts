import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { DAY_MS } from "../src/core/instant.ts";
import { inboxSectionOf } from "../src/core/people/inbox.ts";
import { SYSTEM } from "../src/core/people/actor.ts";
import { createRemoteEngine } from "../src/engine/remote/remote-engine.ts";
import { ADA, AGENT } from "./builders.ts";
import { Board } from "./channels/board-channel.ts";
import { Scene, pendingOf, said } from "./scene.ts";
import { ServedScene } from "./served.ts";
import { type } from "./typed.ts";

const LENA = { ...ADA, id: "lena" };
const MIKA = { ...ADA, id: "mika" };
const REACH = [
  { name: "telegram", person: undefined, isPersonal: true },
  { name: "ntfy", person: undefined, isPersonal: false },
];

async function aScene() {
  const board = new Board();
  const scene = new Scene({ rules: { reach: REACH }, openChannel: board.open });
  for (const id of ["ada", "lena", "mika"])
    await scene.engine.putPerson({ id, groups: id === "ada" ? [] : ["ops"], telegram: id, version: 0 }, SYSTEM);
  return { scene, board };
}

async function toldOf(scene: Scene, raw: Record<string, unknown>) {
  const { question } = await scene.ask({ notify: ["telegram"], ...raw });
  return question.deliveries?.map(({ person }) => person);
}

describe("somebody who is away", () => {
  test("has a delegate, who is told too, sees it in their inbox, and the message says why", async () => {
    const { scene, board } = await aScene();
    const typed = await type(scene, ["away", "3d", "--delegate", "@mika"], { user: "lena" });
    expect(typed).toMatchObject({ exit: 0, stdout: expect.stringContaining("mika gets their questions too") });
    const { question } = await scene.ask({ to: ["lena"], notify: ["telegram"] });
    expect(question.deliveries?.map(({ person }) => person)).toEqual(["lena", "mika"]);
    expect(question.delegates).toEqual([{ person: "lena", delegate: "mika" }]);
    await scene.pass(0);
    for (const { text } of board.messages.values()) expect(text).toContain("lena is away; mika gets it too");
    const shown = await type(scene, ["show", question.id]);
    expect(shown.stdout).toContain("lena is away; mika gets it too.");
    const pending = pendingOf(await scene.engine.read(question.id));
    expect(inboxSectionOf(pending, { id: "mika", groups: [] }, scene.now)).toBe("waiting");
    expect(inboxSectionOf(pending, { id: "ada", groups: [] }, scene.now)).toBe("others");
    expect((await scene.engine.answer(question.id, said("1"), MIKA)).question.status).toBe("answered");
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("is back at the end of that time, or when they say so", async () => {
    const { scene } = await aScene();
    await type(scene, ["away", "3d", "--delegate", "mika"], { user: "lena" });
    scene.skip(3 * DAY_MS);
    expect(await toldOf(scene, { to: ["lena"] })).toEqual(["lena"]);
    await type(scene, ["away", "--delegate", "mika"], { user: "lena" });
    expect(await toldOf(scene, { to: ["lena"] })).toEqual(["lena", "mika"]);
    expect(await type(scene, ["away", "--end"], { user: "lena" })).toMatchObject({
      exit: 0,
      stdout: "✓ lena is back\n",
    });
    expect(await toldOf(scene, { to: ["lena"] })).toEqual(["lena"]);
  });

  test("hands on no right that approvals.from gives: the delegate hears of it and cannot answer", async () => {
    const { scene } = await aScene();
    await scene.engine.setAway("lena", { delegate: "ada" }, LENA);
    const { question } = await scene.ask({ notify: ["telegram"], approvals: { from: ["lena"] } });
    expect(question.deliveries?.map(({ person }) => person)).toEqual(["ada", "lena"]);
    await expect(scene.engine.answer(question.id, said("1"), ADA)).rejects.toMatchObject({ code: "not_permitted" });
    expect((await scene.engine.answer(question.id, said("1"), LENA)).question.status).toBe("answered");
  });
});

describe("who is away is said", () => {
  test("by themselves or an admin, and by no agent", async () => {
    const { scene } = await aScene();
    await expect(scene.engine.setAway("lena", {}, ADA)).rejects.toMatchObject({ code: "not_permitted" });
    await expect(scene.engine.setAway("lena", {}, AGENT)).rejects.toMatchObject({ code: "not_permitted" });
    expect(await scene.engine.setAway("lena", {}, { ...ADA, scope: "admin" })).toMatchObject({ away: {} });
  });

  test.each([
    ["a delegate whom nobody knows", ["away", "--delegate", "nobody"], 'There is no person "nobody"'],
    ["oneself as the delegate", ["away", "--delegate", "lena"], "Nobody can be their own delegate"],
    ["a time that is over", ["away", "2025-01-01"], "over already"],
    ["--end with a time", ["away", "2d", "--end"], "--end goes alone"],
  ])("not with %s", async (_, argv, said) => {
    const { scene } = await aScene();
    const { exit, stderr } = await type(scene, argv, { user: "lena" });
    expect({ exit: exit > 0, stderr }).toEqual({ exit: true, stderr: expect.stringContaining(said) });
  });

  test("over REST, and it outlives a change of the person by an admin", async () => {
    const { scene } = await aScene();
    const served = await ServedScene.start({}, scene);
    const token = await served.token({ subject: "lena" });
    const body = { away: { until: "2026-02-01T00:00:00.000Z", delegate: "mika" } };
    expect(await served.send("PUT", "/api/v1/people/lena/away", { token, body })).toMatchObject({ status: 200, body });
    const admin = await served.token({ scope: "admin" });
    await served.send("PUT", "/api/v1/people/lena", { token: admin, body: { groups: ["web"] } });
    expect(await scene.engine.findPerson("lena")).toMatchObject({ groups: ["web"], away: body.away });
    await served.stop();
  });
});

describe("people say where they want to be told:", () => {
  test("themselves, without being an admin, by the same command; nobody says it of others, and no agent", async () => {
    const { scene } = await aScene();
    const served = await ServedScene.start({}, scene);
    const token = await served.token({ subject: "lena" });
    const engine = createRemoteEngine({ url: served.url, tokenFor: () => token, newKey: () => randomUUID(), fetch });
    const openEngine = () => Promise.resolve(engine);
    const set = (...argv: string[]) => type(scene, ["user", "set", ...argv], { user: "lena", openEngine });
    expect(await set("lena", "--quiet-hours", "22:00-07:00 UTC", "--digest", "15m")).toMatchObject({ exit: 0 });
    expect(await set("lena", "--mute", "ntfy")).toMatchObject({ exit: 0 });
    expect(await scene.engine.findPerson("lena")).toMatchObject({
      quiet: "22:00-07:00 UTC",
      digest: "15m",
      muted: ["ntfy"],
      groups: ["ops"],
      telegram: "lena",
    });
    const others = await set("mika", "--mute", "ntfy");
    expect(others.stderr).toContain("Only mika or an admin can change their preferences");
    expect((await set("lena", "--group", "admins")).stderr).toContain("It takes one of scope admin");
    await expect(scene.engine.setPreferences("lena", {}, AGENT)).rejects.toMatchObject({ code: "not_permitted" });
    const admin = { ...ADA, scope: "admin" } as const;
    expect((await scene.engine.setPreferences("lena", {}, admin)).muted).toBeUndefined();
    await served.stop();
  });

  test("in the first channel that they prefer and that reaches them, and never in one that they muted", async () => {
    const { scene } = await aScene();
    const set = (...argv: string[]) => type(scene, ["user", "set", "lena", ...argv]);
    expect((await set("--ntfy", "lena-phone", "--channel", "ntfy,telegram")).exit).toBe(0);
    const told = async () => {
      const { question } = await scene.ask({ to: ["lena"] });
      return question.deliveries?.map(({ channel, person }) => `${channel} ${person ?? "-"}`);
    };
    expect(await told()).toEqual(["ntfy lena", "ntfy -"]);
    await set("--mute", "ntfy");
    expect(await told()).toEqual(["telegram lena", "ntfy -"]);
    await set("--mute", "", "--channel", "");
    expect(await told()).toEqual(["telegram lena", "ntfy lena", "ntfy -"]);
    expect((await type(scene, ["user", "set", "lena", "--channel", "Pigeon Post"])).exit).toBe(2);
  });
});
