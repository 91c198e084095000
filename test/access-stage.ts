import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ADA, AGENT } from "./builders.ts";
import type { Came, Case, Who } from "./access-case.ts";
import { accountOf, reply } from "./access-channel.ts";
import { NAMES, OPTIONS, type PreparedCase, choiceFor, formFor, requestFor, wordsFor } from "./access-request.ts";
import { postAnswer, webhooksPart } from "./access-webhook.ts";
import { hook, hookHome } from "./hooked.ts";
import { hookInput } from "./hooks.ts";
import { Scene, said } from "./scene.ts";
import { type Got, ServedScene } from "./served.ts";
import { AGENTS } from "../src/agents/agents.ts";
import { knownClients } from "../src/agents/registry.ts";
import { type Actor, SYSTEM } from "../src/core/people/actor.ts";
import { BY_HEADER } from "../src/core/api/route.ts";
import { makeRunDir, saveLaunch } from "../src/agents/runner/run-files.ts";
import type { QuestionId, RunId } from "../src/core/id.ts";
import { linkPath } from "../src/core/question/link.ts";
import { isPending } from "../src/core/question/question.ts";
import type { TokenInput } from "../src/core/people/token.ts";
import type { ProcessWorld } from "../src/cli/process.ts";
import { unreachable } from "../src/core/unreachable.ts";
import { TASKS_EXTENSION } from "../src/server/mcp/caller.ts";
import { mcpPart } from "../src/server/mcp/http.ts";
import { type } from "./typed.ts";

const HOUR_MS = 3_600_000;
const CI_TOKEN: TokenInput = { scope: "agent", subject: "ci" };
const LENA: Actor = { ...ADA, id: "lena" };
const MCP_VERSION = "2026-07-28";

interface McpRequest {
  method: string;
  /** Of the tool or task. */
  name: string;
  params: object;
  capabilities?: object;
  headers?: Record<string, string>;
}

/** A project with a workflow. */
function aProject(): string {
  const dir = mkdtempSync(join(tmpdir(), "askd-access-"));
  mkdirSync(join(dir, ".askd", "workflows"), { recursive: true });
  writeFileSync(
    join(dir, ".askd", "workflows", "fine.yml"),
    "name: fine\nsteps: [{ id: one, tool: shell, input: { argv: [ls] } }]\n",
  );
  return dir;
}

/** The product on one store, with every door that is offered. */
export class AccessStage {
  readonly scene: Scene;
  readonly at: ServedScene;
  readonly #tokens = new Map<Who, string>();
  readonly #project = aProject();

  private constructor(scene: Scene, at: ServedScene) {
    this.scene = scene;
    this.at = at;
  }

  static async start(): Promise<AccessStage> {
    const scene = new Scene();
    for (const id of ["ada", "lena", "eve"])
      await scene.engine.putPerson({ id, groups: [], slack: accountOf(id), version: 0 }, SYSTEM);
    const holders = { own: "here", isGone: () => Promise.resolve(false) };
    const { engine, rules } = scene;
    const onBug = (error: unknown): void => {
      throw error;
    };
    const part = mcpPart({ engine, rules, holders, version: "0", host: "here", clients: knownClients(AGENTS), onBug });
    return new AccessStage(scene, await ServedScene.start({ parts: [part, webhooksPart(scene, onBug)] }, scene));
  }

