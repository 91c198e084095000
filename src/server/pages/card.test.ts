import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { approvalAsk } from "../../core/question/approval.ts";
import type { QuestionId } from "../../core/id.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { Board } from "../../../test/channels/board-channel.ts";
import { PageVisit } from "../../../test/page-visit.ts";
import { Scene, said } from "../../../test/scene.ts";

const OPTIONS = ["Redis", "Memcached"];
const HOUR_MS = 3_600_000;
const LENA = { scope: "human", id: "lena", channel: "slack", strength: "person" } as const;
let visit: PageVisit;

beforeEach(async () => {
  visit = await PageVisit.start();
});
afterEach(() => visit.stop());

const engine = () => visit.at.scene.engine;
const open = (path: string, headers?: Record<string, string>) => visit.open(path, headers);
const post = (path: string, fields: Record<string, string>) => visit.post(path, fields);

async function ask(raw: Record<string, unknown> = {}): Promise<QuestionId> {
  return (await visit.at.scene.ask({ question: "Redis or Memcached?", options: OPTIONS, ...raw })).question.id;
}

describe("a card", () => {
  test("says what to type in a terminal, as far as that answers", async () => {
    const typed = async (raw: Record<string, unknown>): Promise<string | undefined> => {
      const { html } = await open(`/q/${await ask(raw)}`);
      return /id="command-0">askd ([^<]*)</.exec(html)?.[1];
    };
    expect(await typed({ question: "One?" })).toBe("answer 1 1");
    expect(await typed({ question: "Two?", options: [] })).toBe("answer 2 &quot;…&quot;");
    expect(await typed({ question: "Three?", risk: "high" })).toBe("answer 3 &quot;…&quot;");
    const items = [{ text: "A?", options: OPTIONS }, { text: "B?" }];
    expect(await typed({ question: undefined, options: undefined, items })).toBe("answer 4 &quot;1… 2…&quot;");
    expect(await typed({ question: "Five?", approvals: { need: 1, from: ["lena"] } })).toBe("show 5");
  });

  test("names the issue that the asker named", async () => {
    const { html } = await open(`/q/${await ask({ issue: { repo: "acme/api", number: 123 } })}`);
    expect(html).toContain("<span>acme/api#123</span>");
  });

  test("says what only the asker says, and nothing of it where somebody else does", async () => {
    const { scene } = visit.at;
    const facts = { agent: "claude", repo: "acme/api" };
    const claimed = await scene.engine.ask(scene.input({ risk: "low" }), AGENT, { run: facts });
    const { html } = await open(`/q/${claimed.question.id}`);
    expect(html).toMatch(/acme\/api \(unverified\)<[^]*claude \(unverified\)</);
    expect(html).toContain("Easy to change later, according to the agent");
    const german = await open(`/q/${claimed.question.id}`, { "accept-language": "de" });
    expect(german.html).toMatch(/acme\/api \(nicht verifiziert\)<[^]*Laut Agent später leicht zu ändern/);
    const known = await scene.engine.ask(scene.input({ risk: "low" }), ADA, { run: facts });
    const { html: plain } = await open(`/q/${known.question.id}`);
    expect(plain).not.toMatch(/unverified|according to the agent/);
    expect(plain).toContain("Easy to change later");
  });

  test("of a question for others says that it can be read and not answered", async () => {
    const { html } = await open(`/q/${await ask({ approvals: { need: 1, from: ["lena"] } })}`);
    expect(html).toContain("You, lena. You can read this question but not answer it.");
    expect(html).not.toContain("First answer wins");
  });

  test("has one clock: nobody waits where an answer is there, or past the moment when the agent goes on", async () => {
    const held = await ask({
      timeout: "5h",
      on_timeout: "default",
      default_answer: "1",
      hold: "3m",
      after_hold: "proceed",
    });
    const { html } = await open(`/q/${held}`);
    expect(html).toMatch(/Answer by <time[^>]*>12:03 UTC<[^]*Then: the agent decides/);
    expect(html).not.toContain("uses Redis");
    const parked = await ask({ question: "Which one?", timeout: "5h", hold: "3m" });
    expect((await open(`/q/${parked}`)).html).toMatch(
      /The agent is waiting right now, <[^]*3m left<[^]*waiting 0s<[^]*Answer by <time[^>]*>17:00 UTC</,
    );
    await engine().answer(parked, said("Redis", { undoMs: 60_000 }), ADA);
    const settling = (await open(`/q/${parked}`)).html;
    const card = settling.slice(settling.indexOf("<main"));
    for (const words of ["waiting 0s", "Answer by", "First answer wins", "askd answer"])
      expect(card).not.toContain(words);
  });

  test("of what nobody answered names the policy in words, also in the list", async () => {
    const id = await ask({ timeout: "1h", on_timeout: "default", default_answer: "1" });
    await visit.at.scene.pass(2 * HOUR_MS);
    const { html } = await open(`/q/${id}`);
    expect(html).toContain("Policy: default, Redis.");
    expect(html).toMatch(/class="end">Policy default</);
    expect(html).not.toMatch(/>[^<]*policy:default/);
  });

  test("has the same answer to similar questions once", async () => {
    for (const question of ["Which cache store for the api?", "Which cache store for jobs?"]) {
      await engine().answer(await ask({ question }), said("Redis"), ADA);
    }
    const other = await ask({ question: "Which cache store for sessions?" });
    await engine().answer(other, said("Memcached"), ADA);
    const { html } = await open(`/q/${await ask({ question: "Which cache store for tests?" })}`);
    const offered = [...html.matchAll(/[?]choose=(\w+)/g)].map(([, answer]) => answer);
    expect(offered).toHaveLength(2);
    expect(new Set(offered)).toEqual(new Set(["Memcached", "Redis"]));
  });

  test("of an approval says in the reader's words what can be chosen, what follows, and what was", async () => {
    const german = { "accept-language": "de" };
    const approval = approvalAsk({ tool: "Bash", input: { command: "make" } });
    const { id } = (await visit.at.scene.ask(approval)).question;
    const { html } = await open(`/q/${id}`, german);
    expect(html).toMatch(/data-label="Erlauben"[^]*Der Agent führt genau das einmal aus\.[^]*Ablehnen/);
    expect(html).not.toMatch(/>(Allow|Deny)</);
    await post(`/q/${id}/answer`, { do: "answer", "i.0": "1" });
    await visit.at.scene.pass(60_000);
    expect((await engine().read(id)).question).toMatchObject({ answer: { items: { "1": { values: ["deny"] } } } });
    expect((await open(`/q/${id}`, german)).html).toMatch(/ada hat „Ablehnen“ gewählt,[^]*<b>Ablehnen<\/b>/);
    const own = await ask({ question: "Allow it?", options: ["Allow", "Deny"], kind: "approval" });
    expect((await open(`/q/${own}`, german)).html).toContain('data-label="Allow"');
  });

  test("of high risk has nothing chosen by an address, and offers no way to do so", async () => {
    const before = await ask({ question: "Drop the users_v1 table?" });
    await engine().answer(before, said("Redis"), ADA);
    await engine().putTemplate({ name: "always", choose: ["Redis"] }, ADA);
    const id = await ask({ question: "Drop the users_v1 table?", risk: "high" });
    for (const wish of ["choose=Redis", "template=always"]) {
      const { html } = await open(`/q/${id}?${wish}`);
      expect(html).not.toMatch(/type="radio"[^>]* checked/);
      expect(html).toContain("“Redis” to “Drop the users_v1 table?”, by ada,");
      expect(html).not.toMatch(/[?](choose|template)=/);
    }
  });

  test("where several have to agree says who agreed to what, and has one's own vote chosen", async () => {
    await visit.at.scene.know("ada", "lena", "eve");
    const id = await ask({ approvals: { need: 2, from: ["ada", "lena", "eve"] } });
    await engine().answer(id, said("Redis"), LENA);
    expect((await open(`/q/${id}`)).html).toMatch(/Approvals 1 of 2 for “Redis”: <span>lena/);
    await post(`/q/${id}/answer`, { do: "answer", "i.0": "1" });
    const { html } = await open(`/q/${id}`);
    expect(html).toContain("You chose “Memcached”: 1 of 2.");
    expect(html).toMatch(/Approvals 1 of 2 for “Redis”[^]*Approvals 1 of 2 for “Memcached”: <span>ada/);
    expect(html).toMatch(/value="1" checked/);
  });
});

