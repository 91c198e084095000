import { deliveryId } from "../../core/channel/delivery/delivery.ts";
import type { DeliveryRef } from "../../core/channel/delivery/delivery-ref.ts";
import { isTimer } from "../../core/question/question-timer.ts";
import type { TrailMismatch } from "../../core/trail/trail-mismatch.ts";
import { DAY_MS, HOUR_MS, type Instant, later } from "../../core/instant.ts";
import { Job, jobKey } from "../../core/run/job.ts";
import { digestOf, entryDigest, isPinnedKind, jobDigest } from "../../core/trail/row-digest.ts";
import { nextToldTry } from "../../core/trail/refused-try.ts";
import { type ToldMessage, isAsFarAsTold } from "../../core/trail/told-message.ts";
import type { CopiedColumns, StoredEntry, StoredJob, StoreSnapshot } from "../../store/snapshot.ts";

/** More flaws than anybody reads; a store in which everything differs would fill the memory. */
const MOST_FLAWS = 1_000;
const AT_ONCE = 500;
const PAGE = 500;
/** No job that failed waits longer than that for its next try. */
const LONGEST_RETRY_MS = 2 * DAY_MS;
const LONGEST_CLOCK_RETRY_MS = 2 * HOUR_MS;
/** The job that seals belongs to no run. */
const SEAL_KEY = "seal";
const SEAL_FIELDS: ReadonlySet<string> = new Set(["key", "kind", "dueAt", "tries", "failure"]);

/** Entries that are compared with what events say of them. */
const COMPARED_KINDS: ReadonlySet<string> = new Set(["delivery", "refused"]);

interface ExpectedEntry {
  kind: string;
  id: string;
  digest: string;
}

interface ExpectedDelivery extends DeliveryRef {
  parent: string;
  /** The fate of messages in its channel for its recipient, as the trail tells it. */
  told: readonly ToldMessage[];
  /** It is the only one of them. */
  isOnly: boolean;
}

/** Compares rows that are named in chains with what is kept, many at a time; then finds those that no chain names. */
export class RowCheck {
  readonly #snapshot: StoreSnapshot;
  readonly #flaws: MismatchList;
  readonly #now: Instant;
  readonly #contents = new Map<string, string>();
  readonly #jobs = new Map<string, { digest: string | undefined; isRequired: boolean }>();
  readonly #entries: ExpectedEntry[] = [];
  readonly #deliveries: ExpectedDelivery[] = [];
  /** How many refused tries on a question its trail told of last. */
  readonly #refused = new Map<string, number>();
  /** Entries that are newer than a chain says; another chain has to tell of that. */
  readonly #newer = new Set<string>();
  readonly #matched = new Set<string>();
  /** Jobs are work that is left, so there are few of them. */
  readonly #knownJobs = new Set<string>();
  readonly #knownEntries = new Map<string, number>();
  #knownContents = 0;

  constructor(snapshot: StoreSnapshot, { flaws, now }: { flaws: MismatchList; now: Instant }) {
    this.#snapshot = snapshot;
    this.#flaws = flaws;
    this.#now = now;
  }

