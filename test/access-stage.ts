import { ADA, AGENT } from "./builders.ts";
import type { Came, Case, Who } from "./access-case.ts";
import { hook, hookHome } from "./hooked.ts";
import { hookInput } from "./hooks.ts";
import { Scene, said } from "./scene.ts";
import { type Got, ServedScene } from "./served.ts";
import { AGENTS } from "../src/agents/agents.ts";
import { knownClients } from "../src/agents/registry.ts";
import { type Actor, SYSTEM } from "../src/core/people/actor.ts";
import { BY_HEADER } from "../src/core/api/route.ts";
import type { QuestionId } from "../src/core/id.ts";
import { linkPath } from "../src/core/question/link.ts";
import { isPending } from "../src/core/question/question.ts";
import { confirmationWord } from "../src/core/question/risk.ts";
import type { Run } from "../src/core/run/run.ts";
import type { TokenInput } from "../src/core/people/token.ts";
import { unreachable } from "../src/core/unreachable.ts";
import { mcpPart } from "../src/server/mcp/http.ts";
import { type } from "./typed.ts";

const HOUR_MS = 3_600_000;
const LENA: Actor = { ...ADA, id: "lena" };
const NAMES: Partial<Record<Who, string>> = { named: "ada", unnamed: "eve", admin: "root", link: "ada" };
const OPTIONS = { question: "Deploy?", options: ["allow", "deny"] };
const MCP_VERSION = "2026-07-28";

/** A question in a run of its own, made ready for one case. */
interface Subject {
  run: Run;
  id: QuestionId;
  /** Another run, whose agent has nothing to do with this one. */
  other: Run;
}

/** The product on one store, with every door that is offered. */
export class AccessStage {
  readonly scene: Scene;
  readonly at: ServedScene;
  readonly #tokens = new Map<Who, string>();

  private constructor(scene: Scene, at: ServedScene) {
    this.scene = scene;
    this.at = at;
  }

  static async start(): Promise<AccessStage> {
    const scene = new Scene();
    await scene.know("ada", "lena", "eve");
    const holders = { own: "here", isGone: () => Promise.resolve(false) };
    const { engine, rules } = scene;
    const onBug = (error: unknown): void => {
      throw error;
    };
    const part = mcpPart({ engine, rules, holders, version: "0", host: "here", clients: knownClients(AGENTS), onBug });
    return new AccessStage(scene, await ServedScene.start({ parts: [part] }, scene));
  }

  stop(): Promise<void> {
    return this.at.stop();
  }

  /** Does what a case says once everything is ready for it, and tells what came of it. */
  async play(one: Case, begin: () => void = () => undefined): Promise<Came> {
    const subject = await this.#prepare(one);
    // Made before the row is changed: it may be the row of making tokens.
    const token = one.door === "rest" ? await this.#token(one.who, subject) : "";
    begin();
    switch (one.door) {
      case "rest":
        return cameOf(await this.#rest(one, subject, { token }));
      case "remote":
        return cameOf(await this.#remote(one, subject));
      case "cli":
        return this.#cli(one, subject);
      case "mcp":
        return this.#mcp(one, subject);
      case "web":
        return cameOf(await this.#web(one, subject));
      case "link":
        return this.#link(one, subject);
      case "hook":
        return this.#hook(subject);
      default:
        return unreachable(one.door);
    }
  }

  async #prepare({ verb, kind }: Case): Promise<Subject> {
    const { engine } = this.scene;
    const host = verb === "take_over_run" ? "silent" : "here";
    const run = await this.scene.startedRun({ host });
    const other = await this.scene.startedRun();
    const by: Actor = { ...AGENT, runId: run.id };
    const isRisky = kind === "risky" || kind === "confirmed";
    const asked = this.scene.input({
      ...OPTIONS,
      timeout: "1h",
      risk: isRisky ? "high" : "low",
      on_timeout:
        verb === "escalate" ? { do: "escalate", steps: [{ after: "1h", to: ["lena"] }], then: "fail" } : "fail",
      approvals: { need: kind === "voted" ? 2 : 1, from: kind === "named" ? ["ada", "lena"] : [] },
    });
    if (verb === "ask") return { run, other, id: "" as QuestionId }; // nothing is asked yet
    const { id } = (await engine.ask(asked, by, { runId: run.id })).question;
    const close = async (over: Parameters<typeof said>[1] = {}): Promise<void> => {
      if (kind === "voted") await engine.answer(id, said("allow", { confirmed: true }), LENA);
      await engine.answer(id, said("allow", { confirmed: true, ...over }), ADA);
    };
    const isOther = kind === "other_state";
    if (verb === "amend" ? !isOther : isOther) await close();
    else if (verb === "force") await this.scene.pass(HOUR_MS);
    else if (verb === "undo") await close({ undoMs: HOUR_MS });
    else if (verb === "release") await engine.claim(id, ADA);
    else if (verb === "resume_run") {
      await engine.endRun(run.id, { status: "completed" }, SYSTEM);
      await close({ resume: false });
    }
    return { run, other, id };
  }

  /** The token that somebody comes with; those of people are made once. */
  async #token(who: Who, { run, other }: Subject): Promise<string> {
    const subject = NAMES[who] ?? "claude";
    if (who === "own_agent" || who === "run_agent")
      return this.#issue({ scope: "agent", subject, runId: who === "own_agent" ? run.id : other.id });
    const kept = this.#tokens.get(who);
    if (kept !== undefined) return kept;
    const scope = who === "runless_agent" ? "agent" : who === "admin" ? "admin" : "human";
    const text = await this.#issue({ scope, subject: who === "runless_agent" ? "stranger" : subject });
    this.#tokens.set(who, text);
    return text;
  }

  async #issue(input: TokenInput): Promise<string> {
    return (await this.scene.engine.issueToken(input, SYSTEM)).text;
  }

