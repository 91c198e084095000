import { join } from "node:path";
import { z } from "zod";
import type { Entry } from "../../core/changes.ts";
import type { RunId } from "../../core/id.ts";
import type { Instant } from "../../core/instant.ts";
import type { Run } from "../../core/run/run.ts";
import { UsageRow } from "../../core/run/usage.ts";
import { workflowIdOf } from "../../core/workflow/approval.ts";
import { addSpending, spendingId } from "../../core/workflow/spending.ts";
import type { Store } from "../../store/store.ts";
import type { Usage } from "../agent.ts";
import { findFileText } from "../process/private-file.ts";
import { startDirOf, writeStartFiles } from "./run-files.ts";

const BASE = "usage";
const Base = z.object({ epoch: z.int(), before: UsageRow });
const NOTHING: UsageRow = {};
const KEYS = ["turns", "costUsd", "inputTokens", "outputTokens"] as const;

/** Adds the usage of one agent process to the usage of its run. */
export class UsageMeter {
  readonly #store: Store;
  readonly #runId: RunId;
  readonly #before: UsageRow;
  #version: number;
  #kept: UsageRow;

  private constructor(store: Store, runId: RunId, before: UsageRow, stored: StoredUsage) {
    this.#store = store;
    this.#runId = runId;
    this.#before = before;
    this.#version = stored.version;
    this.#kept = stored.usage;
  }

  /** `base` is the usage before this process; by default, the stored one. */
  static async open(store: Store, runId: RunId, base: UsageRow | undefined): Promise<UsageMeter> {
    const stored = await readStored(store, runId);
    return new UsageMeter(store, runId, base ?? stored.usage, stored);
  }

  get before(): UsageRow {
    return this.#before;
  }

  /**
   * Stores the usage of the run so far, if it changed, and returns it. It is outside the trail and has no guard. What it
   * costs more than before counts for the day of `now`.
   */
  async keep(usage: readonly Usage[], now: Instant): Promise<UsageRow> {
    const total = totalUsage(this.#before, usage);
    if (JSON.stringify(total) === JSON.stringify(this.#kept)) return total;
    const entry = { kind: "usage" as const, id: this.#runId, version: this.#version, body: total };
    const spent = (total.costUsd ?? 0) - (this.#kept.costUsd ?? 0);
    const committed = await this.#store.commit({ entries: [entry, ...(await this.#spending(spent, now))] });
    if (committed.ok) {
      this.#version += 1;
      this.#kept = total;
    } else ({ version: this.#version, usage: this.#kept } = await readStored(this.#store, this.#runId));
    return total;
  }

  /** The entry by which a workflow knows what its agents cost today; none outside of workflows. */
  async #spending(costUsd: number, at: Instant): Promise<Entry[]> {
    const workflow = costUsd > 0 ? await findWorkflowOf(this.#store, this.#runId) : undefined;
    if (workflow === undefined) return [];
    const place = { workflow, runId: this.#runId, at };
    return [addSpending(await this.#store.findEntry("usage", spendingId(place)), place, costUsd)];
  }
}

interface StoredUsage {
  version: number;
  usage: UsageRow;
}

async function readStored(store: Store, runId: RunId): Promise<StoredUsage> {
  const entry = await store.findEntry("usage", runId);
  return { version: entry?.version ?? 0, usage: UsageRow.safeParse(entry?.body).data ?? NOTHING };
}

/** The id of the workflow for which a run works, at any depth; undefined if it is for none. */
async function findWorkflowOf(store: Store, runId: RunId): Promise<string | undefined> {
  for (let next: RunId | undefined = runId; next !== undefined;) {
    const run: Run | undefined = await store.findRun(next);
    if (run?.workflow) return workflowIdOf(run, run.workflow);
    next = run?.parentId;
  }
  return undefined;
}

/** Stores the usage before this epoch, for the next owner. */
export async function saveUsageBase(runDir: string, epoch: number, store: Store, runId: RunId): Promise<void> {
  const { before } = await UsageMeter.open(store, runId, undefined);
  await writeStartFiles(startDirOf(runDir, epoch), [{ name: BASE, text: JSON.stringify({ epoch, before }) }]);
}

export async function findUsageBase(runDir: string, epoch: number): Promise<UsageRow | undefined> {
  const text = await findFileText(join(startDirOf(runDir, epoch), BASE));
  const found = text === undefined ? undefined : Base.safeParse(JSON.parse(text));
  return found?.success && found.data.epoch === epoch ? found.data.before : undefined;
}

/** Adds usage to a base; session totals replace it. */
export function totalUsage(before: UsageRow, usage: readonly Usage[]): UsageRow {
  const total = { ...before };
  for (const one of usage) {
    for (const key of KEYS) {
      const value = one[key];
      if (value === undefined) continue;
      const base = before[key] ?? 0;
      total[key] = one.since === "session" ? Math.max(base, value) : base + value;
    }
  }
  return total;
}
