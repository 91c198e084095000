import type { Store } from "../../store/store.ts";
import { nextTurn } from "../../store/next-turn.ts";
import type { Archiver } from "../trail/archiver.ts";
import type { StatsCache } from "./stats-cache.ts";

const EVENTS = 200;
/** Words are indexed when no question was asked or answered for a moment, but not delayed for ever. */
const QUIET_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
const PAUSE_MS = 50;
/** How long somebody who looks for something waits for the newest words. */
const PATIENCE_MS = 100;

interface FollowerDeps {
  store: Pick<Store, "indexWords">;
  cache?: Pick<StatsCache, "takeIn">;
  archiver?: Pick<Archiver, "archiveMore">;
}

/**
 * Takes the words of questions into the index, closed ones into the statistics, and old ones into the archive, some
 * time after they were asked and answered: an index that every ask had to write would slow all of them down, and nobody looks for what was asked
 * just now.
 */
export class WordFollower {
  readonly #deps: FollowerDeps;
  #isFollowing = false;
  #changedAtMs = 0;
  #waitsSinceMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<unknown> = Promise.resolve();

  constructor(deps: FollowerDeps) {
    this.#deps = deps;
  }

  /** From now on in the background, until it is stopped. */
  follow(): void {
    this.#isFollowing = true;
    this.noteChange();
  }

  noteChange(): void {
    if (!this.#isFollowing) return;
    this.#changedAtMs = performance.now();
    if (this.#timer === undefined) {
      this.#waitsSinceMs = this.#changedAtMs;
      this.#sleep(QUIET_MS);
    }
  }

  /** Before something is looked for: takes in what came since, as far as that goes fast. */
  async catchUp(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    // A store that cannot be written, as on a full disk, can still be read; the next writer reports the error.
    await Promise.race([this.#takeIn().catch(() => undefined), patience]);
    clearTimeout(timer);
  }

  async stop(): Promise<void> {
    this.#isFollowing = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#working;
  }

  async #takeIn() {
    const endMs = performance.now() + PATIENCE_MS;
    while ((await this.#deps.store.indexWords(EVENTS)) === EVENTS && performance.now() < endMs) await nextTurn();
  }

  #sleep(ms: number) {
    this.#timer = setTimeout(() => {
      this.#working = this.#work().catch(() => {
        this.#timer = undefined; // the next change tries again, and whoever wrote it hears what is wrong
      });
    }, ms);
    this.#timer.unref();
  }

  async #work() {
    const nowMs = performance.now();
    const isQuiet = nowMs - this.#changedAtMs >= QUIET_MS;
    if (!isQuiet && nowMs - this.#waitsSinceMs < LONGEST_WAIT_MS) return this.#sleep(QUIET_MS);
    const { store, cache, archiver } = this.#deps;
    const isMore =
      (await store.indexWords(EVENTS)) === EVENTS || (await cache?.takeIn()) || (await archiver?.archiveMore());
    this.#waitsSinceMs = performance.now();
    this.#timer = undefined;
    if (this.#isFollowing && isMore) this.#sleep(isQuiet ? PAUSE_MS : QUIET_MS);
  }
}
