import { missingJobs } from "./required-job.ts";
import { z } from "zod";
import type { Actor } from "../people/actor.ts";
import type { Changes, Entry } from "../changes.ts";
import { Content } from "../question/content.ts";
import { CHAIN_START, Event, chainHash } from "./event.ts";
import { deliveryId, outsideEntry } from "../channel/delivery/delivery.ts";
import { shortId } from "../id.ts";
import { Instant } from "../instant.ts";
import { Job } from "../run/job.ts";
import { Person } from "../people/person.ts";
import { Question } from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import {
  RUN_ROW,
  type RowDigests,
  contentRow,
  digestOf,
  entryDigest,
  entryRow,
  jobDigest,
  jobRow,
} from "./row-digest.ts";
import { Run } from "../run/run.ts";
import { Template } from "../answer/template.ts";
import { hashDefinition } from "../workflow/definition/definition-hash.ts";

/** The export format this program writes, and the newest it reads. */
export const EXPORT_FORMAT = 1;

const KeptEntry = z.object({
  kind: z.enum(["usage", "delivery", "checkpoint", "definition"]),
  id: z.string(),
  parent: z.string().optional(),
  body: z.record(z.string(), z.unknown()),
});

/** The first line of an export. */
const ExportHeader = z.object({ kind: z.literal("askd.export"), format: z.int(), at: Instant, version: z.string() });

/** A run with everything that belongs to it; events are the exact hashed texts. */
const RunLine = z.object({
  kind: z.literal("run"),
  run: Run,
  questions: z.array(Question),
  contents: z.array(z.object({ hash: z.string(), content: Content })),
  events: z.array(z.string()),
  head: z.object({ n: z.int(), hash: z.string() }),
  jobs: z.array(Job),
  entries: z.array(KeptEntry),
  /** The secret of its callback was left out, so the run is not the one that its trail pins. */
  isWithoutSecret: z.literal(true).optional(),
});
export type RunLine = z.infer<typeof RunLine>;

/**
 * A run, person or template with a row that could not be read where it was exported: all its rows, as they are. A page
 * of the archive that could not be read is one too, in Base64.
 */
const DamagedLine = z.object({
  kind: z.literal("damaged"),
  id: z.string(),
  number: z.int().optional(),
  rows: z.array(
    z.object({
      table: z.enum(["run", "question", "content", "event", "job", "entry", "archive"]),
      id: z.string(),
      body: z.string(),
    }),
  ),
  /** The names of those that could not be read. */
  unreadable: z.array(z.string()),
});
export type DamagedLine = z.infer<typeof DamagedLine>;

/** The last line; without it the file is truncated. The signature covers all lines, this one without it. */
const ExportEnd = z.object({
  kind: z.literal("end"),
  runs: z.int(),
  questions: z.int(),
  events: z.int(),
  damaged: z.int().optional(),
  key: z.string().optional(),
  signature: z.string().optional(),
});
export type ExportEnd = z.infer<typeof ExportEnd>;

export const ExportLine = z.discriminatedUnion("kind", [
  ExportHeader,
  z.object({ kind: z.literal("person"), person: Person }),
  z.object({ kind: z.literal("template"), template: Template }),
  z.object({ kind: z.literal("quarantine"), id: z.string(), body: z.record(z.string(), z.unknown()) }),
  RunLine,
  DamagedLine,
  ExportEnd,
]);
export type ExportLine = z.infer<typeof ExportLine>;

/** Parses one line of an export, or refuses it. */
export function parseExportLine(text: string, number: number): ExportLine {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (cause) {
    throw damaged(number, "it is not JSON", cause);
  }
  if (number === 1) requireHeader(raw);
  const parsed = ExportLine.safeParse(raw);
  if (!parsed.success) throw damaged(number, "it is not a line of an export", parsed.error);
  if ((parsed.data.kind === "askd.export") !== (number === 1)) throw damaged(number, "it is out of place");
  const line = raw as ExportLine; // checked; fields that only a newer program knows are kept
  if (line.kind === "run") requireWhole(line, number);
  return line;
}

