import { join } from "node:path";
import type { DoctorContext } from "../doctor-context.ts";
import { instant } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";

type CopyContext = Pick<DoctorContext, "store" | "stateDir" | "nowMs" | "note">;

/** Keeps a copy of a store before it is repaired, once for all repairs of a check-up. */
export class StoreCopy {
  readonly #context: CopyContext;
  #kept: Promise<void> | undefined;

  constructor(context: CopyContext) {
    this.#context = context;
  }

  /** Without PostgreSQL's own programs there is no dump: that is said, and what is replaced is kept in the store itself. */
  keep(): Promise<void> {
    return (this.#kept ??= this.#copy());
  }

  async #copy() {
    const { store, nowMs } = this.#context;
    const stamp = instant(nowMs()).slice(0, 23).replaceAll(/\W/g, "");
    if (store.kind === "postgres") return this.#dump(store.url, stamp);
    if (store.kind !== "sqlite") return;
    const { copyStore } = await import("../../store/sqlite/backup.ts");
    await copyStore(store.file, `${store.file}.before-fix-${stamp}Z`);
  }

  async #dump(address: string, stamp: string) {
    const { stateDir, note, nowMs } = this.#context;
    const target = join(stateDir, "backups", `askd.dump.before-fix-${stamp}Z`);
    const { dumpDatabase } = await import("../../store/postgres/dump.ts");
    try {
      await dumpDatabase({ address, target, at: instant(nowMs()) });
      note(`The database was copied to ${target} before it was repaired`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      note(`The database is repaired without a copy of it: ${error.message.replace("; nothing was changed", "")}`);
    }
  }
}
