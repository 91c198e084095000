import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SYSTEM, type Strength } from "../../src/core/people/actor.ts";
import { type QuestionId, shortId } from "../../src/core/id.ts";
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from "../../src/core/instant.ts";
import { DEFAULT_RULES, type Rules } from "../../src/core/rules.ts";
import type { WireMessage } from "../../src/core/channel/channel.ts";
import { findAddress } from "../../src/core/channel/target.ts";
import { ADA, AGENT } from "../builders.ts";
import { ROOMY, Scene, said } from "../scene.ts";
import type { Counterpart } from "./counterpart.ts";
import { CHAT } from "./telegram-server.ts";

const WAIT_MS = 10_000;
/** Longer than any listener of the tests takes to bring a reply. */
const UNRECORDED_MS = 400;
const SECRET = "hunter2hunter2hunter2";
const HOSTILE = [
  "<!channel> <@U123> @everyone @here #123 </b><script>alert(1)</script> &amp; <b>",
  "ask @lena, @acme/ops or acme/api#7 and read [the terms](https://evil.example) [again]( https://evil.example )",
  "\u202eevil\u202c \u200bzero ]]> %s ${x} {{y}} `code` *bold* _it_",
];

const NAME = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
/** Questions that no button can answer. */
const KINDS = [
  {
    kind: "several items",
    raw: {
      items: [
        { header: "cache", text: "Which cache?", options: ["Redis", "Memcached"] },
        { header: "ttl", text: "How long?", options: ["1 h", "1 d"] },
      ],
    },
    parts: ["cache: Which cache?", "ttl: How long?", "1A) Redis", "2B) 1 d"],
  },
  {
    kind: "options of which several can be chosen",
    raw: { items: [{ text: "Which tests?", options: ["unit", "end to end"], multiple: true }] },
    parts: ["Which tests?", "A) unit", "B) end to end"],
  },
  {
    kind: "answers with a schema",
    raw: { items: [{ text: "Who is it for?", schema: NAME }] },
    parts: ["Who is it for?"],
  },
];

/** The abilities of a channel, which decide the cases that apply. */
export interface ChannelTraits {
  /** How well a reply proves who sent it; undefined if nobody can answer there. */
  strength: Strength | undefined;
  /** Replies may be in one's own words. */
  hasWords: boolean;
  /** The service acts on mentions in a text. */
  hasMentions: boolean;
  /** The service draws `[words](address)` as a link that hides its address. */
  hasMarkdownLinks?: boolean;
  /** The service has access tokens, and answers with HTTP statuses such as 429. */
  hasStatuses: boolean;
  /** A message that was sent stays as it is: only an outcome that its recipient does not know is a further one. */
  isFixed?: boolean;
  /** Others may read along: the context of a question is not shown. */
  isPublic?: boolean;
  /** The service says when a message is gone. */
  tellsOfDeletion?: boolean;
  /** The service may bring the same act again. */
  mayRepeat?: boolean;
}

