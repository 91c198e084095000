import type { QuestionId, RunId } from "../../core/id.ts";
import type { Run } from "../../core/run/run.ts";
import type { Store } from "../../store/store.ts";
import { mirrorRunOrNote } from "./state-mirror.ts";

/** Changes within this time are written together. */
const GATHER_MS = 50;

export interface MirrorWatchDeps {
  store: Store;
  host: string;
  note(run: Run, text: string): void;
}

/** Updates `state.json` of this host's runs when another process asks or answers: a hook, a tool, a person. */
export class MirrorWatch {
  readonly #deps: MirrorWatchDeps;
  readonly #stopListening: () => void;
  readonly #questions = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: MirrorWatchDeps) {
    this.#deps = deps;
    this.#stopListening = deps.store.onChange(({ questions }) => {
      for (const id of questions) this.#questions.add(id);
      if (this.#questions.size > 0) this.#timer ??= setTimeout(() => this.#write(), GATHER_MS).unref();
    });
  }

  /** Writes pending updates and stops. */
  async stop(): Promise<void> {
    this.#stopListening();
    clearTimeout(this.#timer);
    this.#write();
    await this.#writing;
  }

  #write(): void {
    this.#timer = undefined;
    const ids = [...this.#questions];
    this.#questions.clear();
    // A run that cannot be read now is written at its next change.
    this.#writing = this.#writing.then(() => this.#mirror(ids)).catch(() => undefined);
  }

  async #mirror(ids: readonly string[]): Promise<void> {
    const { store, host, note } = this.#deps;
    const found = await Promise.all(ids.map((id) => store.findQuestion(id as QuestionId))); // what the store named itself
    const runIds = new Set<RunId>(found.flatMap((question) => (question ? [question.runId] : [])));
    for (const id of runIds) {
      const run = await store.findRun(id);
      if (run?.giveBack === "worker" && run.host === host) await mirrorRunOrNote(store, id, (text) => note(run, text));
    }
  }
}