  stop(): Promise<void> {
    rmSync(this.#project, { recursive: true });
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
      case "remote": {
        const came = cameOf(await this.#remote(one, subject));
        if (one.verb !== "start_child_run" || came !== "yes") return came;
        return (await this.#hasChild(subject)) ? "yes" : "no";
      }
      case "cli":
        return this.#cli(one, subject);
      case "mcp":
        return one.verb === "answer" ? this.#form(one, subject) : this.#mcp(one, subject);
      case "web":
        return cameOf(await this.#web(one, subject));
      case "link":
        return this.#link(one, subject);
      case "hook":
        return this.#hook(subject);
      case "webhook":
        return cameOf(await postAnswer(one, subject, this.at));
      case "channel":
        return reply(one, subject, this.scene);
      default:
        return unreachable(one.door);
    }
  }

  async #prepare({ verb, door, kind }: Case): Promise<PreparedCase> {
    const { engine } = this.scene;
    const host = verb === "take_over_run" ? "silent" : "here";
    // Nobody sits at the client of an agent that a worker starts.
    const giveBack = door === "mcp" && verb === "answer" ? "poll" : "worker";
    const run = await this.scene.startedRun({ host, giveBack, dir: this.#project });
    const other = await this.scene.startedRun();
    const by: Actor = { ...AGENT, runId: run.id };
    const isRisky = kind === "risky" || kind === "confirmed";
    const asked = this.scene.input({
      ...OPTIONS,
      kind: kind === "approval" || kind === "worded_approval" ? "approval" : "question",
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
    } else if (door === "cli" && (verb === "start_run" || verb === "start_child_run"))
      await type(this.scene, ["workflow", "approve", "fine"], this.#world("named"));
    else if (door === "cli" && verb === "take_over_run") await this.#copyLaunch(run.id);
    const tokenId = verb === "manage_tokens" ? (await engine.issueToken(CI_TOKEN, SYSTEM)).token.id : undefined;
    return { run, other, id, tokenId };
  }

  /** Brings here what another machine started a run with. */
  async #copyLaunch(id: RunId): Promise<void> {
    const launch = { agent: "claude", program: "/bin/true", args: [], dir: this.#project, env: {}, options: {} };
    await saveLaunch(await makeRunDir(join(this.#project, "state"), id), launch);
  }

  /** The token that somebody comes with; those of people are made once. */
  async #token(who: Who, { run, other }: PreparedCase): Promise<string> {
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

  async #rest(one: Case, subject: PreparedCase, more: { token?: string; headers?: Record<string, string> } = {}) {
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
  async #remote(one: Case, subject: PreparedCase): Promise<Got> {
    const runId = one.who === "own_agent" ? subject.run.id : subject.other.id;
    const by = encodeURIComponent(JSON.stringify({ ...AGENT, channel: "cli", runId }));
    return this.#rest(one, subject, { token: await this.#token("admin", subject), headers: { [BY_HEADER]: by } });
  }

  async #cli(one: Case, subject: PreparedCase): Promise<Came> {
    const runId = { own_agent: subject.run.id, run_agent: subject.other.id }[one.who as string];
    const { exit, stderr } = await type(this.scene, wordsFor(one, subject), this.#world(one.who, runId));
    // What asks in a run asks in its own, whatever it names.
    if (exit === 0 && one.verb === "ask") return (await this.#hasAsked(subject)) ? "yes" : "no";
    if (exit === 0 && one.verb === "start_child_run") return (await this.#hasChild(subject)) ? "yes" : "no";
    if (exit === 0) return "yes";
    if (exit === 7 || exit === 5) return "no";
    if (exit === 6) return "closed";
    if (/is not one of the options/.test(stderr)) return "unmatched";
    return /high risk/.test(stderr) ? "unconfirmed" : `unexpected ${exit}: ${stderr}`;
  }

  /** Where somebody types a command: in the project, and in a run if they are its agent. */
  #world(who: Who, runId?: string): Pick<ProcessWorld, "env" | "user" | "cwd"> {
    const env = { ASKD_HOME: this.#project, ASKD_NO_SERVICE: "1", ...(runId !== undefined && { ASKD_RUN: runId }) };
    return { env, user: NAMES[who] ?? "ada", cwd: this.#project };
  }

  async #mcp({ verb, who }: Case, subject: PreparedCase): Promise<Came> {
    const calls: Record<string, [string, object]> = {
      ask: ["ask_human", { ...OPTIONS, timeout_seconds: 0 }],
      look: ["check_answer", { question_id: subject.id, timeout_seconds: 0 }],
      cancel: ["cancel_question", { question_id: subject.id }],
    };
    const [name = "", input] = calls[verb] ?? [];
    // Names the run of somebody else: that has to prove nothing.
    const headers = { ...(who !== "own_agent" && verb === "ask" && { "askd-run": subject.run.id }) };
    const call = { method: "tools/call", name, params: { name, arguments: input }, headers };
    const { status, body } = await this.#call(await this.#token(who, subject), call);
    const text = typeof body["text"] === "string" ? body["text"] : JSON.stringify(body);
    if (/"code":"(not_permitted|not_found)"/.test(text)) return "no";
    if (text.includes('"success":false')) return "closed";
    if (status === 200 && !text.includes('"isError":true')) {
      // An agent of another run that asks is in its own.
      return verb === "ask" && !(await this.#hasAsked(subject)) ? "no" : "yes";
    }
    return `unexpected ${status}: ${text.slice(0, 300)}`;
  }

  async #hasAsked({ run }: PreparedCase): Promise<boolean> {
    return (await this.scene.engine.findRun(run.id))?.pendingId !== undefined;
  }

  async #hasChild({ run }: PreparedCase): Promise<boolean> {
    const { engine } = this.scene;
    return (await engine.listRuns({ parentId: run.id, order: "newest", limit: 1 })).length > 0;
  }

  /** Answers in the form of an MCP client, which says nothing of a reply that does not count. */
  async #form({ who }: Case, subject: PreparedCase): Promise<Came> {
    const { id } = subject;
    const inputResponses = { answer: { action: "accept", content: { item_1: "allow" } } };
    const before = (await this.scene.engine.read(id)).question.version;
    const { status, body } = await this.#call(await this.#token(who, subject), {
      method: "tasks/update",
      name: id,
      params: { taskId: id, inputResponses },
      capabilities: { extensions: { [TASKS_EXTENSION]: {} }, elicitation: { form: {} } },
      headers: { "askd-attended": "1" },
    });
    if (status >= 500) return `unexpected ${status}: ${JSON.stringify(body).slice(0, 300)}`;
    return (await this.scene.engine.read(id)).question.version === before ? "no" : "yes";
  }

  /** One request of MCP, with everything that its newer era says in each of them. */
  #call(token: string, { method, name, params, capabilities = {}, headers = {} }: McpRequest): Promise<Got> {
    const prefix = "io.modelcontextprotocol";
    const meta = {
      [`${prefix}/protocolVersion`]: MCP_VERSION,
      [`${prefix}/clientInfo`]: { name: "test-client", version: "1" },
      [`${prefix}/clientCapabilities`]: capabilities,
    };
    return this.at.send("POST", "/mcp", {
      token,
      body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } },
      headers: {
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": MCP_VERSION,
        "mcp-method": method,
        "mcp-name": name,
        ...headers,
      },
    });
  }

  async #web(one: Case, subject: PreparedCase): Promise<Got> {
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

  async #link(one: Case, { id }: PreparedCase): Promise<Came> {
    const { verb, kind } = one;
    const { engine } = this.scene;
    // A link to a question that is closed was made before.
    const open = kind === "other_state" ? (await this.#prepareOpen()).id : id;
    const { text } = await engine.issueLink(open, "ada", SYSTEM);
    if (kind === "other_state") await engine.answer(open, said("allow"), ADA);
    const path = `${linkPath(text)}${verb === "undo" ? "/undo" : ""}`;
    if (verb === "look") return cameOf(await this.at.send("GET", path));
    const got = await this.at.send("POST", path, {
      body: new URLSearchParams({ do: "answer", ...choiceFor(one) }).toString(),
      headers: { origin: this.at.url, "content-type": "application/x-www-form-urlencoded" },
    });
    if (verb === "answer") return cameOf(got);
    const { question } = await engine.read(open);
    return isPending(question) && question.settling ? "no" : "yes";
  }

  #prepareOpen(): Promise<PreparedCase> {
    return this.#prepare({ verb: "answer", door: "link", who: "link", kind: "plain" });
  }

  async #hook({ run }: PreparedCase): Promise<Came> {
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

function cameOf({ status, headers, body }: Got): Came {
  // A page sends whoever may not see it to the sign-in.
  if (status === 303 && headers.get("location")?.startsWith("/login")) return "no";
  if (status < 400) return "yes";
  if (status === 401 || status === 403 || status === 404) return "no";
  if (status === 409) return "closed";
  if (status === 422 && /is not one of the options/.test(JSON.stringify(body))) return "unmatched";
  return status === 428 || status === 422
    ? "unconfirmed"
    : `unexpected ${status}: ${JSON.stringify(body).slice(0, 300)}`;
}
