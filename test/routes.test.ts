import { describe, expect, test } from "vitest";
import type { Channel } from "../src/core/channel/channel.ts";
import { findRoute, type Route } from "../src/core/channel/route.ts";
import { SYSTEM } from "../src/core/people/actor.ts";
import type { Question } from "../src/core/question/question.ts";
import type { Run } from "../src/core/run/run.ts";
import { ADA, AGENT, aQuestion, aRun } from "./builders.ts";
import { Board } from "./channels/board-channel.ts";
import { ConfigHome } from "./config-home.ts";
import { Scene, said } from "./scene.ts";
import { type } from "./typed.ts";

const REACH = [
  { name: "telegram", person: undefined, isPersonal: true },
  { name: "ntfy", person: undefined, isPersonal: false },
];
const ROUTES: Route[] = [
  { name: "payments", repo: ["acme/pay*"], label: ["money"], people: ["ops"], channels: ["telegram"] },
  { name: "risky", risk: ["high"], kind: ["approval"], people: ["lena"], channels: [] },
  { name: "others", people: [], channels: ["ntfy"] },
];

describe("the first rule that matches counts:", () => {
  test.each([
    ["payments", { repo: "acme/payments", labels: ["money", "later"] }, {}],
    ["payments", { repo: "ACME/pay", labels: ["money"] }, { risk: "high", kind: "approval" }],
    ["risky", { repo: "acme/payments", labels: [] }, { risk: "high", kind: "approval" }],
    ["others", { repo: "acme/payments", labels: [] }, { risk: "high", kind: "question" }],
    ["others", {}, {}],
  ] as const)("%s for the run %j with the question %j", (name, run, question) => {
    const found = findRoute(
      ROUTES,
      aQuestion(question),
      aRun({ ...run, labels: [...("labels" in run ? run.labels : [])] }),
    );
    expect(found?.name).toBe(name);
  });

  test("none where none matches", () => {
    const agents: Route[] = [{ name: "codex", agent: ["codex"], people: ["ada"], channels: [] }];
    expect(findRoute(agents, aQuestion(), aRun({ agent: "claude" }))).toBeUndefined();
    expect(findRoute(agents, aQuestion(), aRun({ agent: "codex" }))).toBe(agents[0]);
  });
});

describe("what only the asker claims chooses no rule:", () => {
  const claimed = { agent: "asker", repo: "asker", labels: "asker" } as const;
  const general: Route = { name: "general", people: ["ops"], channels: [] };
  const rule = (over: Partial<Route>): Route => ({ ...general, name: "chosen", people: ["nobody"], ...over });

  test.each([
    ["the repository", rule({ repo: ["acme/*"] })],
    ["the agent", rule({ agent: ["claude"] })],
    ["a label", rule({ label: ["quiet"] })],
    ["a low risk", rule({ risk: ["low"] })],
  ])("%s", (_name, chosen) => {
    const run = { repo: "acme/api", agent: "claude", labels: ["quiet"] };
    const find = (sources: Run["sources"], riskSource: Question["riskSource"]) =>
      findRoute([chosen, general], aQuestion({ risk: "low", riskSource }), aRun({ ...run, sources }))?.name;
    expect(find({ agent: "measured", repo: "measured", labels: "person" }, "person")).toBe("chosen");
    expect(find(claimed, "asker")).toBe("general");
    expect(find(undefined, undefined)).toBe("general");
  });

  test("a claimed low risk goes where a question without a risk goes, a claimed high risk to its rule", () => {
    const rules = [rule({ name: "high", risk: ["high"] }), rule({ name: "medium", risk: ["medium"] })];
    const find = (risk: Question["risk"]) => findRoute(rules, aQuestion({ risk, riskSource: "asker" }), aRun())?.name;
    expect([find("low"), find("medium"), find("high")]).toEqual(["medium", "medium", "high"]);
  });

  test("the people whom the settings name otherwise are told", async () => {
    const scene = await aScene();
    const { question } = await scene.engine.ask(scene.input(), AGENT, { run: PAYMENTS });
    expect(question.route).toBe("others");
    const told = question.deliveries?.map(({ channel, person }) => `${channel} ${person ?? "-"}`);
    expect(told).toEqual(["telegram ada", "telegram lena", "telegram mika", "ntfy -"]);
  });
});

async function aScene(routes = ROUTES) {
  const board = new Board();
  const scene = new Scene({ rules: { reach: REACH, routes }, openChannel: board.open });
  const people = { ada: [], lena: ["ops"], mika: ["ops"] };
  for (const [id, groups] of Object.entries(people))
    await scene.engine.putPerson({ id, groups, telegram: id, version: 0 }, SYSTEM);
  return scene;
}

async function askIn(scene: Scene, run: { repo?: string; labels?: string[] }, raw: Record<string, unknown> = {}) {
  const { question } = await scene.engine.ask(scene.input(raw), SYSTEM, { run });
  return { question, told: question.deliveries?.map(({ channel, person }) => `${channel} ${person ?? "-"}`) };
}

const PAYMENTS = { repo: "acme/payments", labels: ["money"] };