  /** Expects the rows that a chain names, and the jobs that its state requires. */
  async expect(digests: ReadonlyMap<string, string>, required: ReadonlySet<string>): Promise<void> {
    for (const [row, digest] of digests) {
      const [table, name] = splitName(row);
      if (table === "content") this.#contents.set(name, digest);
      if (table === "job") this.#jobs.set(name, { digest, isRequired: required.has(name) });
      if (table === "entry") {
        const [kind, id] = splitName(name);
        this.#entries.push({ kind, id, digest });
      }
    }
    for (const key of required) if (!this.#jobs.has(key)) this.#jobs.set(key, { digest: undefined, isRequired: true });
    const waiting = this.#contents.size + this.#jobs.size + this.#entries.length + this.#deliveries.length;
    if (waiting + this.#refused.size >= AT_ONCE) await this.#flush();
  }

  /** Expects the messages of a question or run, each with its recipient and channel, and as far as events say. */
  expectDeliveries(
    { id, deliveries = [] }: { id: string; deliveries?: readonly DeliveryRef[] | undefined },
    told: readonly ToldMessage[] = [],
  ): void {
    for (const delivery of deliveries) {
      const isLike = (each: Pick<DeliveryRef, "channel" | "person">) =>
        each.channel === delivery.channel && each.person === delivery.person;
      const isOnly = deliveries.filter(isLike).length === 1;
      this.#deliveries.push({ ...delivery, parent: id, told: told.filter(isLike), isOnly });
    }
  }

  /** Expects how often a question was tried in vain: the trail told of this try, and not yet of the next one. */
  expectRefused(id: string, tries: number): void {
    this.#refused.set(id, tries);
  }

  /** Compares what is left, and reports rows that no chain names. */
  async finish(): Promise<void> {
    await this.#flush();
    const counts = await this.#snapshot.countRows();
    if (counts.contents > this.#knownContents) {
      this.#flaws.add({ is: "rows_unknown", rows: "texts", count: counts.contents - this.#knownContents });
    }
    for (const [kind, count] of counts.entries) {
      const unknown = count - (this.#knownEntries.get(kind) ?? 0);
      if ((isPinnedKind(kind) || COMPARED_KINDS.has(kind)) && unknown > 0)
        this.#flaws.add({ is: "rows_unknown", rows: kind, count: unknown });
    }
    for (const row of this.#newer) if (!this.#matched.has(row)) this.#flaws.add({ is: "row_changed", row });
    for (let after = ""; ;) {
      const page = await this.#snapshot.listJobs(after, PAGE);
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.key;
      for (const job of page) if (!this.#knownJobs.has(job.key)) this.#flaws.add(...this.#checkUnknownJob(job));
    }
  }

  async #flush() {
    await this.#checkContents();
    await this.#checkJobs();
    await this.#checkEntries();
    await this.#checkDeliveries();
    await this.#checkRefused();
  }

  async #checkContents() {
    const found = await this.#snapshot.readContents([...this.#contents.keys()]);
    for (const [name, digest] of this.#contents) {
      const body = found.get(name);
      const row = `text ${name}`;
      this.#knownContents += 1;
      if (body === undefined) this.#flaws.add({ is: "row_missing", row, lost: { table: "content", id: name } });
      else if (digestOf(body) !== digest) this.#flaws.add({ is: "row_changed", row });
    }
    this.#contents.clear();
  }

  async #checkJobs() {
    const found = await this.#snapshot.readJobs([...this.#jobs.keys()]);
    const byKey = new Map(found.map((job) => [job.key, job]));
    for (const [key, { digest, isRequired }] of this.#jobs) {
      const job = byKey.get(key);
      const dueAt = digest?.split(" ")[0];
      // A job that is not due yet cannot have been done; one that was due may have become unnecessary.
      const isMissing = isRequired || (dueAt !== undefined && dueAt > this.#now);
      const lost = isRequired ? ({ table: "job", id: key } as const) : undefined;
      if (job === undefined && isMissing) this.#flaws.add({ is: "row_missing", row: `job ${key}`, lost });
      if (job === undefined || digest === undefined) continue;
      this.#knownJobs.add(key);
      this.#flaws.add(...this.#checkJob(job, digest));
    }
    this.#jobs.clear();
  }

  #checkJob(row: StoredJob, digest: string): TrailMismatch[] {
    const job = readJob(row);
    const name = `job ${row.key}`;
    if (job === undefined) return [{ is: "row_changed", row: name }];
    const columns = this.#checkJobColumns(row);
    const [told = "", identity] = digest.split(" ");
    if (jobDigest(job).split(" ")[1] !== identity) return [...columns, { is: "row_changed", row: name }];
    return this.#isDueAsTold(job, told) ? columns : [...columns, { is: "job_moved", job: name, due: job.dueAt, told }];
  }

  /** A job that was due was tried, and may be tried again later; nothing else moves what time does to a question. */
  #isDueAsTold(job: Job, told: string) {
    if (job.dueAt === told) return true;
    const longestMs = isTimer(job) ? LONGEST_CLOCK_RETRY_MS : LONGEST_RETRY_MS;
    const mayHaveBeenTried = told <= this.#now || !isTimer(job);
    return mayHaveBeenTried && job.dueAt <= later(this.#now, longestMs);
  }

  #checkUnknownJob(row: StoredJob): TrailMismatch[] {
    const job = row.key === SEAL_KEY ? readJob(row) : undefined;
    const name = `job ${row.key}`;
    const isSeal = job?.kind === "seal" && Object.keys(job).every((field) => SEAL_FIELDS.has(field));
    if (!isSeal) return [{ is: "row_unknown", row: name }];
    const columns = this.#checkJobColumns(row);
    const latest = later(this.#now, LONGEST_RETRY_MS);
    return job.dueAt > latest ? [...columns, { is: "job_moved", job: name, due: job.dueAt, told: latest }] : columns;
  }

  #checkJobColumns({ key, body, columns, readyAt, leaseUntil }: StoredJob): TrailMismatch[] {
    const row = `job ${key}`;
    const flaws = checkColumns(row, body, columns);
    const isReady = readyAt === columns["dueAt"] || (leaseUntil !== null && readyAt === leaseUntil);
    return isReady ? flaws : [...flaws, { is: "column_differs", row, column: "ready_at" }];
  }

  async #checkEntries() {
    const kinds = new Map<string, ExpectedEntry[]>();
    for (const entry of this.#entries.splice(0)) kinds.set(entry.kind, [...(kinds.get(entry.kind) ?? []), entry]);
    for (const [kind, expected] of kinds) {
      const found = await this.#snapshot.readEntries(
        kind,
        expected.map(({ id }) => id),
      );
      const byId = new Map(found.map((entry) => [entry.id, entry]));
      for (const each of expected) this.#checkEntry(each, byId.get(each.id));
    }
  }