test("the card says whom the question was brought to, and what came of it: sent, failing or failed, and why", async () => {
  const boards = [new Board("slack"), new Board("board"), new Board("ntfy")] as const;
  const [, refused, down] = boards;
  refused.refuse = () => ({ ok: false, why: "channel_not_found", isFinal: true });
  down.refuse = () => ({ ok: false, why: "status 503" });
  const scene = new Scene({
    rules: { reach: boards.map(({ name }) => ({ name, person: undefined, isPersonal: name === "slack" })) },
    openChannel: (name) => Promise.resolve(boards.find((board) => board.name === name) ?? down),
  });
  await scene.engine.putPerson({ id: "mika", version: 0, groups: [], slack: "U0MIKA" }, SYSTEM);
  const told = await PageVisit.start({}, {}, scene);
  onTestFinished(() => told.stop());
  const { question } = await scene.ask({ to: ["mika"] });
  const lines = async () => {
    const { html } = await told.open(`/q/${question.id}`);
    const list = /<section id="told">.*?<ul>(.*?)<\/ul>/s.exec(html)?.[1] ?? "";
    return list.split("</li>").map((line) => line.replaceAll(/<[^>]*>/g, "").trim());
  };
  expect(await lines()).toContain("Slack (mika): waiting to be sent");
  await scene.pass(0);
  const shown = (await lines()).join("\n");
  expect(shown).toMatch(/^Slack \(mika\): sent /m);
  expect(shown).toMatch(/^board: failed: channel_not_found$/m);
  expect(shown).toMatch(/^ntfy: not delivered yet: status 503$/m);
  boards[0].refuse = () => ({ ok: false, why: "status 502" });
  await scene.engine.claim(question.id, ADA);
  await scene.pass(0);
  expect((await lines()).join("\n")).toMatch(/^Slack \(mika\): sent, not up to date yet: status 502 /m);
});

test("code in a title is code on the card and in the list, and nothing else is", async () => {
  const { question } = await visit.at.scene.ask({ question: "Drop `users_v1` & <b>`x`</b> or *not*?" });
  const { html } = await visit.open(`/q/${question.id}`);
  const title = "Drop <code>users_v1</code> &amp; &lt;b&gt;<code>x</code>&lt;/b&gt; or *not*?";
  expect(html).toContain(`<h1>${title}</h1>`);
  expect(html).toContain(`<span class="q">${title}</span>`);
});
