import { type Actor, SYSTEM } from "../../core/people/actor.ts";
import { type RunOwner, endOwnedRun } from "../../core/run/run-ownership.ts";
import { withoutMarkers } from "../marker/marker.ts";
import { parseAsk } from "../../core/question/ask-input.ts";
import type { RunId } from "../../core/id.ts";
import type { RunResult } from "../../core/run/run-lifecycle.ts";
import type { UsageRow } from "../../core/run/usage.ts";
import { handoversOf, isHandedInEpoch } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { quoteLine } from "../../core/text/foreign-text.ts";
import { type Rules, rulesForRun } from "../../core/rules.ts";
import type { Engine } from "../../engine/engine.ts";
import type { JobContext } from "../../engine/jobs/worker.ts";
import type { Agent, AgentEvent } from "../agent.ts";
import { readApiFailure } from "../api-failure.ts";
import { LISTED_FILE } from "../mcp-config.ts";
import { mirrorRunOrNote } from "./state-mirror.ts";
import { isGiven } from "../marker/echo.ts";
import { type Json, textAt } from "../json.ts";
import {
  type HandoverEvidence,
  isApprovalUsed,
  isShownBy,
  listHandoverEvidence,
  readRunHistory,
  askWitness,
} from "./handover-evidence.ts";
import { waitForProcessEnd, type EndedProcess } from "../process/process.ts";
import { OutputState } from "./output-state.ts";
import { type Launch, epochFile, deleteLaunch, startDirOf } from "./run-files.ts";
import { findFileText, replacePrivateFile } from "../process/private-file.ts";
import { saveSession } from "./starter.ts";
import { type StopResult, sayLeft, stopRun } from "../process/stop.ts";
import { tail } from "../process/tail.ts";
import { saveDeferredCall, saveTreeFingerprint } from "./resume-message.ts";
import { readUnasked, saveUnasked } from "./missed-question.ts";
import { UsageMeter, findUsageBase } from "./usage-meter.ts";
import { join } from "node:path";

/** How long an agent may take to end after it asked in its text. */
const ASKED_GRACE_MS = 15_000;
/** The same for a command, which was not told to stop and waits for nothing. */
const COMMAND_GRACE_MS = 500;
const SUMMARY_CHARS = 2_000;
const TOOLLESS = "It worked without the tools to ask with, because it never loaded them";
/** The shell's exit code offset for signals: HUP, INT, KILL and TERM come from outside. */
const SIGNALLED = 128;
const KILLED: ReadonlySet<number> = new Set([1, 2, 9, 15].map((signal) => SIGNALLED + signal));

export interface RunFollowerDeps {
  runId: RunId;
  runDir: string;
  by: RunOwner;
  agent: Agent;
  launch: Launch;
  engine: Engine;
  work: Pick<JobContext, "store" | "decider">;
  rules: Rules;
  /** Adds a line to the run's log. */
  note(text: string): void;
  /** Aborted when this process detaches: the agent continues. */
  leave: AbortSignal;
  onStep?: ((step: string) => void) | undefined;
}

/** Follows the output of one epoch of an agent until its processes are gone, and records how the run ended. */
export class Follower {
  readonly #deps: RunFollowerDeps;
  readonly #output = new OutputState();
  readonly #actor: Actor;
  #meter: UsageMeter | undefined;
  #isAsked = false;
  /** How many markers were checked. */
  #checkedMarks = 0;
  #hasSpoken = false;
  /** Ends an agent that asked in its text and does not end by itself. */
  #stopping: NodeJS.Timeout | undefined;
  #isToolless = false;
  /** The limit at which it was stopped. */
  #limit: RunResult | undefined;
  /** Why its last question was refused. */
  #refusedAsk: string | undefined;
  /** The questions in its output that were asked, and those that were not because another one waits. */
  readonly #asked = new Set<string>();
  readonly #unasked = new Set<string>();

  constructor(deps: RunFollowerDeps) {
    this.#deps = deps;
    const { agent, runId } = deps;
    this.#actor = { scope: "agent", id: agent.name, channel: "run", strength: "none", runId };
  }

