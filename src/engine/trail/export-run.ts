import type { DamagedLine, RunLine } from "../../core/trail/export.ts";
import type { DeliveryRef } from "../../core/channel/delivery/delivery-ref.ts";
import { shortId } from "../../core/id.ts";
import type { Question } from "../../core/question/question.ts";
import { pluralize } from "../../core/text/plural.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Run } from "../../core/run/run.ts";
import {
  entryName,
  jobName,
  parseContent,
  parseEntry,
  parseEvent,
  parseJob,
  parseQuestion,
  parseRun,
  runName,
} from "../../store/row.ts";
import type {
  StoredEntry,
  StoredJob,
  StoredLine,
  StoredQuestion,
  StoredRun,
  StoreSnapshot,
} from "../../store/snapshot.ts";

const PAGE = 500;

type RawRow = DamagedLine["rows"][number];

/** The rows of one run, each as its text. */
interface StoredParts {
  run: StoredRun;
  questions: readonly StoredQuestion[];
  lines: readonly StoredLine[];
  jobs: readonly StoredJob[];
  contents: ReadonlyMap<string, string>;
  entries: readonly StoredEntry[];
}

/** Reads the lines of an export, run by run, from one snapshot. */
export class ExportedRunReader {
  readonly #snapshot: StoreSnapshot;
  /** Jobs are work that is left, so there are few of them. By run, and for unreadable ones by the end of their key. */
  readonly #jobs: ReadonlyMap<string, readonly StoredJob[]>;

  private constructor(snapshot: StoreSnapshot, jobs: ReadonlyMap<string, readonly StoredJob[]>) {
    this.#snapshot = snapshot;
    this.#jobs = jobs;
  }

  static async open(snapshot: StoreSnapshot): Promise<ExportedRunReader> {
    const jobs = new Map<string, StoredJob[]>();
    for (let after = ""; ;) {
      const page = await snapshot.listJobs(after, PAGE);
      for (const job of page) {
        const owner = tryToRead(() => parseJob(job.body))?.runId ?? job.key.slice(job.key.indexOf(":") + 1);
        jobs.set(owner, [...(jobs.get(owner) ?? []), job]);
      }
      after = page.at(-1)?.key ?? "";
      if (page.length < PAGE) return new ExportedRunReader(snapshot, jobs);
    }
  }

  /** A run with everything that belongs to it; one with a row that cannot be read is written as it is. */
  async read(run: StoredRun, questions: readonly StoredQuestion[]): Promise<RunLine | DamagedLine> {
    const parts = await this.#readParts(run, questions);
    const unreadable = [...namesOfUnreadable(parts), ...this.#namesOfMissing(parts)];
    return unreadable.length > 0 ? toDamagedLine(parts, unreadable) : toRunLine(parts);
  }

  /** Names the lines of a run that a damaged page of the archive takes along. */
  #namesOfMissing({ run, lines }: StoredParts): string[] {
    const pages = this.#snapshot.listDamagedPages();
    const count = run.chain.n - lines.length;
    return pages.length > 0 && count > 0 ? [`${pluralize(count, "line")} of the trail`] : [];
  }

  async #readParts(run: StoredRun, questions: readonly StoredQuestion[]): Promise<StoredParts> {
    const sorted = questions.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const read = sorted.flatMap((question) => tryToRead(() => parseQuestion(question.body)) ?? []);
    const parsedRun = tryToRead(() => parseRun(run.body, run.number));
    const owners = [run.id, ...questions.map(({ id }) => id)];
    return {
      run,
      questions: sorted,
      lines: await this.#snapshot.readLinesOf(run.id),
      jobs: owners.flatMap((owner) => this.#jobs.get(owner) ?? []),
      contents: await this.#snapshot.readContents([...new Set(read.map(({ content }) => content))]),
      entries: await this.#readEntries(run.id, parsedRun, read),
    };
  }

