import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { SYSTEM } from "../../core/people/actor.ts";
import type { RefusalFactName } from "../../core/refusal-fact.ts";
import type { QuestionId } from "../../core/id.ts";
import { HOUR_MS } from "../../core/instant.ts";
import { REFUSALS, Refusal, type RefusalCode } from "../../core/refusal.ts";
import { DEFAULT_LIMITS } from "../../core/rules.ts";
import { confirmationWord } from "../../core/question/risk.ts";
import { changeTemplate } from "../../core/answer/template.ts";
import { deRefusal } from "../../core/text/de-refusal.ts";
import { refusalWords } from "../../web/words/refusal-words.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { findEnglish, foreign } from "../../../test/english.ts";
import { PageVisit } from "../../../test/page-visit.ts";
import { Scene, said } from "../../../test/scene.ts";

const LENA = { scope: "human", id: "lena", channel: "slack", strength: "person" } as const;
const TIGHT = { personChannel: true, limits: { ...DEFAULT_LIMITS, comments: 1, pending: 2 } };
const FORM = "application/x-www-form-urlencoded";

/** Does what a page refuses, and comes back with the page that says so. */
type Try = (desk: Desk) => Promise<string>;

/** Somebody at a browser of one language, and the agents who ask them. */
class Desk {
  readonly visit: PageVisit;
  readonly #language: string;

  constructor(visit: PageVisit, language: string) {
    this.visit = visit;
    this.#language = language;
  }

  get engine() {
    return this.visit.at.scene.engine;
  }

  async ask(raw: Record<string, unknown> = {}): Promise<QuestionId> {
    const options = ["Redis", "Memcached"].map(foreign);
    return (await this.visit.at.scene.ask({ question: foreign("Redis or Memcached?"), options, ...raw })).question.id;
  }