  async follow(): Promise<void> {
    const { runDir, runId, by, leave, work } = this.#deps;
    this.#meter = await UsageMeter.open(work.store, runId, await findUsageBase(runDir, by.epoch));
    this.#deps.onStep?.("following");
    const gone = new AbortController();
    const ended = waitForProcessEnd(runDir, by.epoch, leave).then((how) => {
      gone.abort();
      return how;
    });
    // The next owner reads from the start: every effect of reading is idempotent.
    for await (const lines of tail(epochFile(runDir, by.epoch, "out"), { from: 0, gone: gone.signal, stop: leave })) {
      for (const { text, isCut } of lines) {
        if (isCut) this.#deps.note("A line was too long and was cut");
        await this.#take(this.#deps.agent.read(text));
      }
      await this.#keepUsage();
      this.#deps.onStep?.("read");
    }
    const how = await ended;
    clearTimeout(this.#stopping);
    this.#deps.onStep?.("gone");
    if (how && !leave.aborted) await this.#finish(how);
  }

  async #take(events: readonly AgentEvent[]): Promise<void> {
    const { session } = this.#output;
    this.#output.take(events);
    for (const text of this.#output.warnings.splice(0)) this.#deps.note(text);
    if (this.#output.session !== session) await this.#nameSession();
    if (events.some((event) => event.kind === "session" && event.tools)) await this.#checkTools();
    await this.#askMarked();
    for (const event of events) if (isProgress(event)) await this.#see(event);
  }

  /** A hand-over is given when the output shows it, or when the agent continues and its transcript has it. */
  async #see(event: AgentEvent): Promise<void> {
    const { work, runId, engine, agent, launch } = this.#deps;
    const isFirst = !this.#hasSpoken && event.kind !== "shown";
    this.#hasSpoken ||= isFirst;
    if (!isFirst && event.kind !== "shown") return;
    const run = await work.store.findRun(runId);
    if (!run || run.owes.length === 0) return;
    for (const evident of await listHandoverEvidence(work.store, run)) {
      // Receiving an approval does not mean that it was used: the call that uses it takes it.
      const isTold = isFirst && evident.question.kind === "question";
      const isGiven =
        isShownBy(event, evident) || (isTold && (await askWitness(agent, run, launch, evident)) === "given");
      if (!isGiven) continue;
      await engine.given(evident.question.id, event.kind === "shown" ? "stream" : "transcript");
      this.#deps.onStep?.("given");
    }
  }

  /** An agent that lost its ask tool would guess: it is stopped, and resumed once. */
  async #checkTools(): Promise<void> {
    const { runDir, runId, by, note } = this.#deps;
    if (this.#isToolless || !(await hasLostTools(runDir, this.#output.tools ?? []))) return;
    this.#isToolless = true;
    note("It came back without the tools to ask with and is started again");
    await stopRun({ runId, runDir, lastEpoch: by.epoch });
  }

  async #nameSession(): Promise<void> {
    const { work, runId, by, note } = this.#deps;
    const { session } = this.#output;
    if (session === undefined) return;
    const isKept = await saveSession(runId, session, by.epoch, work);
    if (!isKept) note(`The session ${session} belongs to another run; this one cannot be taken up again from it`);
    await this.#mirror();
  }

