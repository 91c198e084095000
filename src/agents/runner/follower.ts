import type { Actor } from "../../core/people/actor.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { type Carrier, endCarried } from "../../core/run/run-ownership.ts";
import { parseAsk } from "../../core/question/ask-input.ts";
import type { RunId } from "../../core/id.ts";
import type { RunResult } from "../../core/run/run-lifecycle.ts";
import { handoversOf, isHandedIn, isSpent } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { type Rules, rulesFor } from "../../core/rules.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Work } from "../../engine/jobs/worker.ts";
import type { Agent, Sight } from "../agent.ts";
import { mirrorNoted } from "./state-mirror.ts";
import { isGiven } from "../marker/echo.ts";
import type { Json } from "../json.ts";
import { type Evident, isShownBy, listOnTheWay, readHistory, witness } from "./handover-evidence.ts";
import { waitForEnd, type Ended } from "../process-end.ts";
import { Reading } from "./output-state.ts";
import { type Launch, epochFile, forgetLaunch } from "./run-files.ts";
import { findText } from "../process/private-file.ts";
import { keepSession } from "../process/agent-session.ts";
import { type Stopped, stopRun } from "../process/stop.ts";
import { tail } from "../process/tail.ts";
import { keepDeferred, keepTree } from "./resume-message.ts";
import { hasLostTools } from "../tool-check.ts";
import { UsageMeter, findBase } from "./usage-meter.ts";

const KEEP_MS = 2_000;
/** How long an agent that asked in its words may take to end by itself. */
const ASKED_GRACE_MS = 15_000;
const SUMMARY_CHARS = 2_000;
/** How a shell says that a program was ended by a signal: HUP, INT, KILL or TERM come from outside. */
const SIGNALLED = 128;
const KILLED: ReadonlySet<number> = new Set([1, 2, 9, 15].map((signal) => SIGNALLED + signal));

export interface Followed {
  runId: RunId;
  runDir: string;
  by: Carrier;
  agent: Agent;
  launch: Launch;
  engine: Engine;
  work: Pick<Work, "store" | "decider">;
  rules: Rules;
  /** Something for the log of the run. */
  note(text: string): void;
  /** Told to leave the agent alone: this process ends, the agent goes on. */
  leave: AbortSignal;
  onStep?: ((step: string) => void) | undefined;
}

/** Reads what one start of an agent writes until its processes are gone, and brings the run to where it stands then. */
export class Follower {
  readonly #to: Followed;
  readonly #reading = new Reading();
  readonly #who: Actor;
  #meter: UsageMeter | undefined;
  #keptAtMs = 0;
  #isAsked = false;
  /** How many of its marks were looked at. */
  #looked = 0;
  #hasSpoken = false;
  #isToolless = false;

  constructor(to: Followed) {
    this.#to = to;
    const { agent, runId } = to;
    this.#who = { scope: "agent", id: agent.name, channel: "run", strength: "none", runId };
  }

  async follow(): Promise<void> {
    const { runDir, runId, by, leave, work } = this.#to;
    this.#meter = await UsageMeter.open(work.store, runId, await findBase(runDir, by.epoch));
    this.#to.onStep?.("following");
    const gone = new AbortController();
    const ended = waitForEnd(runDir, by.epoch, leave).then((how) => {
      gone.abort();
      return how;
    });
    // Whoever takes over reads from the start: all that reading leads to is done once, however often it is read.
    for await (const lines of tail(epochFile(runDir, by.epoch, "out"), { from: 0, gone: gone.signal, stop: leave })) {
      for (const { text, isCut } of lines) {
        if (isCut) this.#to.note("A line was too long and was cut");
        await this.#take(this.#to.agent.read(text));
      }
      await this.#keepUsage();
      this.#to.onStep?.("read");
    }
    const how = await ended;
    this.#to.onStep?.("gone");
    if (how && !leave.aborted) await this.#finish(how);
  }

