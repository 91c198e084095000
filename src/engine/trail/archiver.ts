import { epochMs, instant } from "../../core/instant.ts";
import { LAST_SEAL, readSeal } from "../../core/trail/seal.ts";
import type { Store } from "../../store/store.ts";
import { findLastSeal } from "../jobs/seal-job.ts";

/** The lines of a page: more of them compress better, and fewer are read faster (these in about 1.5 ms). */
const PAGE_LINES = 512;

/** Moves old, sealed lines of the trail into the archive, with the runs that ended with them, one page at a time. */
export class Archiver {
  readonly #store: Store;
  readonly #afterMs: number;
  readonly #pageLines: number;
  #sealed = { n: 0, cursor: "" };

  constructor(store: Store, afterMs: number, pageLines = PAGE_LINES) {
    this.#store = store;
    this.#afterMs = afterMs;
    this.#pageLines = pageLines;
  }

  /** Archives a page if one is due; says whether it did. */
  async archiveMore(): Promise<boolean> {
    const upTo = await this.#findSealed();
    if (upTo === "") return false;
    const olderThan = instant(epochMs(await this.#store.now()) - this.#afterMs);
    return (await this.#store.archive({ upTo, olderThan, lines: this.#pageLines })) > 0;
  }

  /** How far the trail is sealed. A seal names thousands of chains, so it is read once. */
  async #findSealed() {
    const entry = await this.#store.findEntry(LAST_SEAL.kind, LAST_SEAL.id);
    if (entry !== undefined && entry.body["n"] !== this.#sealed.n) {
      const last = await findLastSeal(this.#store);
      if (last) this.#sealed = { n: last.n, cursor: readSeal(last).cursor };
    }
    return this.#sealed.cursor;
  }
}
