import type { Instant } from "../../core/instant.ts";
import { type RunResult, USAGE_LIMIT } from "../../core/run/run-lifecycle.ts";
import type { AgentEvent, Usage } from "../agent.ts";
import { type Json, textAt } from "../json.ts";
import { MarkerScanner, withoutMarkers } from "../marker/marker.ts";
import { type ReportedResult, mentionsNeedsInput, readResult } from "../marker/result.ts";

/** The maximum length of the last text that is kept. */
const MAX_WORDS_CHARS = 4 * 1024 * 1024;

/** The maximum number of markers kept: the first question stops the agent. */
const MOST_MARKS = 20;

const CANNOT_READ_RESULT = "The result needs input and cannot be read; no question was asked";

/** Words that look like a question and cannot be read. */
interface Broken {
  why: string;
  words: string;
}
type Deferred = Extract<AgentEvent, { kind: "deferred" }>;
type Ended = Extract<AgentEvent, { kind: "ended" }>;

/** The state of one agent process, derived from its output so far. */
export class OutputState {
  session: string | undefined;
  tools: readonly string[] | undefined;
  /** Markers in its text, for `parseAsk`; the first that it did not merely repeat is asked. */
  readonly marked: Json[] = [];
  /** The call it stopped at; cleared when it continues. */
  deferred: Deferred | undefined;
  warnings: string[] = [];
  readonly #scanner = new MarkerScanner({ most: MOST_MARKS });
  #words = "";
  readonly #broken: Broken[] = [];
  #ended: Ended | undefined;
  #limitEndsAt: Instant | undefined;
  readonly #totals = new Map<Usage["since"], Usage>();
  /** Messages of the model that no usage has counted yet. */
  readonly #uncounted = new Set<string>();

  take(events: readonly AgentEvent[]): void {
    for (const event of events) this.#takeOne(event);
  }

  /** No more lines will come. */
  end(): void {
    this.#takeMarks(this.#scanner.end());
  }

  /** Its last text: since its last call, or as reported. */
  get lastWords(): string {
    return this.#ended?.text ?? this.#words;
  }

  /** How it ended by its own report; undefined if it reported no end. */
  get ended(): RunResult | undefined {
    const result = this.#ended?.result;
    if (!result?.retry || this.#limitEndsAt === undefined) return result;
    return { ...result, reason: USAGE_LIMIT, retry: { at: this.#limitEndsAt } };
  }

  /** Its structured result, if it gave one and did not fail. */
  get reported(): ReportedResult | undefined {
    if (this.#ended?.result.status === "failed" || this.deferred) return undefined;
    return readResult({ text: this.lastWords, structured: this.#ended?.structured });
  }

  /** Why it may have asked something that could not be read; undefined if it did not, or asked the same readably. */
  get mayHaveAsked(): string | undefined {
    const { reported } = this;
    if (reported?.warning !== undefined && this.marked.length === 0) return reported.warning;
    const isLost = !reported && !this.deferred && mentionsNeedsInput(this.lastWords);
    const lost = isLost ? [{ why: CANNOT_READ_RESULT, words: withoutMarkers(this.lastWords) }] : [];
    const asked = [...this.marked, ...(reported?.ask ? [reported.ask] : [])].map(
      (ask) => textAt(ask, "question") ?? "",
    );
    return [...lost, ...this.#broken].find(({ words }) => !asked.some((question) => holdsQuestion(words, question)))
      ?.why;
  }

  /** The usage so far. */
  get usage(): readonly Usage[] {
    const { size } = this.#uncounted;
    if (size === 0) return [...this.#totals.values()];
    const line = addUsage(this.#totals.get("line"), { since: "line", turns: size });
    return [...[...this.#totals.values()].filter(({ since }) => since !== "line"), line];
  }

  #takeOne(event: AgentEvent): void {
    switch (event.kind) {
      case "session":
        this.session = event.session;
        this.tools = event.tools ?? this.tools;
        return;
      case "text":
        this.#words = event.isPiece ? this.#words + event.text : event.text;
        // Not for every chunk: cutting so long a text costs as much as reading it.
        if (this.#words.length > 2 * MAX_WORDS_CHARS) this.#words = this.#words.slice(-MAX_WORDS_CHARS);
        if (event.text.trim() !== "") this.#goOn();
        this.#takeMarks(this.#scanner.push(event.text));
        return;
      case "called":
      case "shown":
        this.#words = "";
        return;
      case "deferred":
        this.deferred = event;
        return;
      case "usage":
        this.#totals.set(event.usage.since, addUsage(this.#totals.get(event.usage.since), event.usage));
        if (event.usage.turns !== undefined) this.#uncounted.clear();
        return;
      case "turn":
        this.#uncounted.add(event.message);
        return;
      case "limit":
        this.#limitEndsAt = event.endsAt;
        return;
      case "ended":
        this.#ended = event;
        return;
      case "warning":
        this.warnings.push(event.text);
    }
  }

  /** It reported an end and continues: another turn has begun. */
  #goOn(): void {
    this.#ended = undefined;
    this.deferred = undefined;
  }

  #takeMarks(marks: ReturnType<MarkerScanner["push"]>): void {
    for (const mark of marks) {
      if (mark.kind === "question") this.marked.push(mark.input);
      else {
        this.#broken.push({ why: mark.text, words: mark.words });
        this.warnings.push(mark.text);
      }
    }
  }
}

/** Says whether broken words hold a question, whatever stands between its words. */
function holdsQuestion(words: string, question: string): boolean {
  const wanted = wordsOf(question);
  return wanted.trim() !== "" && wordsOf(words).includes(wanted);
}

function wordsOf(text: string): string {
  const words = text.toLowerCase().replace(/\\[nrt]|[^\p{L}\p{N}]+/gu, " ");
  return ` ${words.trim().replace(/ +/g, " ")} `;
}

/** Incremental usage is added up; totals replace the earlier ones. */
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