  async #take(sights: readonly Sight[]): Promise<void> {
    const { session } = this.#reading;
    this.#reading.take(sights);
    for (const text of this.#reading.warnings.splice(0)) this.#to.note(text);
    if (this.#reading.session !== session) await this.#nameSession();
    if (sights.some((sight) => sight.kind === "session" && sight.tools)) await this.#checkTools();
    await this.#askMarked();
    for (const sight of sights) if (isNews(sight)) await this.#see(sight);
  }

  /** What was on its way has arrived when the agent shows it, or goes on to speak and its record has it. */
  async #see(sight: Sight): Promise<void> {
    const { work, runId, engine, agent, launch } = this.#to;
    const isFirst = !this.#hasSpoken && sight.kind !== "shown";
    this.#hasSpoken ||= isFirst;
    if (!isFirst && sight.kind !== "shown") return;
    const run = await work.store.findRun(runId);
    if (!run || run.owes.length === 0) return;
    for (const evident of await listOnTheWay(work.store, run)) {
      // That it was told of an approval does not mean that it has used it: the call that does takes it.
      const isTold = isFirst && evident.question.kind === "question";
      const isGiven = isShownBy(sight, evident) || (isTold && (await witness(agent, run, launch, evident)) === "given");
      if (!isGiven) continue;
      await engine.given(evident.question.id, sight.kind === "shown" ? "stream" : "transcript");
      this.#to.onStep?.("given");
    }
  }

  /** An agent that can no longer ask would guess: it is stopped, and taken up again once. */
  async #checkTools(): Promise<void> {
    const { runDir, runId, by, note } = this.#to;
    if (this.#isToolless || !(await hasLostTools(runDir, this.#reading.tools ?? []))) return;
    this.#isToolless = true;
    note("It came back without the tools to ask with and is started again");
    await stopRun({ runId, runDir, lastEpoch: by.epoch });
  }