  async #checkDeliveries() {
    const expected = this.#deliveries.splice(0);
    if (expected.length === 0) return;
    const found = await this.#snapshot.readEntries(
      "delivery",
      expected.map(({ id }) => id),
    );
    const byId = new Map(found.map((entry) => [entry.id, entry]));
    await this.#checkSending(found);
    this.#knownEntries.set("delivery", (this.#knownEntries.get("delivery") ?? 0) + expected.length);
    for (const each of expected) {
      const entry = byId.get(each.id);
      const row = `delivery ${each.id}`;
      const { id, parent } = each;
      const lost = { table: "entry", kind: "delivery", id, parent } as const;
      if (entry === undefined) this.#flaws.add({ is: "row_missing", row, lost });
      else if (!isDeliveryOf(entry, each) || !isAsFarAsTold(readFields(entry.body), each.told, each.isOnly))
        this.#flaws.add({ is: "row_changed", row });
    }
  }

  /** A message that was not sent yet has the job that sends it. */
  async #checkSending(deliveries: readonly StoredEntry[]) {
    const due = deliveries.filter(({ body }) => readFields(body)?.["state"] === "due");
    const keys = due.map(({ id }) => jobKey("deliver", id));
    const found = new Set((await this.#snapshot.readJobs(keys)).map(({ key }) => key));
    const missing = keys.filter((key) => !found.has(key));
    this.#flaws.add(...missing.map((key): TrailMismatch => ({ is: "row_missing", row: `job ${key}` })));
  }

  /** A count that is gone is no flaw: the trail has the tries. */
  async #checkRefused() {
    const found = await this.#snapshot.readEntries("refused", [...this.#refused.keys()]);
    this.#knownEntries.set("refused", (this.#knownEntries.get("refused") ?? 0) + found.length);
    for (const { id, parent, body } of found) {
      const told = this.#refused.get(id) ?? 0;
      const tries = Number(readFields(body)?.["tries"]);
      const isAsTold = tries >= told && tries < nextToldTry(told) && body === JSON.stringify({ tries });
      if (!isAsTold || parent !== null) this.#flaws.add({ is: "row_changed", row: `refused ${id}` });
    }
    this.#refused.clear();
  }

  #checkEntry({ kind, id, digest }: ExpectedEntry, entry: StoredEntry | undefined) {
    const row = `${kind} ${id}`;
    if (entry === undefined) return this.#flaws.add({ is: "row_missing", row, lost: { table: "entry", kind, id } });
    const version = Number(digest.split(" ")[0]);
    // A later change is told of by another chain; if none does, the entry is left over in the end.
    if (entry.version > version) return void (isPinnedKind(kind) || this.#newer.add(row));
    if (!isPinnedKind(kind)) this.#matched.add(row);
    this.#knownEntries.set(kind, (this.#knownEntries.get(kind) ?? 0) + 1);
    if (entryDigest(entry, entry.version) !== digest) this.#flaws.add({ is: "row_changed", row });
  }
}

/** A delivery is named after its token, so a token that was changed does not fit. */
function isDeliveryOf({ parent, body }: StoredEntry, expected: ExpectedDelivery) {
  const { token, channel, person } = readFields(body) ?? {};
  const isNamed = typeof token === "string" && deliveryId(token) === expected.id;
  return isNamed && parent === expected.parent && channel === expected.channel && person === expected.person;
}

/** Columns that do not have what the text of their row says. */
export function checkColumns(row: string, body: string, columns: CopiedColumns): TrailMismatch[] {
  const fields = readFields(body);
  if (fields === undefined) return [{ is: "row_changed", row }];
  return Object.entries(columns)
    .filter(([field, value]) => (fields[field] ?? null) !== value)
    .map(([column]) => ({ is: "column_differs", row, column }));
}

/** The fields of a row that may have been changed; undefined where its text is no object. */
export function readFields(body: string): Record<string, unknown> | undefined {
  try {
    const raw: unknown = JSON.parse(body);
    return typeof raw === "object" && raw !== null ? (raw as Record<string, unknown>) : undefined; // as just looked at
  } catch {
    return undefined; // its digest is wrong, which is the flaw
  }
}

function readJob({ body }: StoredJob) {
  const fields = readFields(body);
  return Job.safeParse(fields).success ? (fields as Job) : undefined; // with the fields that only a newer askd knows
}

function splitName(name: string): [string, string] {
  const end = name.indexOf(" ");
  return [name.slice(0, end), name.slice(end + 1)];
}

/** The flaws found so far: the first of them, and how many more. */
export class MismatchList {
  readonly #flaws: TrailMismatch[] = [];
  #more = 0;

  add(...flaws: readonly TrailMismatch[]): void {
    for (const flaw of flaws) {
      if (this.#flaws.length < MOST_FLAWS) this.#flaws.push(flaw);
      else this.#more += 1;
    }
  }

  all(): readonly TrailMismatch[] {
    return this.#more === 0 ? this.#flaws : [...this.#flaws, { is: "more", count: this.#more }];
  }
}