/** The cases that every channel passes, against a service on loopback that rejects what the real one would. */
export function channelSuite(
  name: string,
  traits: ChannelTraits,
  start: () => Promise<Counterpart>,
  openStore?: () => Promise<(now: () => Instant) => Scene["store"]>,
): void {
  describe(`the channel ${name}`, () => {
    let service: Counterpart;
    let scene: Scene;
    let makeStore: ((now: () => Instant) => Scene["store"]) | undefined;
    const scenes: Scene[] = [];
    const provesPeople = traits.strength === "person";

    beforeEach(async () => {
      service = await start();
      makeStore = await openStore?.();
      scene = await aScene();
    });

    afterEach(async () => {
      for (const each of scenes.splice(0)) await each.engine.stop();
      await service.close();
      expect(service.traffic.problems).toEqual([]);
    });

    async function aScene(over: Partial<Rules> = {}, store?: Scene["store"]) {
      // Answers count at once: the clock of a scene stands still.
      const undoMs = { ...DEFAULT_RULES.undoMs, slack: 0 };
      const rules = { reach: [service.reach], personChannel: provesPeople, undoMs, ...over };
      const made = new Scene({
        rules,
        openChannel: () => Promise.resolve(service.channel),
        ...(store ? { store: () => store } : makeStore && { store: makeStore }),
      });
      scenes.push(made);
      if (!store)
        await made.engine.putPerson(
          { id: "mika", version: 0, groups: [], telegram: String(CHAT), ...service.person },
          SYSTEM,
        );
      return made;
    }

    async function asked(raw: Record<string, unknown> = {}) {
      const { question } = await scene.ask(raw);
      await scene.pass(0);
      // A listening engine may send it itself.
      const isTried = async () =>
        (await scene.engine.listDeliveries(question.id)).every(({ state, failure }) => state !== "due" || failure);
      await expect.poll(isTried, { timeout: WAIT_MS }).toBe(true);
      return question;
    }

    async function shownText() {
      await scene.pass(0);
      return (service.shown().at(-1)?.text ?? "").replaceAll("\u2060", "");
    }

    function labels() {
      return (service.shown().at(-1)?.buttons ?? [])
        .map(({ label }) => label)
        .filter((label) => /^[A-Z]+\) /.test(label));
    }

    async function press(label: string) {
      const button = service
        .shown()
        .at(-1)
        ?.buttons.find((each) => each.label.startsWith(label));
      if (!button) throw new Error(`there is no button ${label}: ${labels().join(", ")}`);
      await button.press();
    }

    function listen() {
      void scene.engine.work();
    }

    async function statusOf(id: QuestionId) {
      return (await scene.engine.read(id)).question.status;
    }

    test("a question is asked, with its options, deadline and run", async () => {
      await asked();
      const text = await shownText();
      for (const part of ["Redis or Memcached?", "A) Redis", "B) Memcached", "#1"]) expect(text).toContain(part);
      expect(text).toMatch(/\bby 2026-01-02 12:00 UTC/i);
      expect(service.shown()).toHaveLength(1);
    });

    test("what only the asker claims about its run is marked, and what is known is not", async () => {
      const claims = { agent: "claude", repo: `acme/${"long".repeat(100)}` };
      const { question } = await scene.engine.ask(scene.input(), AGENT, { run: claims });
      await scene.pass(0);
      expect(await shownText()).toMatch(/acme\/[^ ]+ \(unverified\) · claude \(unverified\)/);
      await scene.engine.cancel(question.id, {}, ADA);
      await scene.pass(0); // where its end is a message of its own, that comes first
      const { id: runId } = await scene.engine.createRun({ agent: "claude", repo: "acme/api" }, ADA);
      await scene.engine.ask(scene.input({ question: "Which port?" }), AGENT, { runId });
      await scene.pass(0);
      expect(await shownText()).toMatch(/acme\/api · claude(?! \(unverified)/);
    });

    test("at least forty cases apply to this channel", ({ task }) => {
      const cases = task.suite?.tasks.filter(({ mode }) => mode !== "skip") ?? [];
      expect(cases.length).toBeGreaterThan(40);
    });

    test("what an option means, and which is recommended, is shown", async () => {
      const options = [{ label: "Redis", description: "one more service", recommended: true }, { label: "Memcached" }];
      await asked({ options });
      const text = await shownText();
      expect(text).toMatch(/A\) Redis \(recommended\)/);
      expect(text).toContain("one more service");
    });

    test("an approval shows what it allows, character by character", async () => {
      const command = "rm -r build/out-1 # 7 files";
      await asked({ kind: "approval", tool: { name: "Bash", input: { command } } });
      expect(await shownText()).toContain(command);
    });

    test("a question that is answered before its message could leave disturbs nobody", async () => {
      const { question } = await scene.ask();
      await scene.engine.answer(question.id, said("1"), ADA);
      await scene.pass(0);
      expect(service.traffic.requests()).toBe(0);
      expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ state: "skipped" }]);
    });

    test("without a public address no link to a page leaves", async () => {
      const { id } = await asked();
      expect(service.traffic.everythingSent()).not.toContain(`/q/${id}`);
    });

    test.runIf(traits.isPublic)("the context of a question stays out of a channel that others may read", async () => {
      await asked({ context: "The customer is Example Corporation." });
      expect(service.traffic.everythingSent()).not.toContain("Example Corporation");
    });

    test("a question in one's own words is asked", async () => {
      await asked({ question: "What is the name of the queue?", options: [] });
      expect(await shownText()).toContain("What is the name of the queue?");
      expect(labels()).toEqual([]);
    });

    test("answered elsewhere, the message says who, where and what, and has no choices", async () => {
      const { id } = await asked();
      await scene.engine.answer(id, said("2"), ADA);
      expect(await shownText()).toContain("Answered by ada (cli): Memcached");
      expect(labels()).toEqual([]);
    });

    test("cancelled, the message says so", async () => {
      const { id } = await asked();
      await scene.engine.cancel(id, { reason: "not needed any more" }, ADA);
      expect(await shownText()).toContain("Cancelled by ada (cli): not needed any more");
      expect(labels()).toEqual([]);
    });

    test("expired, the message says what happened", async () => {
      await asked({ timeout: "1h", on_timeout: "skip" });
      await scene.pass(HOUR_MS);
      expect(await shownText()).toContain("Nobody answered in time; the run skips");
      expect(labels()).toEqual([]);
    });

    test("escalated, the message shows it or stays as it is, and can still be answered", async () => {
      const { id } = await asked({ on_timeout: { type: "escalate", steps: [{ after: "1h", to: ["lena"] }] } });
      await scene.engine.escalate(id, ADA);
      if (!traits.isFixed) expect(await shownText()).toMatch(/\bby 2026-01-01 13:00 UTC/i);
      expect(service.shown()).toHaveLength(1);
    });

    test("extended, the message shows the new deadline", async () => {
      const { id } = await asked();
      await scene.engine.extend(id, HOUR_MS, ADA);
      if (traits.isFixed) return expectNothingMore();
      expect(await shownText()).toMatch(/\bby 2026-01-02 13:00 UTC/i);
    });

    test("claimed and released, there is still one message", async () => {
      const { id } = await asked();
      await scene.engine.claim(id, ADA);
      await shownText();
      await scene.engine.release(id, ADA);
      await shownText();
      expect(service.shown()).toHaveLength(1);
      if (traits.isFixed) await expectNothingMore();
    });

    test("a correction or an answer that is taken back is shown", async () => {
      const { id } = await asked();
      await scene.engine.answer(id, said("1", { undoMs: 5000 }), ADA);
      if (traits.isFixed) return expectNothingMore();
      expect(await shownText()).toContain("has just answered: Redis");
      expect(labels()).toEqual([]);
      await scene.engine.undo(id, ADA);
      expect(await shownText()).not.toContain("has just answered");
    });

    test("a message is in the language of its reader", async () => {
      scene = await aScene({ language: "de" });
      const { id } = await asked({ on_timeout: "skip" });
      expect(await shownText()).toContain("Bis 2026-01-02 12:00 UTC. Danach gilt: Der Lauf wird übersprungen.");
      await scene.engine.answer(id, said("2"), ADA);
      expect(await shownText()).toContain("Beantwortet von ada (cli): Memcached");
    });

    test.each(KINDS)("$kind are shown wholly, with how to answer them", async ({ raw, parts }) => {
      const { id } = await asked({ question: undefined, options: undefined, ...raw });
      const text = await shownText();
      for (const part of parts) expect(text).toContain(part);
      expect(text).toMatch(new RegExp(`askd answer ${shortId(id)}|[Rr]eply`));
      expect(labels()).toEqual([]);
    });

    test("a veto closes the question for all, and the message says so", async () => {
      await scene.know("ada");
      const tool = { name: "Bash", input: { command: "ls" } };
      const { id } = await asked({ kind: "approval", tool, approvals: { need: 2, from: ["ada", "mika"], veto: true } });
      await scene.engine.answer(id, said("deny"), ADA);
      expect(await shownText()).toMatch(/Answered by ada \(cli\): Deny \(veto\)/);
      expect(labels()).toEqual([]);
    });

    test("two questions have two messages", async () => {
      await asked();
      await asked({ question: "Which port?", options: ["80", "443"] });
      expect(service.traffic.everythingSent()).toContain("Which port?");
      expect(service.traffic.everythingSent()).toContain("Redis or Memcached?");
    });

    test("a reminder comes at half of the time, and none once somebody is on it", async () => {
      const { id } = await asked({ timeout: "10h" });
      await scene.pass(5 * HOUR_MS);
      const count = service.traffic.requests();
      expect(service.traffic.everythingSent()).toContain("Reminder 1");
      await scene.engine.claim(id, ADA);
      await scene.pass(0);
      const claimed = service.traffic.requests();
      await scene.pass(4 * HOUR_MS);
      expect(service.traffic.requests()).toBe(claimed);
      expect(claimed).toBeLessThanOrEqual(count + 1);
    });

    test("after a reminder the message of the question still shows the outcome", async () => {
      const { id } = await asked({ timeout: "10h" });
      await scene.pass(5 * HOUR_MS);
      await scene.engine.answer(id, said("2"), ADA);
      expect(await shownText()).toContain("Answered by ada (cli): Memcached");
      expect(service.shown()).toHaveLength(1);
    });

    test.runIf(traits.hasStatuses)("429 with Retry-After waits as long as it says", async () => {
      service.traffic.fail({ status: 429, retryAfterS: 40 });
      await asked();
      await scene.pass(30 * SECOND_MS);
      expect(service.shown()).toHaveLength(0);
      await scene.pass(15 * SECOND_MS);
      expect(service.shown()).toHaveLength(1);
    });

    test("5xx for an hour loses nothing, is reported once, and ends in one message", async () => {
      service.traffic.fail({ status: 503 }, 200);
      const { id } = await asked();
      for (let minutes = 0; minutes < 60; minutes += 1) await scene.pass(60 * SECOND_MS);
      const [delivery] = await scene.engine.listDeliveries(id);
      expect(delivery).toMatchObject({ state: "due" });
      expect(delivery?.failure?.why).toMatch(/503|Internal|no notification service|could not deliver/);
      expect(service.traffic.requests()).toBeLessThan(10);
      service.traffic.recover();
      await scene.pass(HOUR_MS);
      await scene.pass(HOUR_MS);
      expect(service.shown()).toHaveLength(1);
      const types = await chainOf(id);
      expect(types.filter((type) => type === "question.delivery_failed")).toHaveLength(1);
      expect(types.filter((type) => type === "question.notified")).toHaveLength(1);
    });

    test("a failing channel never keeps a question from being answered", async () => {
      service.traffic.fail({ status: 500 }, 5);
      const { id } = await asked();
      await scene.engine.answer(id, said("1"), ADA);
      expect(await statusOf(id)).toBe("answered");
    });

    test("a restart in the middle goes on where it was, with one message", async () => {
      const { question } = await scene.ask();
      const second = await aScene({}, scene.store);
      await Promise.all([scene.engine.doDue(), second.engine.doDue()]);
      await scene.pass(60 * SECOND_MS);
      expect(service.traffic.requests()).toBe(1);
      await second.engine.answer(question.id, said("1"), ADA);
      await second.engine.doDue();
      expect(service.shown()).toHaveLength(1);
      expect(await shownText()).toContain("Answered by ada");
    });

    test.each([100, 1_900, 3_900, 4_096, 5_000, 16_000])(
      "a question of %i characters is within every limit",
      async (length) => {
        const options = Array.from({ length: 5 }, (_, index) => `Option ${index} ${"x".repeat(80)}`);
        await asked({ question: "ä".repeat(Math.floor(length / 2)), options, context: "c".repeat(length) });
        expect(await shownText()).toContain("ää");
      },
    );

    test("fifty options with long labels are within every limit", async () => {
      const options = Array.from({ length: 50 }, (_, index) => `Option number ${index} ${"&<>é".repeat(20)}`);
      await asked({ options });
      expect(service.shown()).toHaveLength(1);
    });

    test.each(HOSTILE)("hostile text mentions nobody and is only text: %j", async (text) => {
      await asked({ question: text, options: [text.slice(0, 60), "No"], context: text });
      const all = service.traffic.everythingSent();
      expect(all).not.toMatch(/\u202e|\u200b/);
      if (traits.hasMentions) expect(all).not.toMatch(/@everyone|@here|@lena|@acme|#123|api#7|<!channel>|<@U/);
      if (traits.hasMarkdownLinks) expect(all).not.toContain("](");
      expect(service.shown()).toHaveLength(1);
    });

    test("secrets of the asker never leave, in the question, in options or in an answer", async () => {
      const input = scene.input({
        question: `Is ${SECRET} right?`,
        options: [`use ${SECRET}`, "no"],
        context: `k=${SECRET}`,
      });
      const { question } = await scene.engine.ask(input, ADA, { secrets: [SECRET] });
      await scene.pass(0);
      await scene.engine.answer(question.id, said("1"), ADA);
      await scene.pass(0);
      expect(service.traffic.everythingSent()).toContain("[redacted]");
      expect(service.traffic.everythingSent()).not.toContain(SECRET);
    });

    test("known forms of secrets and configured patterns never leave", async () => {
      scene = await aScene({ redact: [/ACME-\d+/gu] });
      await asked({ question: "Use ghp_0123456789abcdefghijABCDEFGHIJ012345 for ACME-4711?", options: ["yes", "no"] });
      expect(service.traffic.everythingSent()).not.toMatch(/ghp_0123|ACME-4711/);
    });

    test("an approval whose command is cut has no button that approves", async () => {
      const tool = { name: "Bash", input: { command: `rm -rf ${"x".repeat(30_000)}` } };
      await asked({ kind: "approval", tool });
      expect(labels().filter((label) => label.includes("Allow"))).toEqual([]);
    });

    test("an approval whose command is redacted has no button that approves", async () => {
      const tool = {
        name: "Bash",
        input: { command: "curl -H 'Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345' x" },
      };
      await asked({ kind: "approval", tool });
      expect(labels().filter((label) => label.includes("Allow"))).toEqual([]);
    });

    test("high risk names a way that is open: not the terminal where somebody has to be known", async () => {
      scene = await aScene({ personChannel: true });
      const { id } = await asked({ risk: "high" });
      if (!provesPeople) expect(await shownText()).not.toContain(`askd answer ${shortId(id)}`);
      const { id: other } = await asked({ kind: "approval", tool: { name: "Bash", input: { command: "rm -rf /" } } });
      await scene.engine.answer(other, said("deny"), ADA);
      expect(await statusOf(other)).toBe("answered");
    });

    test("a channel can send a note, such as that another channel fails, unless it has issues only", async () => {
      const { channel, reach, person, traffic } = service;
      // A comment of an issue is about that issue, and stays there for all to read.
      if (reach.hasIssues) return expect(channel.note).toBeUndefined();
      const mika = { id: "mika", version: 0, groups: [], telegram: String(CHAT), ...person };
      const address = reach.isPersonal ? findAddress(mika, reach.name) : undefined;
      const note = channel.note?.("Nothing was sent since 12:00", { address });
      expect(note && (await channel.send(note))).toMatchObject({ ok: true });
      expect(traffic.everythingSent()).toContain("Nothing was sent since 12:00");
    });

    test("everything that was done is in the trail and verifies", async () => {
      const { id } = await asked();
      await scene.engine.answer(id, said("1"), ADA);
      await scene.pass(0);
      expect((await scene.engine.verify()).problems).toEqual([]);
    });

    if (traits.strength !== undefined) replyCases();

    function replyCases() {
      test("an approval that is wholly visible has both buttons, and can be allowed there", async () => {
        listen();
        const { id } = await asked({ kind: "approval", tool: { name: "Bash", input: { command: "ls" } }, risk: "low" });
        expect(labels()).toEqual(expect.arrayContaining(["A) Allow", "B) Deny"]));
        await press("A)");
        await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
      });

      test("answered there, it counts once, with the person and the channel", async () => {
        listen();
        const { id } = await asked();
        await press("B)");
        await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
        const { question } = await scene.engine.read(id);
        expect(question).toMatchObject({
          answer: {
            by: { id: "mika", channel: service.reach.name, strength: traits.strength },
          },
        });
        if (traits.isFixed) return expectNothingMore();
        await expect.poll(shownText, { timeout: WAIT_MS }).toContain("Answered by mika");
      });

      test("an approval is given for the rest of the run there", async () => {
        listen();
        const tool = { name: "Bash", input: { command: "npm test -- cache" } };
        const { id } = await asked({ kind: "approval", tool, risk: "medium" });
        const label = labels().find((each) => /^[A-Z]+\) Allow exactly/.test(each)) ?? "";
        expect(label).not.toBe("");
        await press(label);
        await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
        expect((await scene.engine.read(id)).question).toMatchObject({
          answer: { items: { "1": { values: ["allow-run"] } } },
        });
      });

      test("the same act delivered again counts once and is not responded to", async () => {
        listen();
        const { id } = await asked();
        await press("B)");
        await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
        if (traits.mayRepeat) await service.repeat?.();
        expect(service.repeat === undefined).toBe(!traits.mayRepeat);
        await settle();
        const events = await chainOf(id);
        expect(events.filter((type) => type === "question.answered")).toHaveLength(1);
      });

      test("a late reply is told the truth, once", async () => {
        const { id } = await asked();
        const button = service.shown().at(-1)?.buttons[0];
        await scene.engine.answer(id, said("2"), ADA);
        // Pressed before the message could show the outcome.
        await button?.press();
        listen();
        await expect.poll(() => service.responses().join(), { timeout: WAIT_MS }).toContain("already answered by ada");
        await button?.press();
        await button?.press();
        await settle();
        expect(service.responses()).toHaveLength(1);
        expect(await chainOf(id)).toContain("question.late_reply");
        expect((await scene.engine.read(id)).question).toMatchObject({ answer: { by: { id: "ada" } } });
      });

      test("an act that belongs to no message of ours changes nothing", async () => {
        listen();
        const { id } = await asked();
        await service.forge?.();
        expect(service.forge).toBeDefined();
        await settle();
        expect(await statusOf(id)).toBe("pending");
        expect(service.responses()).toEqual([]);
      });

      test("the channel says at once that it can be read, before any reply", async () => {
        // What only its own process hears is told of by sending.
        if (service.channel.isHeard) return expect(service.channel.listen).toBeDefined();
        const stop = new AbortController();
        const batches = service.channel.listen?.(undefined, stop.signal, () => Promise.resolve([]));
        const reading = batches?.[Symbol.asyncIterator]();
        const { value } = (await reading?.next()) ?? {};
        expect(value).toMatchObject({ replies: [], pairings: [] });
        expect(value?.trouble).toBeUndefined();
        stop.abort();
        await reading?.next().catch(() => undefined); // aborted
      });

      test("replies that came while nobody listened are read later", async () => {
        const { id } = await asked();
        await press("A)");
        listen();
        await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
      });

      test("two processes do not fight over one service: one listens, and the other takes over", async () => {
        const second = await aScene({}, scene.store);
        listen();
        void second.engine.work();
        const { id } = await asked();
        await scene.engine.stop();
        scenes.splice(scenes.indexOf(scene), 1);
        await press("A)");
        await expect
          .poll(async () => (await second.engine.read(id)).question.status, { timeout: 2 * WAIT_MS })
          .toBe("answered");
      }, 60_000);

      test("high risk is closed there only if a reply proves who sent it", async () => {
        listen();
        const { id } = await asked({ risk: "high" });
        expect(labels()).toHaveLength(provesPeople ? 2 : 0);
        if (!provesPeople) return;
        await press("A)");
        await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
      });

      test("several items and multi-select have no buttons that could answer only a part", async () => {
        await asked({ question: "Which?", options: ["a", "b"], multiple: true });
        expect(labels()).toEqual([]);
        await asked({
          items: [
            { text: "One?", options: ["a", "b"] },
            { text: "Two?", options: ["c", "d"] },
          ],
          question: undefined,
          options: undefined,
        });
        expect(labels()).toEqual([]);
      });

      test("a veto and a vote are counted, and the message says how many are missing", async () => {
        listen();
        await scene.know("lena");
        const { id } = await asked({ approvals: { need: 2, from: ["mika", "lena"] } });
        await press("A)");
        await expect
          .poll(async () => (await scene.engine.read(id)).question.votes.length, { timeout: WAIT_MS })
          .toBe(1);
        if (!traits.isFixed) await expect.poll(shownText, { timeout: WAIT_MS }).toContain("1 of 2");
        expect(await statusOf(id)).toBe("pending");
      });

      test.runIf(traits.hasStatuses)(
        "a bad token is reported at once, and works as soon as it is put right",
        async () => {
          const good = service.channel;
          service.channel = service.withBadToken?.() ?? good;
          const { id } = await asked();
          expect(await scene.engine.listDeliveries(id)).toMatchObject([{ state: "due" }]);
          expect(await chainOf(id)).toContain("question.delivery_failed");
          service.channel = good;
          await scene.pass(DAY_MS / 24);
          expect(service.shown()).toHaveLength(1);
        },
      );

      test("the settings can be checked", async () => {
        expect(await service.channel.verify()).not.toBe("");
        if (service.withBadToken)
          await expect(service.withBadToken().verify()).rejects.toThrow(/token|Unauthorized|password/);
      });

      if (traits.hasWords) wordCases();
    }

    function wordCases() {
      test("an option by its label, with a reason below it", async () => {
        listen();
        const { id } = await asked();
        await service.say?.("memcached\nit is there already");
        await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
        expect((await scene.engine.read(id)).question).toMatchObject({
          answer: { items: { "1": { values: ["Memcached"] } }, note: "it is there already" },
        });
      });

      test("an approval that is not wholly shown can be denied by a reply, and not allowed", async () => {
        listen();
        const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        const { id } = await asked({ kind: "approval", tool: { name: "Bash", input: { command: `echo ${secret}` } } });
        await service.say?.("A");
        await service.say?.("Allow");
        await service.say?.("B");
        await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
        expect((await scene.engine.read(id)).question).toMatchObject({
          answer: { items: { "1": { values: ["deny"] } } },
        });
      });

      test.runIf(provesPeople)(
        "an approval of high risk that is not wholly shown is allowed there with the code from where it is",
        async () => {
          listen();
          const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
          const tool = { name: "Bash", input: { command: `rm -rf / ${secret}` } };
          const { id } = await asked({ kind: "approval", tool, risk: "high" });
          await service.say?.("Allow");
          await expect.poll(() => service.responses().join(), { timeout: WAIT_MS }).toMatch(/askd answer \S+ allow/);
          const refused = await scene.engine
            .answer(id, said("allow", { confirmed: true }), ADA)
            .catch((error: unknown) => error as { hint: string });
          expect(refused).toMatchObject({ code: "needs_person" });
          const [words = ""] = /allow \w{6}$/.exec("hint" in refused ? refused.hint : "") ?? [];
          await service.say?.("allow 000000");
          await service.say?.(words);
          await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
          expect((await scene.engine.read(id)).question).toMatchObject({
            answer: { by: { id: "mika", strength: "person" }, items: { "1": { values: ["allow"] } } },
          });
          const types = await chainOf(id);
          expect(types.filter((type) => /refused|answered/.test(type))).toEqual([
            "question.refused",
            "question.answered",
          ]);
        },
      );

      test("several items and several options are answered in one reply", async () => {
        listen();
        for (const [index, words, values] of [
          [0, "1B 2A", { cache: ["Memcached"], ttl: ["1 h"] }],
          [1, "A, B", { "1": ["unit", "end to end"] }],
        ] as const) {
          const { id } = await asked({ question: undefined, options: undefined, ...KINDS[index]?.raw });
          await service.say?.(words);
          await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
          const { question } = await scene.engine.read(id);
          const items = question.status === "answered" ? Object.values(question.answer.items) : [];
          expect(items.map((item) => item.values)).toEqual(Object.values(values));
        }
      });

      test("an answer in one's own words", async () => {
        listen();
        const { id } = await asked();
        await service.say?.("neither, use the file system");
        await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
      });

      test("a reply that comes before its message is recorded counts", async () => {
        const send = service.channel.send.bind(service.channel);
        Object.assign(service.channel, {
          send: async (wire: WireMessage) => {
            const result = await send(wire);
            await service.say?.("neither, use the file system");
            await new Promise((resolve) => setTimeout(resolve, UNRECORDED_MS));
            return result;
          },
        });
        listen();
        const { id } = await asked();
        await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
      });

      test("an invalid reply gets one helpful response, and the question waits", async () => {
        listen();
        const { id } = await asked({ allow_text: false });
        await service.say?.("perhaps");
        await expect.poll(() => service.responses().length, { timeout: WAIT_MS }).toBe(1);
        expect(service.responses()[0]).toContain("Reply with A or B");
        expect(await statusOf(id)).toBe("pending");
      });

      test("a person who replies too often is told when to try again, and then counts", async () => {
        scene = await aScene({ limits: { ...ROOMY.limits, repliesPerMinute: 2 } });
        listen();
        const { id } = await asked({ allow_text: false });
        for (let count = 1; count <= 3; count += 1) {
          await service.say?.(`nonsense ${count}`);
          await expect.poll(() => service.responses().length, { timeout: WAIT_MS }).toBe(count);
        }
        expect(service.responses().at(-1)).toMatch(/You replied 2 times within a minute; try again in \d+ s/);
        scene.skip(MINUTE_MS);
        await service.say?.("A");
        await expect.poll(() => statusOf(id), { timeout: WAIT_MS }).toBe("answered");
      });

      test("a program that replies in a loop is not responded to for ever", async () => {
        listen();
        await asked({ allow_text: false });
        for (let count = 0; count < 12; count += 1) await service.say?.(`nonsense ${count}`);
        await settle();
        await settle();
        expect(service.responses().length).toBeLessThanOrEqual(5);
      });

      test("claim, snooze, you decide and asking back", async () => {
        listen();
        const first = await asked();
        await service.say?.("claim");
        await expect
          .poll(async () => (await scene.engine.read(first.id)).question.claim?.by.id, { timeout: WAIT_MS })
          .toBe("mika");
        await service.say?.("snooze 2h");
        await expect
          .poll(async () => (await scene.engine.read(first.id)).question.snoozedUntil, { timeout: WAIT_MS })
          .toBeDefined();
        await service.say?.("you decide");
        await expect.poll(() => statusOf(first.id), { timeout: WAIT_MS }).toBe("answered");
        expect((await scene.engine.read(first.id)).question).toMatchObject({ answer: { outcome: "decide" } });
        const second = await asked({
          question: "Which port?",
          options: ["80", "443"],
          accepts: ["answer", "decide", "clarify"],
        });
        await service.say?.("? Which region?");
        await expect.poll(() => statusOf(second.id), { timeout: WAIT_MS }).toBe("answered");
        expect((await scene.engine.read(second.id)).question).toMatchObject({
          answer: { outcome: "clarify", note: "Which region?" },
        });
      });

      test.runIf(traits.tellsOfDeletion)("a message that a person deleted is sent again", async () => {
        const { id } = await asked();
        service.deleteMessages?.();
        expect(service.shown()).toEqual([]);
        await scene.engine.extend(id, HOUR_MS, ADA);
        await scene.pass(0);
        await scene.pass(SECOND_MS);
        expect(service.shown()).toHaveLength(1);
      });
    }

    /** The first message is all that was sent. */
    async function expectNothingMore() {
      await scene.pass(0);
      expect(service.traffic.requests()).toBe(1);
    }

    async function chainOf(id: QuestionId) {
      const { run } = await scene.engine.read(id);
      return (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
    }
  });
}

/** Gives a listener the time to do what it must not do. */
function settle() {
  return new Promise((resolve) => setTimeout(resolve, 300));
}