describe("a question goes where its rule says,", () => {
  test("to the people of the rule in its channels, and the question keeps which rule it was", async () => {
    const { question, told } = await askIn(await aScene(), PAYMENTS);
    expect(question).toMatchObject({ to: ["ops"], route: "payments" });
    expect(told).toEqual(["telegram lena", "telegram mika"]);
  });

  test("unless it names people or channels itself", async () => {
    const { told } = await askIn(await aScene(), PAYMENTS, { to: ["ada"] });
    expect(told).toEqual(["telegram ada"]);
    const named = await askIn(await aScene(), PAYMENTS, { to: ["ada"], notify: ["ntfy"] });
    expect(named.question.route).toBeUndefined();
    expect(named.told).toEqual(["telegram ada", "ntfy -"]);
  });

  test("also where it names only channels that are not configured here", async () => {
    const { told, question } = await askIn(await aScene(), PAYMENTS, { notify: ["slack"] });
    expect(told).toEqual(["telegram lena", "telegram mika"]);
    expect(question.notify.map(({ channel }) => channel)).toEqual(["slack", "telegram"]);
  });
});

describe("people and groups of the settings", () => {
  const directory = { people: { lena: { name: "Lena", telegram: "7" } }, groups: { ops: ["lena", "mika"] } };
  const LENA = { ...ADA, id: "lena" };
  const aConfiguredScene = () => new Scene({ rules: { reach: REACH, directory }, openChannel: new Board().open });

  test("are told and may answer like those of askd user, and nobody else", async () => {
    const scene = aConfiguredScene();
    const { question } = await scene.ask({ notify: ["telegram"], approvals: { from: ["@ops"] } });
    expect(question.deliveries).toMatchObject([{ channel: "telegram", person: "lena" }]);
    await expect(scene.engine.answer(question.id, said("1"), ADA)).rejects.toMatchObject({ code: "not_permitted" });
    expect((await scene.engine.answer(question.id, said("1"), LENA)).question.status).toBe("answered");
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("are not copied into the store, and what the store says of them counts first", async () => {
    const scene = aConfiguredScene();
    const set = await type(scene, ["user", "set", "lena", "--name", "Lena L", "--group", "ops,web"]);
    expect(set.exit).toBe(0);
    expect((await scene.store.findEntry("person", "lena"))?.body).toMatchObject({ name: "Lena L", groups: ["web"] });
    expect((await scene.store.findEntry("person", "lena"))?.body).not.toHaveProperty("telegram", "7");
    expect(await scene.engine.findPerson("lena")).toMatchObject({
      name: "Lena L",
      telegram: "7",
      groups: ["web", "ops"],
    });
  });

  test("are removed in the settings", async () => {
    const { exit, stderr } = await type(aConfiguredScene(), ["user", "remove", "mika"]);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining("because the settings say so") });
  });
});

test("--dry-run shows who would be told, where and by which rule, and asks nothing", async () => {
  const scene = await aScene([]);
  const home = new ConfigHome();
  home.write(
    home.userFile,
    [
      '[channels.ntfy]\ntopic = "questions"',
      '[people.lena]\nntfy = "lena-topic"\nname = "Lena"',
      '[groups]\nops = ["lena", "mika"]',
      '[[routes]]\nname = "approvals"\nkind = "approval"\npeople = ["@ops"]',
      "",
    ].join("\n"),
  );
  const board = new Board();
  const over = { ...home.around(), openChannelOf: () => Promise.resolve(board) };
  const argv = ["ask", "--kind", "approval", "Deploy?", "--dry-run"];
  const { exit, stdout } = await type(scene, [...argv, "--json"], over);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toEqual([
    expect.objectContaining({ channel: "ntfy", person: "lena", rule: "approvals" }),
    expect.objectContaining({ channel: "ntfy", person: null, rule: "approvals" }),
  ]);
  const page = await type(scene, argv, over);
  expect(page.stdout).toContain('For ops (lena, mika), by the rule "approvals"\n');
  expect(page.stdout).toContain("ntfy, lena:\n{");
  expect(page.stdout).toContain("Not reached: mika\n");
  expect(await scene.engine.listQuestions({ order: "oldest", limit: 10 })).toEqual([]);
});

test("--dry-run shows whom a message mentions at a shared address", async () => {
  const scene = await aScene([]);
  const home = new ConfigHome();
  const slack = '[channels.slack]\nmode = "socket"\nchannel = "C1"\ntoken_env = "A"\napp_token_env = "B"';
  home.write(home.userFile, `${slack}\n[people.lena]\nslack = "U0LENA"\n`);
  const board = new Board();
  const build: Channel["build"] = (_message, { mention }) => ({ mention });
  const over = { ...home.around(), openChannelOf: () => Promise.resolve(Object.assign(board, { build })) };
  const argv = ["ask", "Which cache?", "--to", "lena", "--dry-run", "--via", "slack", "--json"];
  const { stdout } = await type(scene, argv, over);
  expect(JSON.parse(stdout)).toMatchObject([{ channel: "slack", person: null, message: { mention: ["U0LENA"] } }]);
});