  async #readEntries(runId: string, run: Run | undefined, questions: readonly Question[]) {
    const subjects = [...questions, ...(run ? [run] : [])];
    const refs: DeliveryRef[] = subjects.flatMap(({ deliveries = [] }) => deliveries);
    const found = await this.#snapshot.readEntries(
      "delivery",
      refs.map(({ id }) => id),
    );
    const byId = new Map(found.map((entry) => [entry.id, entry]));
    const usage = await this.#snapshot.readEntries("usage", [runId]);
    return [...refs.flatMap(({ id }) => byId.get(id) ?? []), ...usage, ...(await this.#readWorkflow(run))];
  }

  /** The checkpoint and the definition of a run of a workflow. */
  async #readWorkflow(run: Run | undefined) {
    if (!run?.workflow) return [];
    const checkpoint = await this.#snapshot.readEntries("checkpoint", [run.id]);
    return [...checkpoint, ...(await this.#snapshot.readEntries("definition", [run.workflow.definition]))];
  }
}

function toRunLine({ run, questions, lines, jobs, contents, entries }: StoredParts): RunLine {
  return {
    kind: "run",
    run: readWhole(run),
    questions: questions.map(({ body }) => parseQuestion(body)),
    jobs: jobs.map(({ body }) => parseJob(body)),
    head: run.chain,
    contents: [...contents].map(([hash, body]) => ({ hash, content: parseContent(body) })),
    events: lines.map(({ body }) => body),
    entries: entries.map((entry) => keptEntry(entry)),
  };
}

/** The run with its fields in the order of its text, because the trail pins that text. */
function readWhole({ body, number }: StoredRun): Run {
  parseRun(body, number);
  return { ...(JSON.parse(body) as Run), number }; // as just looked at
}

function keptEntry(row: StoredEntry): RunLine["entries"][number] {
  const { kind, id, parent, body } = parseEntry(row);
  switch (kind) {
    case "usage":
    case "delivery":
    case "checkpoint":
    case "definition":
      return { kind, id, parent, body };
    default:
      throw new Error(`a ${kind} belongs to no run`);
  }
}

function toDamagedLine(parts: StoredParts, unreadable: string[]): DamagedLine {
  const { run, questions, lines, jobs, contents, entries } = parts;
  const rows: RawRow[] = [
    { table: "run", id: run.id, body: run.body },
    ...questions.map(({ id, body }) => ({ table: "question" as const, id, body })),
    ...[...contents].map(([id, body]) => ({ table: "content" as const, id, body })),
    ...lines.map(({ n, body }) => ({ table: "event" as const, id: `${run.id} ${n}`, body })),
    ...jobs.map(({ key, body }) => ({ table: "job" as const, id: key, body })),
    ...entries.map((entry) => ({ table: "entry" as const, id: entryName(entry), body: entry.body })),
  ];
  return { kind: "damaged", id: run.id, number: run.number, rows, unreadable };
}

function namesOfUnreadable({ run, questions, lines, jobs, contents, entries }: StoredParts): string[] {
  const ofLine = ({ n, hash, body }: StoredLine) => parseEvent({ n, hash, body, cursor: "" });
  return [
    ...(isReadable(() => parseRun(run.body, run.number)) ? [] : [runName(run)]),
    ...questions
      .filter(({ body }) => !isReadable(() => parseQuestion(body)))
      .map(({ id }) => `question ${shortId(id)}`),
    ...[...contents].filter(([, body]) => !isReadable(() => parseContent(body))).map(([hash]) => `text ${hash}`),
    ...lines.filter((line) => !isReadable(() => ofLine(line))).map(({ n }) => `line ${n} of the trail`),
    ...jobs.filter(({ body }) => !isReadable(() => parseJob(body))).map(jobName),
    ...entries.filter((entry) => !isReadable(() => parseEntry(entry))).map(entryName),
  ];
}

function isReadable(parse: () => unknown) {
  return tryToRead(() => [parse()]) !== undefined;
}

/** The parsed row, undefined if it is damaged. */
export function tryToRead<Row>(parse: () => Row): Row | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof Refusal || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