  async #rest(one: Case, subject: Subject, more: { token?: string; headers?: Record<string, string> } = {}) {
    const [method, path, body] = requestFor(one, subject);
    const token = more.token ?? (await this.#token(one.who, subject));
    const isWrite = method !== "GET" && method !== "DELETE";
    return this.at.send(method, `/api/v1${path}`, {
      token,
      ...(isWrite && { body: body ?? {} }),
      ...(more.headers && { headers: more.headers }),
    });
  }

  /** A command in an agent's run whose server knows it by the token of an admin. */
  async #remote(one: Case, subject: Subject): Promise<Got> {
    const runId = one.who === "own_agent" ? subject.run.id : subject.other.id;
    const by = encodeURIComponent(JSON.stringify({ ...AGENT, channel: "cli", runId }));
    return this.#rest(one, subject, { token: await this.#token("admin", subject), headers: { [BY_HEADER]: by } });
  }

  async #cli(one: Case, subject: Subject): Promise<Came> {
    const runId = { own_agent: subject.run.id, run_agent: subject.other.id }[one.who as string];
    const env = { ASKD_HOME: "/nowhere", ASKD_NO_SERVICE: "1", ...(runId !== undefined && { ASKD_RUN: runId }) };
    const { exit, stderr } = await type(this.scene, wordsFor(one, subject), { env, user: NAMES[one.who] ?? "ada" });
    if (exit === 0) return "yes";
    if (exit === 7 || exit === 5) return "no";
    if (exit === 6) return "closed";
    return /high risk/.test(stderr) ? "unconfirmed" : `unexpected ${exit}: ${stderr}`;
  }

  async #mcp({ verb, who }: Case, subject: Subject): Promise<Came> {
    const calls: Record<string, [string, object]> = {
      ask: ["ask_human", { ...OPTIONS, timeout_seconds: 0 }],
      look: ["check_answer", { question_id: subject.id, timeout_seconds: 0 }],
      cancel: ["cancel_question", { question_id: subject.id }],
    };
    const [name, input] = calls[verb] ?? [];
    const token = await this.#token(who, subject);
    const prefix = "io.modelcontextprotocol";
    const meta = {
      [`${prefix}/protocolVersion`]: MCP_VERSION,
      [`${prefix}/clientInfo`]: { name: "test-client", version: "1" },
      [`${prefix}/clientCapabilities`]: {},
    };
    const params = { name, arguments: input, _meta: meta };
    const { status, body } = await this.at.send("POST", "/mcp", {
      token,
      body: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
      headers: {
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": MCP_VERSION,
        "mcp-method": "tools/call",
        "mcp-name": name ?? "",
        // Names the run of somebody else: that has to prove nothing.
        ...(who !== "own_agent" && verb === "ask" && { "askd-run": subject.run.id }),
      },
    });
    const text = typeof body["text"] === "string" ? body["text"] : JSON.stringify(body);
    if (/"code":"(not_permitted|not_found)"/.test(text)) return "no";
    if (text.includes('"success":false')) return "closed";
    if (status === 200 && !text.includes('"isError":true')) {
      // An agent of another run that asks is in its own.
      const { pendingId } = (await this.scene.engine.findRun(subject.run.id)) ?? {};
      return verb === "ask" && pendingId === undefined ? "no" : "yes";
    }
    return `unexpected ${status}: ${text.slice(0, 300)}`;
  }

  async #web(one: Case, subject: Subject): Promise<Got> {
    const [method, path, fields = {}] = formFor(one, subject);
    const cookie = `askd_session=${await this.#token(one.who, subject)}`;
    const headers = { cookie, accept: "text/html" };
    if (method === "GET") return this.at.send("GET", path, { headers });
    const page = String((await this.at.send("GET", "/settings", { headers })).body["text"]);
    const csrf = /name="csrf" value="(\w+)"/.exec(page)?.[1] ?? "";
    return this.at.send("POST", path, {
      body: new URLSearchParams({ csrf, ...fields }).toString(),
      headers: { ...headers, origin: this.at.url, "content-type": "application/x-www-form-urlencoded" },
    });
  }

  async #link({ verb, kind }: Case, { id }: Subject): Promise<Came> {
    const { engine } = this.scene;
    // A link to a question that is closed was made before.
    const open = kind === "other_state" ? (await this.#prepareOpen()).id : id;
    const { text } = await engine.issueLink(open, "ada", SYSTEM);
    if (kind === "other_state") await engine.answer(open, said("allow"), ADA);
    const path = `${linkPath(text)}${verb === "undo" ? "/undo" : ""}`;
    if (verb === "look") return cameOf(await this.at.send("GET", path));
    const got = await this.at.send("POST", path, {
      body: new URLSearchParams({ do: "answer", "i.0": "0" }).toString(),
      headers: { origin: this.at.url, "content-type": "application/x-www-form-urlencoded" },
    });
    if (verb === "answer") return cameOf(got);
    const { question } = await engine.read(open);
    return isPending(question) && question.settling ? "no" : "yes";
  }

  #prepareOpen(): Promise<Subject> {
    return this.#prepare({ verb: "answer", door: "link", who: "link", kind: "plain" });
  }

  async #hook({ run }: Subject): Promise<Came> {
    const env = { ASKD_HOME: hookHome(), ASKD_RUN: run.id };
    const hooked = hook(this.scene, hookInput("claude-2.1.325-question"), { env });
    const ended = hooked.then(() => true);
    for (;;) {
      const found = await this.scene.engine.findRun(run.id);
      if (found?.pendingId !== undefined) {
        await this.scene.pass(1_000);
        await hooked;
        return "yes";
      }
      const isOver = await Promise.race([ended, new Promise((resolve) => setTimeout(() => resolve(false), 20))]);
      if (isOver) return "no";
    }
  }
}

