import { describe, expect, onTestFinished, test } from "vitest";
import { githubChannel } from "../../src/channels/github/github.ts";
import { findChannelSettings, reachOf } from "../../src/config/reach.ts";
import type { GithubSettings } from "../../src/core/channel/channel-settings.ts";
import { type QuestionId, shortId } from "../../src/core/id.ts";
import { HOUR_MS, SECOND_MS } from "../../src/core/instant.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { Scene } from "../scene.ts";
import { Board } from "./board-channel.ts";
import { channelSuite } from "./channel.suite.ts";
import { GITHUB_TOKEN, GithubServer } from "./github-server.ts";
import { REPO } from "./github-view.ts";
import { OUTBOUND } from "./loopback-server.ts";

const WAIT = { timeout: 10_000 };
const ISSUE = { repo: REPO, number: 123 };

const ABLE = { hasMentions: true, hasStatuses: true, tellsOfDeletion: true, mayRepeat: true };

channelSuite("GitHub", { strength: "person", hasWords: true, ...ABLE }, () => GithubServer.start());

async function aScene(over: Partial<GithubSettings> = {}) {
  const service = await GithubServer.start(over);
  const scene = new Scene({
    rules: { reach: [{ ...service.reach, needsIssue: true }], personChannel: true },
    openChannel: () => Promise.resolve(service.channel),
  });
  onTestFinished(async () => {
    await scene.engine.stop();
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  const ask = async (raw: Record<string, unknown> = {}) => {
    const { question } = await scene.ask({ issue: ISSUE, ...raw });
    await scene.pass(0);
    // A listening engine may send it itself.
    const isTried = async () =>
      (await scene.engine.listDeliveries(question.id)).every(({ state, failure }) => state !== "due" || failure);
    await expect.poll(isTried, WAIT).toBe(true);
    return question.id;
  };
  const find = async (id: QuestionId) => (await scene.engine.read(id)).question;
  return { service, scene, ask, find };
}

/** Time in which a listener could do what it must not do. */
function settle() {
  return new Promise((resolve) => setTimeout(resolve, 250));
}

test("a question is a comment in the form that people know, with its full id hidden", async () => {
  const { service, ask } = await aScene();
  const id = await ask({
    question: "Which approach should be used to fix the null reference error?",
    options: [{ label: "Add null check (recommended)", description: "Simple guard clause" }, "Initialize early"],
    context: "It fails here:\n```ts\nobj.property\n```",
    on_timeout: "skip",
  });
  expect(service.comments[0]?.body).toBe(
    [
      "## 🤖 Agent Question\n",
      "The automated workflow needs your input to proceed.\n",
      "### Question",
      "**Which approach should be used to fix the null reference error?**\n",
      "### Options",
      "- [ ] **A) Add null check** (recommended) - Simple guard clause",
      "- [ ] **B) Initialize early**\n",
      "### Context",
      "<details><summary>Why, and what is known</summary>\n",
      "It fails here:\n```ts\nobj.property\n```\n",
      "</details>\n",
      "### How to Respond",
      `Reply with \`A\`, \`B\` (a reason below it is passed on), tick a box, react with 👍 for A or 👎 for B, or write your own answer. With several questions here: \`/answer ${shortId(id)} …\`\n`,
      "### Timeout",
      "If nobody answers by **2026-01-02 12:00 UTC**, the workflow will **skip this issue**.\n",
      "---",
      `*Workflow Run: \`#\u20601\` · Question ID: \`${shortId(id)}\`*`,
      `<!-- askd v1 q=${id} -->`,
    ].join("\n"),
  );
});

test("a question that belongs to no issue has no comment, and one of a foreign repository is refused", async () => {
  const { service, scene, ask } = await aScene();
  const { question } = await scene.ask({ notify: [{ channel: "github" }] });
  expect(question.deliveries ?? []).toEqual([]);
  const id = await ask({ issue: { repo: "evil/repo", number: 1 } });
  expect(await scene.engine.listDeliveries(id)).toMatchObject([
    { state: "failed", failure: { why: expect.stringContaining("does not name evil/repo") } },
  ]);
  expect(service.comments).toEqual([]);
  // A place that an agent names is no failure of the channel.
  expect((await scene.engine.listChannels())[0]?.outage).toBeUndefined();
});

test("closed, the comment begins with the outcome and folds the question", async () => {
  const { service, scene, ask } = await aScene();
  void scene.engine.work();
  await ask();
  await service.say("B\nit is there already");
  await expect
    .poll(() => service.comments[0]?.body, WAIT)
    .toContain("## ✅ Answered by @\u2060mika (GitHub): Memcached");
  expect(service.comments[0]?.body).toContain("<details><summary>The question</summary>\n\n### Question\n**Redis or");
  expect(service.comments[0]?.body).not.toContain("- [ ]");
});

test("an account with write access answers by its own name, and never as a person of that name", async () => {
  const { service, scene, ask, find } = await aScene();
  await scene.know("lena");
  void scene.engine.work();
  const named = await ask({ approvals: { need: 1, from: ["lena"] } });
  await service.say("A", "lena");
  await settle();
  expect((await find(named)).status).toBe("pending");
  await scene.engine.cancel(named, { reason: "x" }, SYSTEM);
  const id = await ask({ question: "Which port?", options: ["80", "443"] });
  await service.say("2", "lena");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  expect(await find(id)).toMatchObject({ answer: { by: { id: "@lena", channel: "github", strength: "person" } } });
});

test.each([
  ["a label in other case", "MEMCACHED", "Memcached"],
  ["a number", "2", "Memcached"],
  ["the line of an option", "A) Redis", "Redis"],
  ["with a mark of ours among its words", "B\n<!-- askd v1 note --> because of TLS", "Memcached"],
  ["with an invented mark below", "B\n\n<!-- askd v1 x -->", "Memcached"],
  ["a quoted message above", "> ## 🤖 Agent Question\n> A) Redis\n\nB", "Memcached"],
])("an answer can be %s", async (_name, text, value) => {
  const { service, scene, ask, find } = await aScene();
  void scene.engine.work();
  const id = await ask();
  await service.say(text);
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  expect(await find(id)).toMatchObject({ answer: { items: { "1": { values: [value] } } } });
});

test("/answer names the question, with a reason on the same line; without it two questions are asked back about, once", async () => {
  const { service, scene, ask, find } = await aScene();
  void scene.engine.work();
  const first = await ask();
  const second = await ask({ question: "Which port?", options: ["80", "443"] });
  await service.say("A");
  await service.say("A", "mika");
  await expect.poll(() => service.responses().length, WAIT).toBeGreaterThan(0);
  expect(service.responses()[0]).toContain("@mika 2 questions wait here. Say which one you answer: `/answer q-");
  expect([(await find(first)).status, (await find(second)).status]).toEqual(["pending", "pending"]);
  await service.say(`/answer ${shortId(second, [first])} B because of TLS`);
  await expect.poll(async () => (await find(second)).status, WAIT).toBe("answered");
  expect(await find(second)).toMatchObject({ answer: { items: { "1": { values: ["443"] } }, note: "because of TLS" } });
  expect((await find(first)).status).toBe("pending");
});

test("who may not write is told so once, whatever GitHub calls them, and nothing of theirs counts", async () => {
  const { service, scene, ask, find } = await aScene();
  void scene.engine.work();
  const id = await ask({ allow_text: true });
  for (const login of ["reader", "stranger", "reader"]) {
    await service.say("A", login);
    await service.say(`/answer ${shortId(id)} B`, login);
    await service.say("I have the same problem", login);
  }
  await service.tick(service.comments[0]!, "- [ ] **A) Redis**", "reader");
  await expect.poll(() => service.responses().length, WAIT).toBe(2);
  await settle();
  expect(service.responses()).toEqual([
    expect.stringContaining("@reader Thank you. Only people with write access"),
    expect.stringContaining("@stranger Thank you. Only people with write access"),
  ]);
  expect((await find(id)).status).toBe("pending");
});

test("of many who may not write five are told so, in all of a question", async () => {
  const { service, scene, ask } = await aScene();
  void scene.engine.work();
  await ask();
  for (let count = 0; count < 7; count += 1) service.add("A", `stranger-${count}`);
  await expect.poll(() => service.responses().length, WAIT).toBe(5);
  await settle();
  expect(service.responses()).toHaveLength(5);
});

test("each person whose comment somebody else edited hears of it, once, also after others were told something", async () => {
  const { service, scene, ask } = await aScene();
  await ask();
  service.add("A", "stranger");
  for (const login of ["mika", "cho", "mika"]) await service.editAtOnce(service.add("looking", login), "A", "lena");
  void scene.engine.work();
  await expect.poll(() => service.responses().length, WAIT).toBe(3);
  await settle();
  expect(service.responses()).toEqual([
    expect.stringContaining("@stranger Thank you. Only people with write access"),
    expect.stringMatching(/^@mika .*somebody else edited it/),
    expect.stringMatching(/^@cho .*somebody else edited it/),
  ]);
});

test("each person who names a closed question is told once that it is late", async () => {
  const { service, scene, ask, find } = await aScene();
  void scene.engine.work();
  const id = await ask();
  await service.say("A", "lena");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  for (const login of ["mika", "cho", "mika"]) await service.say(`/answer ${shortId(id)} B`, login);
  await expect.poll(() => service.responses().length, WAIT).toBe(2);
  await settle();
  expect(service.responses()).toEqual([
    expect.stringMatching(/^@mika .*already answered by/),
    expect.stringMatching(/^@cho .*already answered by/),
  ]);
});

test("with the token of a workflow of GitHub a program asks, and only people answer", async () => {
  const service = await GithubServer.start();
  service.account = "github-actions[bot]";
  const values = { channels: { github: { url: service.base, repo: REPO, token_env: "GITHUB_TOKEN", poll: "50ms" } } };
  const { github } = findChannelSettings(values, { GITHUB_TOKEN });
  const channel = githubChannel({ ...github!, writeMs: 0 }, OUTBOUND);
  const scene = new Scene({ rules: { reach: reachOf(values) }, openChannel: () => Promise.resolve(channel) });
  onTestFinished(async () => {
    await scene.engine.stop();
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  expect(await channel.verify()).toBe(`comments in ${REPO}`);
  const { question } = await scene.ask({ issue: ISSUE });
  const status = async () => (await scene.engine.read(question.id)).question.status;
  await scene.pass(0);
  const [comment] = service.comments;
  expect(comment?.login).toBe("github-actions[bot]");
  service.add("A", "github-actions[bot]");
  await service.edit(comment!, comment!.body.replace("- [ ] **A)", "- [x] **A)"), "github-actions[bot]");
  void scene.engine.work();
  await expect.poll(() => service.responses().length, WAIT).toBe(1);
  expect(await status()).toBe("pending");
  await service.edit(comment!, comment!.body.replace("- [x] **A)", "- [ ] **A)"), "mika");
  await settle();
  await service.tick(comment!, "- [ ] **B) Memcached**", "mika");
  await expect.poll(status, WAIT).toBe("answered");
});

test("a person of the list and a member of a named team may answer without rights in the repository", async () => {
  const { service, scene, ask, find } = await aScene();
  await scene.engine.putPerson({ id: "ada", version: 0, groups: [], github: "Ada-L" }, SYSTEM);
  void scene.engine.work();
  for (const [login, by] of [
    ["ada-l", "ada"],
    ["cho", "@cho"],
  ] as const) {
    const id = await ask({ question: `Which one, ${login}?` });
    await service.say("A", login);
    await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
    expect(await find(id)).toMatchObject({ answer: { by: { id: by } } });
  }
});

test("a limit or a fault of GitHub says nothing about who belongs to a team", async () => {
  const { service } = await aScene();
  const reply = { key: "comment:1:a", from: "cho", text: "A", respondTo: `${REPO}#123 cho` };
  const limits = [
    { status: 403, message: "You have exceeded a secondary rate limit", headers: { "retry-after": "1" } },
    { status: 429, message: "Too many requests" },
    { status: 503, message: "Service unavailable" },
  ];
  for (const limit of limits) {
    service.limits.plan(/memberships/, limit);
    await expect(service.channel.mayAnswer?.(reply)).rejects.toThrow("the team acme/ops cannot be read");
  }
  expect(await service.channel.mayAnswer?.(reply)).toBe(true);
});

test("a team that the token may not read is found when the channel is checked", async () => {
  const { service } = await aScene();
  service.hidesTeams = true;
  await expect(service.channel.verify()).rejects.toThrow(
    "the team acme/ops cannot be read: there is none, or the token lacks Members (read)",
  );
});

test("comments from before the question, by programs, to other people and from other issues are no answers", async () => {
  const { service, scene, ask, find } = await aScene();
  service.add("A");
  const id = await ask();
  void scene.engine.work();
  service.add("A", "dependabot[bot]");
  service.add("@lena what do you think?");
  service.add("A", "mika", 7);
  service.add("A", "ghost");
  service.add("A\r\n\r\n<!-- askd v1 note -->");
  await settle();
  expect((await find(id)).status).toBe("pending");
  expect(service.responses()).toEqual(["A\r\n\r\n"]); // that one itself, and no other
});

test("101 comments and then an answer: it is found, and a quiet repository costs nothing", async () => {
  const { service, scene, ask, find } = await aScene();
  const id = await ask();
  for (let count = 0; count < 101; count += 1) service.add(`me too ${count}`, "stranger");
  void scene.engine.work();
  await settle();
  for (let count = 0; count < 101; count += 1) service.add(`me too again ${count}`, "stranger");
  await service.say("B");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  const before = service.unchanged;
  await expect.poll(() => service.unchanged, WAIT).toBeGreaterThan(before + 2);
});

test("one repository that cannot be read does not make the others deaf, and its trouble is shown until it is over", async () => {
  const { service, scene, ask, find } = await aScene({ repos: ["acme/old", REPO, "acme/gone"] });
  service.moved.add("acme/old");
  service.missing.add("acme/gone");
  const id = await ask();
  void scene.engine.work();
  const trouble = async () => (await scene.engine.listChannels())[0]?.outage?.why;
  await expect
    .poll(trouble, WAIT)
    .toBe(
      "replies are not read: the comments of acme/old cannot be read: the repository was renamed or moved: the settings have to name it as it is called now; the comments of acme/gone cannot be read: status 404",
    );
  await service.say("B");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  service.moved.clear();
  service.missing.clear();
  await expect.poll(trouble, WAIT).toBeUndefined();
});

test("comments so long that a page of them is not read are read in smaller pages", async () => {
  const { service, scene, ask, find } = await aScene();
  const id = await ask();
  await service.say("B");
  for (let count = 0; count < 45; count += 1) service.add(`${count} ${"漢".repeat(65_000)}`, "stranger");
  void scene.engine.work();
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  expect(await find(id)).toMatchObject({ answer: { items: { "1": { values: ["Memcached"] } } } });
});

describe.each([
  [
    "is at its limit",
    {
      reply: { errors: [{ type: "RATE_LIMITED", message: "API rate limit exceeded" }] },
      headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "0" },
    },
  ],
  ["fails", { reply: { data: null, errors: [{ message: "Something went wrong while executing your query" }] } }],
])("while GraphQL %s", (_name, problem) => {
  test.each<[string, (service: GithubServer) => Promise<unknown>]>([
    ["a tick", (service) => service.tick(service.comments[0]!, "- [ ] **A) Redis**")],
    ["a comment", (service) => service.say("A")],
  ])("%s waits without a word, and counts afterwards", async (_act, act) => {
    const { service, scene, ask, find } = await aScene();
    const id = await ask();
    service.graphqlProblem = problem;
    await act(service);
    void scene.engine.work();
    await expect.poll(() => service.limits.of(/graphql/).length, WAIT).toBeGreaterThan(0);
    await settle();
    expect({ responses: service.responses(), status: (await find(id)).status }).toEqual({
      responses: [],
      status: "pending",
    });
    service.graphqlProblem = undefined;
    await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
    expect(await find(id)).toMatchObject({ answer: { by: { id: "@mika" } } });
  });
});

test("a tick in a comment that GraphQL does not show is nobody's, and says so", async () => {
  const { service, scene, ask, find } = await aScene();
  const id = await ask();
  service.graphqlProblem = {
    reply: { data: { node: null }, errors: [{ type: "FORBIDDEN", message: "Resource not accessible" }] },
  };
  await service.tick(service.comments[0]!, "- [ ] **A) Redis**");
  void scene.engine.work();
  await expect.poll(() => service.responses(), WAIT).toEqual([expect.stringContaining("GitHub does not say who")]);
  expect((await find(id)).status).toBe("pending");
});

test("a ticked box counts for its editor; if GitHub does not name one it is refused, and says so", async () => {
  const { service, scene, ask, find } = await aScene();
  void scene.engine.work();
  const id = await ask();
  service.hidesEditors = true;
  await service.shown()[0]?.buttons[0]?.press();
  await expect.poll(() => service.responses(), WAIT).toEqual([expect.stringContaining("GitHub does not say who")]);
  expect((await find(id)).status).toBe("pending");
  service.hidesEditors = false;
  const [comment] = service.comments;
  await service.edit(comment!, comment!.body.replace("- [x] **A)", "- [ ] **A)"), "lena");
  await settle();
  await service.tick(comment!, "- [ ] **B) Memcached**", "lena");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  expect(await find(id)).toMatchObject({ answer: { by: { id: "@lena" }, items: { "1": { values: ["Memcached"] } } } });
});

test.each([
  ["somebody else", "lena"],
  ["nobody that GitHub names", undefined],
])("a comment that was edited by %s is no answer of its author, who hears of it", async (_name, editor) => {
  const { service, scene, ask, find } = await aScene();
  const id = await ask({ risk: "high" });
  const comment = service.add("It depends");
  comment.createdAt = "2026-01-01T12:00:00Z";
  await service.edit(comment, "A", editor);
  void scene.engine.work();
  await expect
    .poll(() => service.responses(), WAIT)
    .toEqual([expect.stringMatching(/^@mika GitHub does not say who did this, or somebody else edited it/)]);
  expect((await find(id)).status).toBe("pending");
  await service.edit(comment, "B", "mika");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  expect(await find(id)).toMatchObject({ answer: { by: { id: "@mika" }, items: { "1": { values: ["Memcached"] } } } });
});

test.each([
  ["somebody else", "mika"],
  ["nobody that GitHub names", undefined],
])("an edit by %s in the second of the comment is no answer of its author, who hears of it", async (_name, editor) => {
  const { service, scene, ask, find } = await aScene();
  await scene.engine.putPerson({ id: "lena", version: 0, groups: [], github: "Lena" }, SYSTEM);
  const id = await ask({ risk: "high", approvals: { need: 1, from: ["lena"] } });
  const comment = service.add("looking", "lena");
  await service.editAtOnce(comment, "A", editor);
  void scene.engine.work();
  await expect
    .poll(() => service.responses(), WAIT)
    .toEqual([expect.stringMatching(/^@lena GitHub does not say who did this, or somebody else edited it/)]);
  expect((await find(id)).status).toBe("pending");
  await service.editAtOnce(service.add("looking", "lena"), "B", "lena");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  expect(await find(id)).toMatchObject({ answer: { by: { id: "lena" }, items: { "1": { values: ["Memcached"] } } } });
});

test("an edit by somebody else in the second of the comment claims nothing in its author's name", async () => {
  const { service, scene, ask, find } = await aScene();
  const id = await ask();
  await service.editAtOnce(service.add("looking", "lena"), "claim", "mika");
  void scene.engine.work();
  await expect.poll(() => service.limits.of(/graphql/).length, WAIT).toBe(1);
  await settle();
  expect((await find(id)).claim).toBeUndefined();
});

test("GitHub is asked once about each comment that may answer a question, and about no other", async () => {
  const { service, scene, ask, find } = await aScene();
  const id = await ask({ options: ["Redis", "Memcached"] });
  service.add("A", "mika", 7);
  service.add("A", "stranger");
  service.add("@lena what do you think?");
  service.add("A", "dependabot[bot]");
  await service.editAtOnce(service.add("looking", "lena", 7), "A", "mika");
  await service.say("B");
  void scene.engine.work();
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  await service.say("thanks");
  await settle();
  expect(service.limits.of(/graphql/)).toHaveLength(1);
});

test("ticks belong to the person who set them, whoever edits the comment or takes one away", async () => {
  const { service, scene, ask, find } = await aScene();
  await scene.engine.putPerson({ id: "lena", version: 0, groups: [], github: "Lena" }, SYSTEM);
  void scene.engine.work();
  const id = await ask({ approvals: { need: 1, from: ["lena"] } });
  const [comment] = service.comments;
  const [redis, memcached] = ["- [ ] **A) Redis**", "- [ ] **B) Memcached**"] as const;
  const change = async (from: string, to: string, login: string) => {
    await service.edit(comment!, comment!.body.replace(from, to), login);
    for (const [index, edit] of comment!.edits.entries()) edit.editedAt = `2026-01-01T12:00:${10 + index}Z`;
    await settle();
  };
  await change(redis, redis.replace("[ ]", "[x]"), "mika");
  await change("needs your input", "needs input", "lena");
  expect((await find(id)).status).toBe("pending");
  await change(memcached, memcached.replace("[ ]", "[x]"), "mika");
  await change("- [x] **A)", "- [ ] **A)", "lena");
  expect((await find(id)).status).toBe("pending");
  await change("- [x] **B)", "- [ ] **B)", "lena");
  await change("- [ ] **A)", "- [x] **A)", "lena");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  expect(await find(id)).toMatchObject({ answer: { by: { id: "lena" }, items: { "1": { values: ["Redis"] } } } });
});

test("a tick whose edit was taken out of the history is nobody's", async () => {
  const { service, scene, ask, find } = await aScene();
  const id = await ask();
  const [comment] = service.comments;
  await service.tick(comment!, "- [ ] **A) Redis**", "lena");
  await service.edit(comment!, comment!.body.replace("needs your input", "needs input"), "mika");
  const [written, ticked, edited] = comment!.edits;
  Object.assign(written!, { editedAt: "2026-01-01T12:00:00Z" });
  Object.assign(ticked!, { editedAt: "2026-01-01T12:00:01Z", diff: null });
  Object.assign(edited!, { editedAt: "2026-01-01T12:00:02Z" });
  void scene.engine.work();
  await expect.poll(() => service.responses(), WAIT).toEqual([expect.stringContaining("GitHub does not say who")]);
  expect((await find(id)).status).toBe("pending");
});

test("of two ticks the one that is left counts, if the same person set both", async () => {
  const { service, scene, ask, find } = await aScene();
  const id = await ask();
  const [comment] = service.comments;
  await service.edit(comment!, comment!.body.replaceAll("- [ ]", "- [x]"), "mika");
  void scene.engine.work();
  await expect.poll(() => service.responses(), WAIT).toEqual([expect.stringContaining("Several boxes are ticked")]);
  await service.edit(comment!, comment!.body.replace("- [x] **A)", "- [ ] **A)"), "mika");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  expect(await find(id)).toMatchObject({ answer: { by: { id: "@mika" }, items: { "1": { values: ["Memcached"] } } } });
});

test("two ticked boxes are no answer", async () => {
  const { service, scene, ask, find } = await aScene();
  const id = await ask();
  const [comment] = service.comments;
  await service.edit(comment!, comment!.body.replaceAll("- [ ]", "- [x]"), "mika");
  void scene.engine.work();
  await expect.poll(() => service.responses(), WAIT).toEqual([expect.stringContaining("Several boxes are ticked")]);
  expect((await find(id)).status).toBe("pending");
});

test("a thumb answers where there are two options, and means nothing where there are three", async () => {
  const { service, scene, ask, find } = await aScene();
  void scene.engine.work();
  const three = await ask({ options: ["a", "b", "c"] });
  service.react(service.comments.at(-1)!, "-1");
  await settle();
  expect((await find(three)).status).toBe("pending");
  expect(service.responses()).toEqual([]);
  const two = await ask({ question: "Which port?", options: ["80", "443"] });
  service.react(service.comments.at(-1)!, "eyes");
  service.react(service.comments.at(-1)!, "-1", "stranger");
  service.react(service.comments.at(-1)!, "-1");
  await expect.poll(async () => (await find(two)).status, WAIT).toBe("answered");
  expect(await find(two)).toMatchObject({ answer: { items: { "1": { values: ["443"] } }, by: { id: "@mika" } } });
});

test("an answer that is edited later changes nothing, and nobody is told that it is late", async () => {
  const { service, scene, ask, find } = await aScene();
  void scene.engine.work();
  const id = await ask();
  const comment = service.add("A");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await service.edit(comment, "B", "mika");
  await settle();
  expect(service.responses()).toEqual([]);
  expect(await find(id)).toMatchObject({ answer: { items: { "1": { values: ["Redis"] } } } });
});

test("an option that comes after the question closed is told so, once; other words, strangers and old comments are not", async () => {
  const { service, scene, ask, find } = await aScene();
  void scene.engine.work();
  const other = await ask({ question: "Which port?", options: ["80", "443"] });
  await scene.pass(SECOND_MS); // the newest question is told by its time
  const id = await ask();
  await service.say(`/answer ${shortId(id, [other])} A`, "lena");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  await service.say("2", "lena");
  await expect.poll(async () => (await find(other)).status, WAIT).toBe("answered");
  await service.say("thanks", "mika");
  await service.say("B", "stranger");
  await settle();
  expect(service.responses()).toEqual([]);
  await service.say("B\nbecause of TLS", "mika");
  await service.say("A", "mika");
  await expect.poll(() => service.responses(), WAIT).toEqual([expect.stringContaining("already answered by")]);
  await settle();
  expect(service.responses()).toHaveLength(1);
  expect(await find(id)).toMatchObject({ answer: { items: { "1": { values: ["Redis"] } } } });
  const { run } = await scene.engine.read(id);
  const events = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
  expect(events).toContain("question.late_reply");
});

test("a reply to a comment counts, also if GitHub's reply to that comment was lost and the next attempt is far away", async () => {
  const { service, scene, ask, find } = await aScene();
  service.limits.plan(/^POST .*comments$/, { lost: true });
  const id = await ask();
  expect(await scene.engine.listDeliveries(id)).toMatchObject([{ failure: { tries: 1 } }]);
  service.add("B");
  void scene.engine.work();
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
  expect(await find(id)).toMatchObject({ answer: { items: { "1": { values: ["Memcached"] } } } });
  expect(service.comments.filter(({ body }) => body.includes("Question ID"))).toHaveLength(1);
});

test("at the deadline the issue gets the labels, comment and assignee that were declared, each once", async () => {
  const { service, scene, ask, find } = await aScene();
  await scene.engine.putPerson({ id: "lena", version: 0, groups: [], github: "Lena-M" }, SYSTEM);
  const skipped = await ask({
    timeout: "1h",
    on_timeout: "skip",
    timeout_params: { add_label: "needs-human", comment: "Skipped, @all", assign_to: "lena" },
  });
  service.traffic.fail({ status: 502 });
  await scene.pass(HOUR_MS);
  for (const seconds of [2, 10, 60]) await scene.pass(seconds * SECOND_MS);
  expect((await find(skipped)).status).toBe("timeout");
  expect(service.labels.get(123)).toEqual(["needs-human"]);
  expect(service.assignees.get(123)).toContain("lena-m");
  const notes = service.comments.filter(({ body }) => body.includes("<!-- askd v1 timeout="));
  expect(notes.map(({ body }) => body.split("\n")[0])).toEqual(["Skipped, @\u2060all"]);
  expect(service.comments[0]?.body).toContain("## ⌛ Nobody answered in time; the run skips.");
});

test("the issue of a question that was asked elsewhere gets them too, each once, also where the process died", async () => {
  const service = await GithubServer.start();
  const board = new Board("slack");
  const scene = new Scene({
    rules: {
      reach: [
        { ...service.reach, needsIssue: true },
        { name: "slack", person: undefined, isPersonal: false },
      ],
    },
    openChannel: (name) => Promise.resolve(name === "slack" ? board : service.channel),
  });
  onTestFinished(async () => {
    await scene.engine.stop();
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  const timeout_params = { comment: "Nobody answered", assign_to: "cho" };
  const { question } = await scene.ask({
    issue: ISSUE,
    notify: ["slack"],
    timeout: "1h",
    on_timeout: "skip",
    timeout_params,
  });
  await scene.pass(0);
  expect(service.comments).toEqual([]);
  // The comment is there, but the reply that says so does not arrive.
  service.limits.plan(/^POST .*comments$/, { lost: true });
  await scene.pass(HOUR_MS);
  for (const seconds of [2, 10, 60]) await scene.pass(seconds * SECOND_MS);
  expect(service.labels.get(123)).toEqual(["auto-fix-skip"]);
  expect(service.assignees.get(123)).toEqual(["cho"]);
  expect(service.comments.map(({ body }) => body.split("\n")[0])).toEqual(["Nobody answered"]);
  expect((await scene.engine.read(question.id)).question.deliveries).toHaveLength(1);
  const asked = service.limits.asked.length;
  await scene.pass(HOUR_MS);
  expect(service.limits.asked).toHaveLength(asked);
});

test("an account that cannot be assigned does not keep the label and the comment of a deadline from being there", async () => {
  const { service, scene, ask } = await aScene();
  await ask({ timeout: "1h", on_timeout: "skip", timeout_params: { comment: "Nobody answered", assign_to: "cho" } });
  service.limits.plan(/assignees/, { status: 404, message: "Not Found" });
  await scene.pass(HOUR_MS);
  expect(service.labels.get(123)).toEqual(["auto-fix-skip"]);
  const notes = service.comments.filter(({ body }) => body.includes("<!-- askd v1 timeout="));
  expect(notes.map(({ body }) => body.split("\n")[0])).toEqual(["Nobody answered"]);
});

test("a thumb after a hundred other reactions answers, also where some are taken back", async () => {
  const { service, scene, ask, find } = await aScene();
  const id = await ask();
  const [comment] = service.comments;
  for (let count = 0; count < 100; count += 1) service.react(comment!, "eyes", `reader-${count}`);
  void scene.engine.work();
  await settle();
  service.react(comment!, "heart", "reader-101");
  await settle();
  comment!.reactions.splice(0, 1);
  await settle();
  service.react(comment!, "-1", "mika");
  await expect.poll(async () => (await find(id)).status, WAIT).toBe("answered");
});

test.each([
  ["skip", "auto-fix-skip"],
  ["fail", "auto-fix-failed"],
])("without a label of its own, %s labels the issue %s", async (policy, label) => {
  const { service, scene, ask } = await aScene();
  await ask({ timeout: "1h", on_timeout: policy });
  await scene.pass(HOUR_MS);
  expect(service.labels.get(123)).toEqual([label]);
});

test("escalated, the issue is assigned to the people of the step", async () => {
  const { service, scene, ask } = await aScene();
  await scene.engine.putPerson({ id: "lena", version: 0, groups: ["ops"], github: "Lena-M" }, SYSTEM);
  await ask({ timeout: "1h", on_timeout: { type: "escalate", steps: [{ after: "1h", to: ["@ops"] }] } });
  await scene.pass(HOUR_MS);
  expect(service.assignees.get(123)).toEqual(["lena-m"]);
});

test("the comment of a process that died is found again by its hidden id", async () => {
  const { service, scene, ask } = await aScene();
  await ask();
  const { channel, comments } = service;
  const [comment] = comments;
  const wire = { repo: REPO, issue: 123, body: comment!.body, question: "" };
  expect(await channel.find?.(wire)).toBe(`${REPO}#123:${comment!.id}`);
  expect(await channel.shows?.(wire)).toBe(true);
  expect(await channel.find?.({ ...wire, body: comment!.body.replace(/q=q_./, "q=q_z") })).toBeUndefined();
  expect((await scene.engine.verify()).problems).toEqual([]);
});