/**
 * The changes that import a run: rows at their versions, the exact trail, and one more event that pins the rows as
 * stored here and names those that did not come along, such as links: an export leaves secrets out.
 */
export function importedRun(
  { run, questions, contents, events, jobs, entries }: RunLine,
  { now, by, key }: { now: Instant; by: Actor; /** That signed the export. */ key?: string | undefined },
): Changes {
  const { id: runId, status, version } = run;
  // Its definition may be approved where it was exported; the people here have not read it.
  const adopted: Run = run.workflow ? { ...run, workflow: { ...run.workflow, isImported: true } } : run;
  const told = events.map((body) => JSON.parse(body) as Event); // checked when its line was read
  const kept = [...entries, ...entries.flatMap(messageEntry)].map((entry): Entry => ({ ...entry, version: 0 }));
  const rows = leftOut(told, kept);
  const detail = key === undefined ? undefined : { key };
  const imported: Event = { type: "run.imported", at: now, runId, by, from: status, to: status, version, detail, rows };
  return {
    runs: [adopted],
    questions,
    contents,
    events: [...told, imported],
    scheduled: [
      ...jobs.map((job) => ({ ...job, claim: undefined, ...(job.kind === "step" && { host: run.host }) })),
      // A question without its timer would wait for ever.
      ...missingJobs({ run, questions }, { keys: new Set(jobs.map(({ key }) => key)), now }),
    ],
    entries: kept,
  };
}

/** The row that finds a delivery by its message, if the message was sent. */
function messageEntry({ kind, id, body }: RunLine["entries"][number]): Array<Omit<Entry, "version">> {
  const { channel, outside, place } = body;
  if (kind !== "delivery" || typeof channel !== "string" || typeof outside !== "string") return [];
  return [outsideEntry(id, { channel, outside, place: typeof place === "string" ? place : undefined })];
}

/** The entries that a trail tells of and that are not among these: from now on it says that they are not there. */
function leftOut(events: readonly Event[], entries: readonly Entry[]): RowDigests {
  const kept = new Set(entries.map(entryRow));
  const gone = [...lastDigests(events).keys()].filter((row) => row.startsWith("entry ") && !kept.has(row));
  return Object.fromEntries(gone.map((row) => [row, null]));
}

/** The last digest of each row that a trail tells of and that is still there. */
function lastDigests(events: readonly Event[]): Map<string, string> {
  const digests = new Map<string, string>();
  for (const { rows = {} } of events) {
    for (const [row, digest] of Object.entries(rows)) {
      if (digest === null) digests.delete(row);
      else digests.set(row, digest);
    }
  }
  return digests;
}

/** The line without the callback secret of its run, whose outcome can then only be polled. */
export function withoutCallbackSecret(line: RunLine): RunLine {
  const { run } = line;
  if (!run.callback) return line;
  const giveBack = run.giveBack === "callback" ? "poll" : run.giveBack;
  return { ...line, run: { ...run, callback: undefined, giveBack }, isWithoutSecret: true };
}

function requireHeader(raw: unknown) {
  const header = ExportHeader.safeParse(raw);
  if (!header.success) {
    throw new Refusal("bad_input", "This file is not an export of askd", {
      hint: "Make one with: askd export -o file",
    });
  }
  if (header.data.format <= EXPORT_FORMAT) return;
  throw new Refusal("newer_schema", `This export was made by a newer askd (${header.data.version})`, {
    hint: "Update this askd: npm install -g askd@latest",
  });
}

