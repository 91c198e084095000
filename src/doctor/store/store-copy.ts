import type { DoctorContext } from "../doctor-context.ts";
import { instant } from "../../core/instant.ts";

/** Keeps a copy of a store's file before it is repaired, once for all repairs of a check-up. */
export class StoreCopy {
  readonly #context: Pick<DoctorContext, "store" | "nowMs">;
  #kept: Promise<void> | undefined;

  constructor(context: Pick<DoctorContext, "store" | "nowMs">) {
    this.#context = context;
  }

  /** PostgreSQL has no file here: what is replaced there is kept in the store itself. */
  keep(): Promise<void> {
    return (this.#kept ??= this.#copy());
  }

  async #copy() {
    const { store, nowMs } = this.#context;
    if (store.kind !== "sqlite") return;
    const stamp = instant(nowMs()).slice(0, 23).replaceAll(/\W/g, "");
    const { copyStore } = await import("../../store/sqlite/backup.ts");
    await copyStore(store.file, `${store.file}.before-fix-${stamp}Z`);
  }
}
