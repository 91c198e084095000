import type { Actor } from "../core/people/actor.ts";
import { quoteName } from "../core/text/foreign-text.ts";
import type { RunId } from "../core/id.ts";
import { followRun } from "../core/run/follow.ts";
import { cancelRun, endRun, queueRun, resumeRun, type RunResult, startRun } from "../core/run/run-lifecycle.ts";
import type { Machine } from "../core/run/machine.ts";
import { moveRun, requireMovable } from "../core/run/move-run.ts";
import { type Question, namesPeople } from "../core/question/question.ts";
import { Refusal } from "../core/refusal.ts";
import type { Run } from "../core/run/run.ts";
import type { Troubles } from "../core/run/failing-job.ts";
import { RunUsage } from "../core/run/usage.ts";
import type { NameReference, RunFilter, Store } from "../store/store.ts";
import type { Decider } from "./decide.ts";
import { allQuestions } from "./row-cache.ts";
import type { RunEngine, RunInput } from "./engine.ts";
import { findTroubles } from "./jobs/troubles.ts";
import { listMachines } from "./machines.ts";
import { newRun } from "./new-run.ts";

const RUNS_OF_A_SESSION = 10;

interface RunDeps {
  store: Store;
  decider: Decider;
}

/** Runs on a store: each change is read, decided by core, and committed. */
export class Runs implements RunEngine {
  readonly #store: Store;
  readonly #decider: Decider;

  constructor({ store, decider }: RunDeps) {
    this.#store = store;
    this.#decider = decider;
  }

  async createRun(input: RunInput, by: Actor): Promise<Run> {
    const at = this.#decider.at(by);
    const run = newRun(input, at, { implicit: false });
    const committed = await this.#decider.commit(queueRun(run, at));
    if (committed.ok) return { ...run, version: 1, number: committed.numbers.get(run.id) ?? 0 };
    throw new Refusal(
      "key_reused",
      `There is already a run for session ${quoteName(input.session ?? "")} of ${quoteName(run.agent)}`,
    );
  }

  startRun(id: RunId, by: Actor): Promise<Run> {
    return this.#decider.changeRun(id, by, startRun);
  }

  endRun(id: RunId, result: RunResult, by: Actor): Promise<Run> {
    return this.#decider.changeRun(id, by, (read, at) => endRun(read, result, at));
  }

  followRun(id: RunId, by: Actor, { isFollowing }: { isFollowing: boolean }): Promise<Run> {
    return this.#decider.changeRun(id, by, ({ run }, at) => followRun(run, isFollowing, at));
  }

  cancelRun(id: RunId, by: Actor, reason = "cancelled"): Promise<Run> {
    return this.#decider.changeRun(id, by, (read, at) => cancelRun(read, reason, at));
  }

  async resumeRun(id: RunId, by: Actor, { host }: { host?: string } = {}): Promise<Run> {
    if (host !== undefined) return this.#moveTo(host, id, by);
    const asked = await allQuestions(this.#store, id);
    const people = asked.some(namesPeople) ? await this.#decider.readPeople() : undefined;
    return this.#decider.changeRun(id, by, (read, at) => resumeRun({ ...read, people }, asked, at));
  }

  findRun(id: RunId): Promise<Run | undefined> {
    return this.#store.findRun(id);
  }

  lookUp(ref: NameReference, limit: number): Promise<{ runs: Run[]; questions: Question[] }> {
    return this.#store.lookUp(ref, limit);
  }

  listRuns(filter: RunFilter): Promise<Run[]> {
    return this.#store.listRuns(filter);
  }

  async usageOf(ids: readonly RunId[]): Promise<RunUsage[]> {
    const entries = ids.length === 0 ? [] : await this.#store.readEntries("usage", ids);
    return entries.flatMap((entry) => {
      const usage = RunUsage.safeParse({ ...entry.body, runId: entry.id });
      return usage.success ? [usage.data] : [];
    });
  }

  listMachines(): Promise<Machine[]> {
    return listMachines(this.#store);
  }

  listUnreadable(): string[] {
    return this.#store.listUnreadable();
  }

  findTroubles(): Promise<Troubles> {
    return findTroubles(this.#store);
  }

  /** Makes another machine the run's own, if its own is away, and takes the run up there. */
  async #moveTo(host: string, id: RunId, by: Actor) {
    const run = await this.#decider.rows.readRun(id);
    const known = await listMachines(this.#store);
    const { session } = run;
    const others =
      session === undefined ? [] : (await this.#store.lookUp({ by: "session", text: session }, RUNS_OF_A_SESSION)).runs;
    return this.#decider.changeRun(id, by, (read, at) => {
      // Another worker has claimed it since: the last heartbeat of its machine is outdated.
      if (read.run.version !== run.version) {
        throw new Refusal("moved", `Run #${run.number} went on meanwhile; nothing was changed`, {
          hint: `See it with: askd show ${run.number}`,
        });
      }
      requireMovable(read.run, host, { known, others, now: at.now });
      return moveRun(read, { host }, at);
    });
  }
}