  async #nameSession(): Promise<void> {
    const { work, runId, by, note } = this.#to;
    const { session } = this.#reading;
    if (session === undefined) return;
    const isKept = await keepSession(runId, session, by.epoch, work);
    if (!isKept) note(`The session ${session} belongs to another run; this one cannot be taken up again from it`);
    await this.#mirror();
  }

  /** Asks the first thing that it marked in words of its own. */
  async #askMarked(): Promise<void> {
    while (!this.#isAsked && this.#looked < this.#reading.marked.length) {
      const marked = this.#reading.marked[this.#looked];
      this.#looked += 1;
      if (marked === undefined || (await this.#isRepeated(marked))) continue;
      this.#isAsked = true;
      if (await this.#ask(marked, "marker")) this.#stopSoon();
    }
  }

  /** What it only repeats of what it was given asks nothing: an answer that looks like a question would ask itself. */
  async #isRepeated(asked: Json): Promise<boolean> {
    const { work, runId, note } = this.#to;
    const run = await work.store.findRun(runId);
    const isEcho = run !== undefined && isGiven(asked, await readHistory(work.store, run));
    if (isEcho) note("It repeated words that it was given and that look like a question; nothing was asked");
    return isEcho;
  }

  #stopSoon(): void {
    const { runDir, runId, by, leave } = this.#to;
    // It was told to stop after asking; if it does not, it is stopped.
    const timer = setTimeout(() => {
      void stopRun({ runId, runDir, lastEpoch: by.epoch }).catch((error: unknown) => this.#to.note(String(error)));
    }, ASKED_GRACE_MS).unref();
    leave.addEventListener("abort", () => clearTimeout(timer), { once: true });
  }

  /** Asks what the agent wrote in its words; what cannot be asked is a line in the log. */
  async #ask(raw: unknown, via: "marker" | "result"): Promise<boolean> {
    const { engine, rules, runId, by, note, launch } = this.#to;
    try {
      const input = parseAsk(raw, { via }, rulesFor(launch.env, rules), await engine.now());
      const key = `${via}:${by.epoch}`;
      await engine.ask({ ...input, key: input.key ?? key, holdMs: undefined }, this.#who, { runId, epoch: by.epoch });
      await this.#mirror();
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      note(`It wanted to ask, but: ${error.message}`);
      return false;
    }
  }

  async #keepUsage(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#keptAtMs < KEEP_MS) return;
    this.#keptAtMs = nowMs;
    await this.#meter?.keep(this.#reading.usage);
  }

  async #finish(how: Ended): Promise<void> {
    const { runDir, runId, by, work, launch, note } = this.#to;
    // Who slept meanwhile leaves it to the one that took over.
    if ((await work.store.findRun(runId))?.worker !== by.worker) return;
    const stopped: Stopped = await stopRun({ runId, runDir, lastEpoch: by.epoch, graceMs: 0 });
    if (stopped.left.length > 0) throw new Error(`${stopped.left.length} processes of run ${runId} do not go away`);
    this.#to.onStep?.("cleaned");
    this.#reading.end();
    for (const text of this.#reading.warnings.splice(0)) note(text);
    await this.#meter?.keep(this.#reading.usage);
    await this.#askMarked();
    const { reported } = this.#reading;
    if (reported?.warning) note(reported.warning);
    if (reported?.ask && !(await this.#isRepeated(reported.ask))) await this.#ask(reported.ask, "result");
    if (this.#reading.deferred) await keepDeferred(runDir, this.#reading.deferred.callId);
    await keepTree(runDir, launch.dir);
    this.#to.onStep?.("kept");
    await this.#confirmGiven(how);
    const result = await this.#resultOf(how);
    this.#to.onStep?.("ending");
    const left = await work.decider.changeRun(runId, SYSTEM, (read, at) => endCarried(read, by, result, at));
    this.#to.onStep?.("ended");
    await this.#mirror();
    if (left.status === "cancelled") await forgetLaunch(runDir);
  }

  #mirror(): Promise<void> {
    const { work, runId, note } = this.#to;
    return mirrorNoted(work.store, runId, note);
  }

  /** Now that it has written all that it ever will, its record says what has arrived. */
  async #confirmGiven(how: Ended): Promise<void> {
    const { runId, work, launch, agent, engine } = this.#to;
    const run = await work.store.findRun(runId);
    for (const evident of run ? await listOnTheWay(work.store, run) : []) {
      const said = run && (isSpent(evident.question) ? "given" : await witness(agent, run, launch, evident));
      if (said === "given" || (said === "unknown" && this.#hasTaken(how, evident))) {
        await engine.given(evident.question.id, said === "given" ? "transcript" : "exit");
      }
    }
  }

  /**
   * Where no record says what the agent was shown: it has what its own call returned, and a program without a record
   * what it was started with, if it came to an end by itself.
   */
  #hasTaken(how: Ended, { question }: Evident): boolean {
    const { agent } = this.#to;
    const { epoch } = this.#to.by;
    if (how.state !== "dead" || how.exitCode === undefined || KILLED.has(how.exitCode)) return false;
    const by = agent.program === "" ? undefined : "call";
    return handoversOf(question).some((handover) => isHandedIn(handover, epoch, by));
  }

  async #resultOf(how: Ended): Promise<RunResult> {
    const { reported, ended, lastWords } = this.#reading;
    if (this.#isToolless) return { status: "failed", reason: "tools_lost" };
    if (reported) return reported.result;
    const exitCode = how.state === "dead" ? how.exitCode : undefined;
    const isKilled = exitCode !== undefined && KILLED.has(exitCode);
    if (ended && (!exitCode || isKilled || ended.status !== "completed")) return ended;
    if (exitCode === undefined) return { status: "failed", reason: "worker_lost" };
    if (isKilled)
      return { status: "failed", reason: "agent_killed", summary: `It was ended by signal ${exitCode - SIGNALLED}` };
    const summary = lastWords.trim().slice(-SUMMARY_CHARS);
    if (exitCode === 0) return { status: "completed", ...(summary && { summary }) };
    const complaint = (await findText(epochFile(this.#to.runDir, this.#to.by.epoch, "err")))
      ?.trim()
      .slice(-SUMMARY_CHARS);
    return { status: "failed", reason: "agent_error", summary: complaint || summary || `exit code ${exitCode}` };
  }
}

function isNews(sight: Sight): boolean {
  return sight.kind === "shown" || sight.kind === "text" || sight.kind === "called" || sight.kind === "ended";
}