function cameOf({ status, body }: Got): Came {
  if (status < 400) return "yes";
  if (status === 401 || status === 403 || status === 404) return "no";
  if (status === 409) return "closed";
  return status === 428 || status === 422
    ? "unconfirmed"
    : `unexpected ${status}: ${JSON.stringify(body).slice(0, 300)}`;
}

type Request = readonly [method: string, path: string, body?: object];

function requestFor({ verb, who, kind }: Case, { id, run }: Subject): Request {
  const question = `/questions/${id}`;
  const confirmed = kind === "confirmed";
  const requests: Partial<Record<Case["verb"], Request>> = {
    ask: ["POST", "/questions", { ...OPTIONS, run_id: run.id }],
    look: ["GET", question],
    take_outcome: ["POST", `${question}/given`, { witness: "test" }],
    answer: ["POST", `${question}/answer`, { answer: "allow", confirmed }],
    force: ["POST", `${question}/answer`, { answer: "allow", force: true, confirmed }],
    amend: ["POST", `${question}/amend`, { text: "not yet", confirmed }],
    cancel: ["POST", `${question}/cancel`],
    cancel_with_words: ["POST", `${question}/cancel`, { resume: "approved", confirmed }],
    extend: ["POST", `${question}/extend`, { by: "1h" }],
    snooze: ["POST", `${question}/snooze`, { until: "2099-01-01T00:00:00Z" }],
    assign: ["POST", `${question}/assign`, { to: ["lena"] }],
    comment: ["POST", `${question}/comment`, { text: "hm" }],
    link: ["POST", `${question}/links`, { person: who === "unnamed" ? "eve" : "ada" }],
    start_run: ["POST", "/runs", { name: "new", agent: "claude", host: "here" }],
    start_child_run: ["POST", "/runs", { name: "child", agent: "claude", host: "here" }],
    report_run: ["POST", `/runs/${run.id}/start`],
    cancel_run: ["POST", `/runs/${run.id}/cancel`],
    resume_run: ["POST", `/runs/${run.id}/resume`],
    take_over_run: ["POST", `/runs/${run.id}/resume`, { host: "elsewhere" }],
    see_all: ["GET", "/questions/count"],
    change_template: ["PUT", "/templates/fine", { text: "fine" }],
    make_token: ["POST", "/tokens", { scope: "agent", subject: "ci" }],
    manage_tokens: ["GET", "/tokens"],
    manage_people: ["PUT", "/people/noor", { groups: [] }],
    set_away: ["PUT", `/people/${who === "unnamed" ? "eve" : "ada"}/away`, { away: {} }],
    maintain: ["GET", "/verify"],
  };
  return requests[verb] ?? ["POST", `${question}/${verb}`];
}

