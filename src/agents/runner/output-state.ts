import type { RunResult } from "../../core/run/run-lifecycle.ts";
import type { Sight, Usage } from "../agent.ts";
import type { Json } from "../json.ts";
import { MarkerScanner } from "../marker/marker.ts";
import { type Reported, readResult } from "../marker/result.ts";

/** Of its last words no more is kept than a result can need. */
const MAX_WORDS_CHARS = 4 * 1024 * 1024;

/** Of its marks no more are kept: the first that is a question stops it. */
const MOST_MARKS = 20;

type Deferred = Extract<Sight, { kind: "deferred" }>;
type Ended = Extract<Sight, { kind: "ended" }>;

/** What is known of one process of an agent from the lines that it wrote so far. */
export class Reading {
  session: string | undefined;
  tools: readonly string[] | undefined;
  /** What it marked in its words, to be read by `parseAsk`; the first that it did not repeat from elsewhere is asked. */
  readonly marked: Json[] = [];
  /** The call that it stopped at; gone when it went on. */
  deferred: Deferred | undefined;
  warnings: string[] = [];
  readonly #scanner = new MarkerScanner({ most: MOST_MARKS });
  #words = "";
  #ended: Ended | undefined;
  readonly #totals = new Map<Usage["since"], Usage>();

  take(sights: readonly Sight[]): void {
    for (const sight of sights) this.#takeOne(sight);
  }

  /** No more lines will come. */
  end(): void {
    this.#takeMarks(this.#scanner.end());
  }

  /** What it said last: since its last call, or what it reports as that. */
  get lastWords(): string {
    return this.#ended?.text ?? this.#words;
  }

  /** How it ended in its own view; undefined when it said nothing of an end. */
  get ended(): RunResult | undefined {
    return this.#ended?.result;
  }

  /** Its result of the kind that asks for input or sets the run's state, if it gave one and did not fail. */
  get reported(): Reported | undefined {
    if (this.#ended?.result.status === "failed" || this.deferred) return undefined;
    return readResult({ text: this.lastWords, structured: this.#ended?.structured });
  }

  /** What was used, by what it counts from. */
  get usage(): readonly Usage[] {
    return [...this.#totals.values()];
  }

  #takeOne(sight: Sight): void {
    switch (sight.kind) {
      case "session":
        this.session = sight.session;
        this.tools = sight.tools ?? this.tools;
        return;
      case "text":
        this.#words = sight.isPiece ? this.#words + sight.text : sight.text;
        // Not at every piece: cutting so long a text costs as much as reading all of it.
        if (this.#words.length > 2 * MAX_WORDS_CHARS) this.#words = this.#words.slice(-MAX_WORDS_CHARS);
        if (sight.text.trim() !== "") this.#goOn();
        this.#takeMarks(this.#scanner.push(sight.text));
        return;
      case "called":
      case "shown":
        this.#words = "";
        return;
      case "deferred":
        this.deferred = sight;
        return;
      case "usage":
        this.#totals.set(sight.usage.since, addUsage(this.#totals.get(sight.usage.since), sight.usage));
        return;
      case "ended":
        this.#ended = sight;
        return;
      case "warning":
        this.warnings.push(sight.text);
    }
  }

  /** It said an end and speaks again: another turn has begun. */
  #goOn(): void {
    this.#ended = undefined;
    this.deferred = undefined;
  }

  #takeMarks(marks: ReturnType<MarkerScanner["push"]>): void {
    for (const mark of marks) {
      if (mark.kind === "question") this.marked.push(mark.input);
      else if (this.marked.length === 0) this.warnings.push(mark.text);
    }
  }
}

/** What counts from a line is added up; the rest is said anew each time. */
function addUsage(before: Usage | undefined, usage: Usage): Usage {
  if (usage.since !== "line" || !before) return usage;
  const add = (one: number | undefined, other: number | undefined) =>
    one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);
  return {
    since: "line",
    turns: add(before.turns, usage.turns),
    costUsd: add(before.costUsd, usage.costUsd),
    inputTokens: add(before.inputTokens, usage.inputTokens),
    outputTokens: add(before.outputTokens, usage.outputTokens),
  };
}
