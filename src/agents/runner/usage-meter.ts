import { join } from "node:path";
import { z } from "zod";
import type { RunId } from "../../core/id.ts";
import { UsageRow } from "../../core/run/usage.ts";
import type { Store } from "../../store/store.ts";
import type { Usage } from "../agent.ts";
import { findFileText, replacePrivateFile } from "../process/private-file.ts";

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
  #kept: string;

  private constructor(store: Store, runId: RunId, before: UsageRow, version: number) {
    this.#store = store;
    this.#runId = runId;
    this.#before = before;
    this.#version = version;
    this.#kept = JSON.stringify(before);
  }

  /** `base` is the usage before this process; by default, the stored one. */
  static async open(store: Store, runId: RunId, base: UsageRow | undefined): Promise<UsageMeter> {
    const entry = await store.findEntry("usage", runId);
    const found = UsageRow.safeParse(entry?.body);
    return new UsageMeter(store, runId, base ?? (found.success ? found.data : NOTHING), entry?.version ?? 0);
  }

  get before(): UsageRow {
    return this.#before;
  }

  /** Stores the usage of the run so far, if it changed, and returns it. It is outside the trail and has no guard. */
  async keep(usage: readonly Usage[]): Promise<UsageRow> {
    const total = totalUsage(this.#before, usage);
    const text = JSON.stringify(total);
    if (text === this.#kept) return total;
    const entry = { kind: "usage" as const, id: this.#runId, version: this.#version, body: total };
    const committed = await this.#store.commit({ entries: [entry] });
    if (committed.ok) {
      this.#version += 1;
      this.#kept = text;
    } else this.#version = (await this.#store.findEntry("usage", this.#runId))?.version ?? 0;
    return total;
  }
}

/** Stores the usage before this epoch, for the next owner. */
export async function saveUsageBase(runDir: string, epoch: number, store: Store, runId: RunId): Promise<void> {
  const { before } = await UsageMeter.open(store, runId, undefined);
  await replacePrivateFile(join(runDir, BASE), JSON.stringify({ epoch, before }));
}

export async function findUsageBase(runDir: string, epoch: number): Promise<UsageRow | undefined> {
  const text = await findFileText(join(runDir, BASE));
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