  /** Asks the first marker the agent wrote itself. */
  async #askMarked(): Promise<void> {
    while (!this.#isAsked && this.#checkedMarks < this.#output.marked.length) {
      const marked = this.#output.marked[this.#checkedMarks];
      this.#checkedMarks += 1;
      if (marked === undefined || (await this.#isRepeated(marked))) continue;
      this.#isAsked = true;
      if (await this.#ask(marked, "marker")) this.#stopSoon();
    }
  }

  /**
   * Stores the questions that nobody was asked: only one question of a run waits at a time. The agent is told of them
   * with its next start, and people see them until then.
   */
  async #keepUnasked(how: EndedProcess): Promise<string | undefined> {
    const { runDir, note } = this.#deps;
    for (const marked of this.#output.marked.slice(this.#checkedMarks)) {
      if (!(await this.#isRepeated(marked))) await this.#leaveUnasked(marked);
    }
    const before = (await this.#hasReadMessage(how)) ? [] : await readUnasked(runDir);
    const unasked = [...new Set([...before, ...this.#unasked])];
    await saveUnasked(runDir, unasked);
    if (unasked.length === 0) return undefined;
    const said = `It asked more than one question at once, and only the first was asked, not ${unasked.map((text) => quoteLine(text)).join(", ")}`;
    note(said);
    return said;
  }

  /** A question that waits already, or was asked in this start, is not lost. */
  async #leaveUnasked(ask: Json): Promise<void> {
    const { work, runId } = this.#deps;
    const text = textAt(ask, "question") ?? "";
    const pendingId = (await work.store.findRun(runId))?.pendingId;
    const pending = pendingId && (await work.store.findQuestion(pendingId));
    const content = pending && (await work.store.findContent(pending.content));
    const waits = content?.items.map((item) => item.text).join("\n");
    if (text !== "" && text !== waits && !this.#asked.has(text)) this.#unasked.add(text);
  }

  /** Says whether the agent has read what it was started with: it asked or received something, or worked to its end. */
  async #hasReadMessage(how: EndedProcess): Promise<boolean> {
    const { work, runId, by } = this.#deps;
    const run = await work.store.findRun(runId);
    if (!run || run.starts === 0) return true;
    const evidence = await listHandoverEvidence(work.store, run);
    const isOnItsWay = evidence.some(({ question }) =>
      handoversOf(question).some((handover) => isHandedInEpoch(handover, by.epoch)),
    );
    return !isOnItsWay && how.state === "dead" && how.exitCode === 0;
  }

  /** A marker that the agent only repeats asks nothing: an answer that looks like a question would ask itself. */
  async #isRepeated(asked: Json): Promise<boolean> {
    const { work, runId, note } = this.#deps;
    const run = await work.store.findRun(runId);
    const isEcho = run !== undefined && isGiven(asked, await readRunHistory(work.store, run));
    if (isEcho) note("It repeated words that it was given and that look like a question; nothing was asked");
    return isEcho;
  }

  #stopSoon(): void {
    const { runDir, runId, by, agent, launch } = this.#deps;
    const graceMs = agent.program === "" ? COMMAND_GRACE_MS : ASKED_GRACE_MS;
    // The agent was asked to stop after asking; if it does not, it is stopped.
    this.#stopping = setTimeout(
      () => {
        void stopRun({ runId, runDir, lastEpoch: by.epoch }).catch((error: unknown) => this.#deps.note(String(error)));
      },
      Math.min(graceMs, launch.options.liveWindowMs ?? graceMs),
    ).unref();
  }

  /** Asks a question from the agent's text; an invalid one is a line in the log. */
  async #ask(raw: Json, via: "marker" | "result"): Promise<boolean> {
    const { engine, rules, runId, by, note, launch } = this.#deps;
    try {
      const traceparent = launch.env["TRACEPARENT"];
      const input = parseAsk(
        raw,
        { via, isForeign: true, traceparent },
        rulesForRun(launch.env, rules),
        await engine.now(),
      );
      const key = `${via}:${by.epoch}`;
      await engine.ask({ ...input, key: input.key ?? key, holdMs: undefined }, this.#actor, { runId, epoch: by.epoch });
      this.#asked.add(textAt(raw, "question") ?? "");
      await this.#mirror();
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === "already_pending") {
        await this.#leaveUnasked(raw);
        return false;
      }
      this.#refusedAsk = `It wanted to ask, but: ${error.message}`;
      note(this.#refusedAsk);
      return false;
    }
  }

  /** Stores the usage so far, and ends an agent that has used up its limits and does not end by itself. */
  async #keepUsage(): Promise<void> {
    const { runDir, runId, by, agent, launch, work } = this.#deps;
    const used = await this.#meter?.keep(this.#output.usage, work.decider.at(SYSTEM).now);
    if (!used || agent.limitsKeptBy !== "runner" || this.#limit !== undefined) return;
    this.#limit = limitReached(used, launch.options);
    if (this.#limit !== undefined) await stopRun({ runId, runDir, lastEpoch: by.epoch });
  }

  async #finish(how: EndedProcess): Promise<void> {
    const { runDir, runId, by, work, launch, note } = this.#deps;
    // A worker that slept meanwhile leaves it to the new owner.
    if ((await work.store.findRun(runId))?.worker !== by.worker) return;
    const stopped: StopResult = await stopRun({ runId, runDir, lastEpoch: by.epoch, graceMs: 0 });
    if (stopped.left.length > 0) throw new Error(sayLeft(stopped.left, `run ${runId}`));
    this.#deps.onStep?.("cleaned");
    this.#output.end();
    for (const text of this.#output.warnings.splice(0)) note(text);
    await this.#meter?.keep(this.#output.usage, work.decider.at(SYSTEM).now);
    await this.#askMarked();
    const { reported } = this.#output;
    if (reported?.warning) note(reported.warning);
    if (reported?.ask && !(await this.#isRepeated(reported.ask))) await this.#ask(reported.ask, "result");
    if (this.#output.deferred) await saveDeferredCall(runDir, this.#output.deferred.callId);
    await saveTreeFingerprint(runDir, launch.dir);
    this.#deps.onStep?.("kept");
    await this.#confirmGiven(how);
    const unasked = await this.#keepUnasked(how);
    const ended = await this.#resultOf(how);
    const lost = [this.#refusedAsk, unasked, this.#output.mayHaveAsked].filter((why) => why !== undefined);
    const mayHaveAsked = lost.length > 0 ? lost.join("; ") : await this.#findMissingTools(ended);
    const isUnknown = ended.reason === "agent_error" && this.#deps.agent.program !== "";
    const failure = isUnknown ? readApiFailure(ended.summary ?? "") : {};
    const result: RunResult = { ...ended, ...failure, mayHaveAsked };
    this.#deps.onStep?.("ending");
    const left = await work.decider.changeRun(runId, SYSTEM, (read, at) => endOwnedRun(read, by, result, at));
    this.#deps.onStep?.("ended");
    await this.#mirror();
    if (left.status === "cancelled") await deleteLaunch(runDir);
  }

  /** An agent that finished without ever having had the tools to ask with may have guessed. */
  async #findMissingTools(ended: RunResult): Promise<string | undefined> {
    const { runDir, by, note } = this.#deps;
    const isMissing = (await findFileText(join(startDirOf(runDir, by.epoch), LISTED_FILE))) === "";
    if (!isMissing) return undefined;
    note(`${TOOLLESS}: see whether "askd mcp" starts, with: askd doctor`);
    return ended.status === "completed" ? TOOLLESS : undefined;
  }

  #mirror(): Promise<void> {
    const { work, runId, note } = this.#deps;
    return mirrorRunOrNote(work.store, runId, note);
  }

  /** The agent has ended, so its transcript shows everything that arrived. */
  async #confirmGiven(how: EndedProcess): Promise<void> {
    const { runId, work, launch, agent, engine } = this.#deps;
    const run = await work.store.findRun(runId);
    for (const evident of run ? await listHandoverEvidence(work.store, run) : []) {
      const isUsed = run && (await isApprovalUsed(agent, run, launch, evident));
      const said = run && (isUsed ? "given" : await askWitness(agent, run, launch, evident));
      if (said === "given" || (said === "unknown" && this.#hasTaken(how, evident))) {
        await engine.given(evident.question.id, said === "given" ? "transcript" : "exit");
      }
    }
  }

  /**
   * Says whether an agent without a transcript received an outcome: the result of its own call, or, for a program that
   * ended by itself, what it was started with.
   */
  #hasTaken(how: EndedProcess, { question }: HandoverEvidence): boolean {
    const { agent } = this.#deps;
    const { epoch } = this.#deps.by;
    if (how.state !== "dead" || how.exitCode === undefined || KILLED.has(how.exitCode)) return false;
    const by = agent.program === "" ? undefined : "call";
    return handoversOf(question).some((handover) => isHandedInEpoch(handover, epoch, by));
  }

  async #resultOf(how: EndedProcess): Promise<RunResult> {
    const { reported, ended, lastWords } = this.#output;
    if (this.#isToolless) return { status: "failed", reason: "tools_lost" };
    // The step that used it up may have been the last.
    if (this.#limit && ended?.status !== "completed") return this.#limit;
    if (reported) return reported.result;
    const exitCode = how.state === "dead" ? how.exitCode : undefined;
    const isKilled = exitCode !== undefined && KILLED.has(exitCode);
    if (ended && (!exitCode || isKilled || ended.status !== "completed")) {
      const summary = ended.summary && withoutMarkers(ended.summary).trim();
      return { ...ended, summary: summary || undefined };
    }
    if (exitCode === undefined) return { status: "failed", reason: "worker_lost" };
    if (isKilled)
      return { status: "failed", reason: "agent_killed", summary: `It was ended by signal ${exitCode - SIGNALLED}` };
    const summary = withoutMarkers(lastWords).trim().slice(-SUMMARY_CHARS);
    if (exitCode === 0) return { status: "completed", ...(summary && { summary }) };
    const complaint = (await findFileText(epochFile(this.#deps.runDir, this.#deps.by.epoch, "err")))
      ?.trim()
      .slice(-SUMMARY_CHARS);
    return { status: "failed", reason: "agent_error", summary: complaint || summary || `exit code ${exitCode}` };
  }
}

/** The limit that is used up, in the words with which Claude Code reports the same. */
export function limitReached(used: UsageRow, { maxTurns, budgetUsd }: Launch["options"]): RunResult | undefined {
  if (maxTurns !== undefined && (used.turns ?? 0) >= maxTurns) {
    return { status: "failed", reason: "error_max_turns", summary: `It has taken its ${maxTurns} turns` };
  }
  if (budgetUsd !== undefined && (used.costUsd ?? 0) >= budgetUsd) {
    return { status: "failed", reason: "error_max_budget_usd", summary: `It has spent its budget of $${budgetUsd}` };
  }
  return undefined;
}

function isProgress(event: AgentEvent): boolean {
  // A request that failed is no reply; its agent may take back what it was sent.
  if (event.kind === "ended") return event.result.status !== "failed";
  return event.kind === "shown" || event.kind === "text" || event.kind === "called";
}

const TOOLS_FILE = "tools";
const ASK_TOOL = /(?:^|_)ask_human$|^AskUserQuestion$/;

/**
 * Says whether an agent that could ask at its first start has resumed without its ask tools: a resumed session can lose
 * its MCP servers. One that never had them was started like that on purpose.
 */
export async function hasLostTools(runDir: string, tools: readonly string[]): Promise<boolean> {
  if (tools.some((name) => ASK_TOOL.test(name))) {
    await replacePrivateFile(join(runDir, TOOLS_FILE), "could ask\n");
    return false;
  }
  return (await findFileText(join(runDir, TOOLS_FILE))) !== undefined;
}