  async post(path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<string> {
    return (await this.visit.post(path, fields, { "accept-language": this.#language, ...headers })).html;
  }

  /** Gives the same answer to several questions, here one. */
  batch(id: QuestionId, words = foreign("Redis")): Promise<string> {
    return this.post("/batch", { q: id, said: words });
  }

  /** Tries a template on a question. */
  async tryOut(raw: Record<string, unknown>, template: { text?: string; choose?: string[] }): Promise<string> {
    const id = await this.ask(raw);
    await this.engine.putTemplate({ name: "tried", ...template }, ADA);
    const got = await this.visit.open(`/templates?try=tried&on=${id}`, { "accept-language": this.#language });
    return got.html;
  }

  /** A name that is not ours, which `fetch` would not send. */
  openAs(host: string): Promise<string> {
    const headers = { host, accept: "text/html", "accept-language": this.#language };
    return new Promise((resolve, reject) => {
      const sent = request(`${this.visit.at.url}/runs`, { headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve(text));
      });
      sent.on("error", reject).end();
    });
  }
}

const SEVERAL = {
  question: undefined,
  options: undefined,
  items: [
    { id: "cache", text: foreign("Which cache?"), options: ["Redis", "None"].map(foreign) },
    { id: "size", text: foreign("Which size?"), options: ["Small", "Large"].map(foreign) },
  ],
};
const POOL = {
  question: undefined,
  options: undefined,
  items: [
    {
      text: foreign("Which pool?"),
      schema: { type: "object", properties: { size: { type: "integer", minimum: 1 } }, required: ["size"] },
    },
  ],
};

/** A question whose time is over. */
async function expired(desk: Desk, onTimeout: string): Promise<QuestionId> {
  const id = await desk.ask({ timeout: "1h", on_timeout: onTimeout });
  await desk.visit.at.scene.pass(2 * HOUR_MS);
  return id;
}

async function endedRun(desk: Desk): Promise<string> {
  const run = await desk.visit.at.scene.startedRun();
  await desk.engine.cancelRun(run.id, ADA, foreign("not needed"));
  return run.id;
}

const TRIES: Readonly<Record<RefusalFactName, Try>> = {
  no_item: (desk) => desk.tryOut(SEVERAL, { text: foreign("colour: red\nshape: round") }),
  missing_items: (desk) => desk.tryOut(SEVERAL, { text: "1A" }),
  which_item: (desk) => desk.tryOut(SEVERAL, { text: foreign("surely") }),
  one_choice: (desk) => desk.tryOut({}, { choose: ["1", "2"] }),
  unnamed_choice: (desk) => desk.tryOut(SEVERAL, { choose: ["1", "2"] }),
  lacking_field: (desk) => desk.tryOut({}, { text: "{{branch}}" }),
  ambiguous: async (desk) => desk.batch(await desk.ask({ options: ["B", "A"] }), "a"),
  no_such_option: async (desk) => desk.batch(await desk.ask({ allow_text: false }), foreign("Valkey")),
  mismatch: async (desk) => desk.post(`/q/${await desk.ask(POOL)}/answer`, { do: "answer", "f.0.size": "0" }),
  risky_change: async (desk) => {
    const tool = { name: foreign("Bash"), input: { command: foreign("npm test") }, takes_change: true };
    const { question } = await desk.visit.at.scene.ask({ kind: "approval", tool });
    const html = await desk.post(`/q/${question.id}/answer`, { do: "answer", "i.0": "3", "t.0": "rm -rf /" });
    return html.replaceAll(/May the agent use|to run/g, foreign); // the agent reads the title too
  },
  needs_person_code: async (desk) => {
    const tool = { name: foreign("Bash"), input: { command: foreign("rm -rf /") } };
    const { question, run } = await desk.visit.at.scene.ask({ kind: "approval", tool, risk: "high" });
    const word = confirmationWord(question.title, run.name);
    const html = await desk.post(`/q/${question.id}/answer`, { do: "answer", "i.0": "1", word });
    return html.replaceAll(/May the agent use|to run/g, foreign);
  },
  control_character: async (desk) => desk.post(`/q/${await desk.ask()}/comment`, { text: "a\u0007b" }),
  too_long: async (desk) => desk.post(`/q/${await desk.ask()}/comment`, { text: "a".repeat(70_000) }),

  answered: async (desk) => {
    const id = await desk.ask();
    await desk.engine.answer(id, said("1"), LENA);
    return desk.batch(id);
  },
  answered_late: async (desk) => {
    const id = await expired(desk, "fail");
    await desk.engine.answer(id, said("1", { force: true }), LENA);
    return desk.batch(id);
  },
  timed_out: async (desk) => desk.batch(await expired(desk, "proceed")),
  timed_out_run: async (desk) => {
    const { scene } = desk.visit.at;
    const run = await scene.startedRun();
    const options = ["Yes", "No"].map(foreign);
    const input = scene.input({ question: foreign("Now?"), options, timeout: "1h", on_timeout: "proceed" });
    const { question } = await desk.engine.ask(input, AGENT, { runId: run.id });
    await scene.pass(2 * HOUR_MS);
    await desk.engine.cancelRun(run.id, ADA, foreign("not needed"));
    return desk.batch(question.id);
  },
  cancelled: async (desk) => {
    const id = await desk.ask();
    await desk.engine.cancel(id, { reason: foreign("not needed") }, LENA);
    return desk.batch(id);
  },
  settling: async (desk) => {
    const id = await desk.ask();
    await desk.engine.answer(id, said("1", { undoMs: HOUR_MS }), LENA);
    return desk.batch(id);
  },
  needs_votes: async (desk) => {
    const id = await desk.ask({ approvals: { need: 2, from: [] }, timeout: "1h", on_timeout: "proceed" });
    await desk.visit.at.scene.pass(HOUR_MS);
    return desk.post(`/q/${id}/amend`, { text: foreign("No, Redis.") });
  },
  not_for_you: async (desk) => desk.batch(await desk.ask({ approvals: { need: 1, from: ["lena", "noor"] } })),
  uncorrectable: async (desk) => desk.post(`/q/${await desk.ask()}/amend`, { text: foreign("No, Redis.") }),

  claimed: async (desk) => {
    const id = await desk.ask();
    await desk.engine.claim(id, LENA);
    return desk.post(`/q/${id}/claim`);
  },
  unclaimed: async (desk) => desk.post(`/q/${await desk.ask()}/release`),
  nobody_named: async (desk) => desk.post(`/q/${await desk.ask()}/assign`, { to: " , " }),
  snooze_past: async (desk) => desk.post(`/q/${await desk.ask()}/snooze`, { for: "0s" }),
  empty_comment: async (desk) => desk.post(`/q/${await desk.ask()}/comment`, { text: " " }),
  many_comments: async (desk) => {
    const id = await desk.ask();
    await desk.engine.comment(id, foreign("We have one already."), LENA);
    return desk.post(`/q/${id}/comment`, { text: foreign("Another.") });
  },
  nobody_further: async (desk) => desk.post(`/q/${await desk.ask()}/escalate`),
  no_deadline: async (desk) => desk.post(`/q/${await desk.ask({ on_timeout: "wait" })}/extend`, { by: "1h" }),
  extend_nothing: async (desk) => desk.post(`/q/${await desk.ask({ timeout: "1h" })}/extend`, { by: "0s" }),
  no_duration: async (desk) => desk.post(`/q/${await desk.ask()}/snooze`, { for: foreign("a while") }),
  endless_duration: async (desk) => desk.post(`/q/${await desk.ask()}/snooze`, { for: "4000d" }),

  run_ended: async (desk) => desk.post(`/r/${await endedRun(desk)}/cancel`),
  run_waits: async (desk) => {
    const { runId } = (await desk.engine.read(await desk.ask())).question;
    return desk.post(`/r/${runId}/resume`);
  },
  nothing_to_resume: async (desk) => desk.post(`/r/${(await desk.visit.at.scene.startedRun()).id}/resume`),

  empty_template: (desk) => desk.post("/templates", { name: "odd" }),
  unknown_field: (desk) => desk.post("/templates", { name: "odd", text: "{{colour}}" }),
  many_templates: async (desk) => {
    const { store, now } = desk.visit.at.scene;
    for (let n = 0; n < 500; n += 1) {
      const template = { name: `t${n}`, text: foreign("Yes."), version: 0, changes: [] };
      await store.commit(changeTemplate(template, { now, by: ADA }));
    }
    return desk.post("/templates", { name: "odd", text: foreign("Yes.") });
  },

  admin_only: (desk) => desk.post("/settings/tokens/none/revoke"),
  token_scope: (desk) => desk.post("/settings/tokens", { scope: "admin", subject: "eve", expires: "" }),
  full: async (desk) => {
    for (let n = 0; n < TIGHT.limits.pending; n += 1) await desk.ask({ question: foreign(`Which of ${n}?`) });
    return desk.post("/test-question");
  },

  other_name: (desk) => desk.openAs("askd.example.com"),
  other_site: (desk) => desk.post("/settings", {}, { origin: "https://example.com" }),
  not_json: (desk) => desk.post("/settings", {}, { "content-type": "text/plain" }),
  large_body: (desk) => desk.post("/settings", { theme: "x".repeat(1_100_000) }),
  foreign_form: (desk) => desk.post("/settings", { csrf: "guessed" }),
  unreadable_form: (desk) => desk.post("/settings", { theme: "pink", language: "", keys: "on" }),
  by_itself: async (desk) => desk.batch(await desk.ask({ risk: "high" })),
};

let visit: PageVisit;
afterEach(() => visit.stop());

/** The text of a page in one language, on a store of its own. */
async function say(language: string, act: Try): Promise<string> {
  visit = await PageVisit.start({}, {}, new Scene({ rules: TIGHT }));
  const html = await act(new Desk(visit, language));
  if (language !== "de") await visit.stop();
  return html;
}

/** The parts of a sentence that stand between what is filled in. */
function partsOf(pattern: string): string[] {
  return pattern.split(/\{\w+\}/).map((part) => part.trim());
}

describe("a page in German says what was refused:", () => {
  test.each(Object.entries(TRIES))("%s", async (name, act) => {
    const english = await say("en", act);
    const german = await say("de", act);
    expect(german).toContain('<html lang="de"');
    for (const part of partsOf(deRefusal.facts[name as RefusalFactName])) expect(german).toContain(part);
    expect(findEnglish(german, english)).toEqual([]);
  });

  test.each(Object.keys(REFUSALS))("%s, where nothing more is known", async (code) => {
    visit = await PageVisit.start();
    const refusal = new Refusal(code as RefusalCode, "It is so", { hint: "Do this", retryAfterMs: 90_000 });
    const words = refusalWords({ language: "de" }, refusal);
    expect(findEnglish(`<p>${words}</p>`, "<p>It is so. Do this</p>")).toEqual([]);
    expect(words).toMatch(/^[A-ZÄÖÜ][^{}]+$/);
  });
});

test("what is refused to a guest of a link, and what nobody expected, is said in German too", async () => {
  visit = await PageVisit.start();
  const { scene } = visit.at;
  const { question } = await scene.ask({
    question: foreign("Which?"),
    options: ["Yes", "No"].map(foreign),
  });
  const { text } = await scene.engine.issueLink(question.id, "lena", SYSTEM);
  const send = (language: string) =>
    visit.at.send("POST", `/a/${text}`, {
      body: "do=answer",
      headers: { accept: "text/html", origin: visit.at.url, "content-type": FORM, "accept-language": language },
    });
  const [german, english] = [await send("de"), await send("en")];
  expect(german.status).toBe(422);
  expect(findEnglish(String(german.body["text"]), String(english.body["text"]))).toEqual([]);
});