/** Requires that the trail matches its hashes, its rows match the trail, and everything belongs to this run. */
function requireWhole(line: RunLine, number: number) {
  const { run, questions, contents, events, head, jobs, entries } = line;
  let hash = CHAIN_START;
  const told: Event[] = [];
  for (const body of events) {
    const event = Event.safeParse(readJson(body));
    if (!event.success || event.data.runId !== run.id || JSON.stringify(readJson(body)) !== body) {
      throw damaged(number, `the trail of ${run.id} was changed`);
    }
    told.push(event.data);
    hash = chainHash(hash, body);
  }
  if (head.n !== events.length || head.hash !== hash) throw damaged(number, `the trail of ${run.id} was changed`);
  const texts = new Set(contents.map((each) => each.hash));
  if (questions.some((question) => question.runId !== run.id || !texts.has(question.content))) {
    throw damaged(number, `a question of ${run.id} is not whole`);
  }
  const digests = lastDigests(told);
  const changed = questions.find((question) => digests.get(question.id) !== digestOf(JSON.stringify(question)));
  if (changed) throw damaged(number, `${shortId(changed.id)} is not as its trail tells`);
  const other = contents.find((each) => digests.get(contentRow(each.hash)) !== digestOf(JSON.stringify(each.content)));
  if (other) throw damaged(number, `a text of ${run.id} is not as its trail tells`);
  const status = told.findLast(({ type }) => type.startsWith("run."))?.to;
  if (status !== run.status || !isRunAsTold(line, digests)) {
    throw damaged(number, `run ${run.id} is not as its trail tells`);
  }
  requireOwnRows(line, number);
  const job = jobs.find((each) => identityOf(digests.get(jobRow(each.key))) !== identityOf(jobDigest(each)));
  if (job) throw damaged(number, `job ${job.key} is not as its trail tells`);
  const entry = entries.find((each) => !isEntryAsTold(each, digests));
  if (entry) throw damaged(number, `${entry.kind} ${entry.id} is not as its trail tells`);
}

/** Requires that jobs and checkpoints are those of this run, and that a definition is the one its name says. */
function requireOwnRows({ run, jobs, entries }: RunLine, number: number) {
  if (jobs.some(({ runId }) => runId !== run.id)) throw damaged(number, `a job of ${run.id} belongs to another run`);
  for (const { kind, id, body } of entries) {
    if (kind === "checkpoint" && id !== run.id)
      throw damaged(number, `a checkpoint of ${run.id} belongs to another run`);
    if (kind !== "definition") continue;
    const { definition } = body;
    const isOwn = typeof definition === "object" && definition !== null && hashDefinition({ ...definition }) === id;
    if (!isOwn) throw damaged(number, `the definition ${id} is not the one that its hash names`);
  }
}

/** The text of a run that was only written once does not have its number yet. */
function isRunAsTold({ run, isWithoutSecret }: RunLine, digests: ReadonlyMap<string, string>) {
  if (isWithoutSecret) return true;
  const told = digests.get(RUN_ROW);
  return [run, inOrderOfNewRun(run)]
    .flatMap((each) => [each, { ...each, number: 0 }])
    .some((each) => digestOf(JSON.stringify(each)) === told);
}

/** Earlier builds wrote two fields of a run first, wherever its text has them. */
function inOrderOfNewRun({ starts, isContinued, ...rest }: Run): object {
  const fields = Object.entries(rest);
  const at = fields.findIndex(([field]) => field === "owes");
  return Object.fromEntries([...fields.slice(0, at), ...Object.entries({ starts, isContinued }), ...fields.slice(at)]);
}

/** A message is named after its token. How far it has come is not told, and neither is what an agent has used. */
function isEntryAsTold(entry: RunLine["entries"][number], digests: ReadonlyMap<string, string>) {
  const { kind, id, parent = null, body } = entry;
  if (kind === "delivery") return typeof body["token"] === "string" && deliveryId(body["token"]) === id;
  // The first checkpoint of a branch, and a definition, may be told of in the trail of another run.
  const told = digests.get(entryRow({ kind, id }));
  return told === undefined || identityOf(told) === identityOf(entryDigest({ parent, body: JSON.stringify(body) }, 0));
}

/** The part of a digest that says what a row is; before it stands its version, or when a job was first due. */
function identityOf(digest: string | undefined) {
  return digest?.split(" ")[1];
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // refused by the caller
  }
}

function damaged(number: number, why: string, cause?: unknown) {
  return new Refusal("bad_input", `The export is damaged: line ${number}: ${why}; nothing was imported`, {
    hint: "Export again, or use an older copy",
    cause,
  });
}