function wordsFor({ verb, kind }: Case, { id, run }: Subject): string[] {
  const yes = kind === "confirmed" ? ["--yes"] : [];
  const words: Partial<Record<Case["verb"], string[]>> = {
    answer: ["answer", id, "allow", ...yes],
    force: ["answer", id, "allow", "--force", ...yes],
    amend: ["amend", id, "not yet", ...yes],
    cancel_with_words: ["cancel", id, "--resume", "approved", ...yes],
    extend: ["extend", id, "1h"],
    snooze: ["snooze", id, "1h"],
    assign: ["assign", id, "lena"],
    comment: ["comment", id, "hm"],
    cancel_run: ["runs", "cancel", run.id],
    resume_run: ["runs", "resume", run.id],
    make_token: ["token", "create", "--scope", "agent", "--subject", "ci"],
    change_template: ["template", "add", `t${id.slice(-12)}`, "fine"],
  };
  return words[verb] ?? [verb, id];
}

function formFor(
  { verb, kind }: Case,
  { id, run }: Subject,
): readonly ["GET" | "POST", string, Record<string, string>?] {
  const word: Record<string, string> =
    kind === "confirmed" ? { word: confirmationWord(OPTIONS.question, run.name) } : {};
  const forms: Partial<Record<Case["verb"], readonly ["GET" | "POST", string, Record<string, string>?]>> = {
    look: ["GET", `/q/${id}`],
    answer: ["POST", `/q/${id}/answer`, { do: "answer", "i.0": "0", ...word }],
    force: ["POST", `/q/${id}/answer`, { do: "answer", "i.0": "0", force: "1", ...word }],
    amend: ["POST", `/q/${id}/amend`, { text: "not yet", ...word }],
    cancel: ["POST", `/q/${id}/stop`],
    extend: ["POST", `/q/${id}/extend`, { by: "1h" }],
    snooze: ["POST", `/q/${id}/snooze`, { for: "1h" }],
    assign: ["POST", `/q/${id}/assign`, { to: "lena" }],
    comment: ["POST", `/q/${id}/comment`, { text: "hm" }],
    cancel_run: ["POST", `/r/${run.number}/cancel`],
    resume_run: ["POST", `/r/${run.number}/resume`],
    manage_people: ["POST", "/settings/people", { id: run.id.slice(-20), groups: "" }],
  };
  return forms[verb] ?? ["POST", `/q/${id}/${verb}`];
}
