import type { Entry } from "../../core/changes.ts";
import type { Content } from "../../core/question/content.ts";
import { EXPORT_FORMAT, type ExportLine, type RunLine, withoutCallbackSecret } from "../../core/trail/export.ts";
import type { RunId } from "../../core/id.ts";
import type { Instant } from "../../core/instant.ts";
import type { Job } from "../../core/run/job.ts";
import { parsePerson } from "../../core/people/person.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Run } from "../../core/run/run.ts";
import { parseTemplate } from "../../core/answer/template.ts";
import type { Store } from "../../store/store.ts";
import { allQuestions } from "../runs.ts";

const PAGE = 200;
const MOST_JOBS = 1_000_000;
const TRIES = 20;

export interface ExportQuery {
  /** The askd that exports. */
  version: string;
  /** Only runs that were made at that time or later. */
  since?: Instant;
  /** Only this run, without people and templates. */
  runId?: RunId;
  /** Also what signs callbacks. Tokens are never exported. */
  hasSecrets: boolean;
}

/** Everything in a store, line by line; each run is read as it was at one moment. */
export async function* exportLines(store: Store, query: ExportQuery): AsyncGenerator<ExportLine> {
  yield { kind: "askd.export", format: EXPORT_FORMAT, at: await store.now(), version: query.version };
  if (query.runId === undefined) {
    for (const entry of await store.listEntries("person")) yield { kind: "person", person: parsePerson(entry) };
    for (const entry of await store.listEntries("template")) yield { kind: "template", template: parseTemplate(entry) };
  }
  const jobs = await jobsByRun(store);
  const counts = { runs: 0, questions: 0, events: 0 };
  for await (const id of runIds(store, query)) {
    const line = await readRun(store, id, jobs.get(id) ?? []);
    counts.runs += 1;
    counts.questions += line.questions.length;
    counts.events += line.events.length;
    yield query.hasSecrets ? line : { ...line, run: withoutCallbackSecret(line.run) };
  }
  yield { kind: "end", ...counts };
}

async function* runIds(store: Store, { since, runId }: ExportQuery): AsyncGenerator<RunId> {
  if (runId !== undefined) {
    yield runId;
    return;
  }
  let after: RunId | undefined;
  for (;;) {
    const page = await store.listRuns({ order: "oldest", limit: PAGE, ...(after && { after }) });
    for (const run of page) if (since === undefined || run.createdAt >= since) yield run.id;
    after = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}

async function jobsByRun(store: Store) {
  const jobs = new Map<string, Job[]>();
  for (const { attempt: _attempt, leaseUntil: _leaseUntil, ...job } of await store.listJobs(MOST_JOBS)) {
    if (job.runId !== undefined) jobs.set(job.runId, [...(jobs.get(job.runId) ?? []), job]);
  }
  return jobs;
}

/** Reads again when somebody changed the run meanwhile. */
async function readRun(store: Store, id: RunId, jobs: Job[]) {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await store.findRun(id);
    if (!before) throw new Refusal("not_found", `There is no run ${id}`);
    const line = await readParts(store, before, jobs);
    const after = await store.readChain(id);
    const now = await store.findRun(id);
    if (now?.version === before.version && after.head.hash === line.head.hash) return line;
  }
  throw new Refusal("moved", `Run ${id} changed again and again while it was read`, { hint: "Try again" });
}

async function readParts(store: Store, run: Run, jobs: Job[]): Promise<RunLine> {
  const questions = await allQuestions(store, run.id);
  const chain = await store.readChain(run.id);
  const contents = new Map<string, Content>();
  for (const { content: hash } of questions) {
    const content = contents.has(hash) ? undefined : await store.findContent(hash);
    if (content) contents.set(hash, content);
  }
  const told = questions.filter((question) => question.deliveries !== undefined);
  const deliveries = await Promise.all(told.map(({ id }) => store.listEntries("delivery", id)));
  const usage = await store.findEntry("usage", run.id);
  return {
    kind: "run",
    run,
    questions,
    jobs,
    head: chain.head,
    contents: [...contents].map(([hash, content]) => ({ hash, content })),
    events: chain.events.map(({ body }) => body),
    entries: [...deliveries.flat(), ...(usage ? [usage] : [])].map(keptEntry),
  };
}

function keptEntry({ kind, id, parent, body }: Entry): RunLine["entries"][number] {
  if (kind !== "usage" && kind !== "delivery") throw new Error(`a ${kind} belongs to no run`);
  return { kind, id, parent, body };
}
