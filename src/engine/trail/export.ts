import { STORE_CHAIN, type RunId } from "../../core/id.ts";
import type { Instant } from "../../core/instant.ts";
import { EXPORT_FORMAT, type ExportEnd, type ExportLine, withoutCallbackSecret } from "../../core/trail/export.ts";
import { ExportSigner } from "../../core/trail/export-signature.ts";
import { parsePerson } from "../../core/people/person.ts";
import { Refusal } from "../../core/refusal.ts";
import { parseTemplate } from "../../core/answer/template.ts";
import { type StoredPage, pageName } from "../../store/archive.ts";
import { parseEntry } from "../../store/row.ts";
import type { StoredEntry, StoredQuestion, StoredRun, StoreSnapshot } from "../../store/snapshot.ts";
import type { Store } from "../../store/store.ts";
import { ExportedRunReader, tryToRead } from "./export-run.ts";
import { RowStream } from "./row-stream.ts";
import type { StoreKey } from "./store-key.ts";

const PAGE = 200;

export interface ExportQuery {
  /** The askd that exports. */
  version: string;
  /** Only runs that were made at that time or later. */
  since?: Instant | undefined;
  /** Only this run, without people and templates. */
  runId?: RunId | undefined;
  /** Also what signs callbacks. Tokens are never exported. */
  hasSecrets: boolean;
  /** Signs the export; without it nobody can tell where it comes from. */
  key?: StoreKey | undefined;
}

/** Takes one line after the other, each as the text that is signed. */
type WriteLine = (text: string, line: ExportLine) => Promise<void>;

/** Exports everything in a store, line by line, as it was at one moment; others may write meanwhile. */
export async function exportStore(store: Store, query: ExportQuery, write: WriteLine): Promise<ExportEnd> {
  const at = await store.now();
  return store.readSnapshot((snapshot) => new Exporter(snapshot, query, write).run(at));
}

class Exporter {
  readonly #snapshot: StoreSnapshot;
  readonly #query: ExportQuery;
  readonly #write: WriteLine;
  readonly #signer = new ExportSigner();

  constructor(snapshot: StoreSnapshot, query: ExportQuery, write: WriteLine) {
    this.#snapshot = snapshot;
    this.#query = query;
    this.#write = write;
  }

  async run(at: Instant): Promise<ExportEnd> {
    const { version, runId, hasSecrets, key } = this.#query;
    await this.#put({ kind: "askd.export", format: EXPORT_FORMAT, at, version });
    if (runId === undefined) await this.#putEntries();
    const counts = { runs: 0, questions: 0, events: 0 };
    let damaged = 0;
    const reader = await ExportedRunReader.open(this.#snapshot);
    for await (const { run, questions } of this.#listRuns()) {
      const line = await reader.read(run, questions);
      if (line.kind === "damaged") damaged += 1;
      else {
        counts.runs += 1;
        counts.questions += line.questions.length;
        counts.events += line.events.length;
      }
      await this.#put(line.kind === "damaged" || hasSecrets ? line : withoutCallbackSecret(line));
    }
    for (const page of this.#snapshot.listDamagedPages()) await this.#put(damagedPage(page));
    const end: ExportEnd = { kind: "end", ...counts, ...(damaged > 0 && { damaged }), ...(key && { key: key.name }) };
    const signed: ExportEnd = key ? { ...end, signature: key.sign(this.#signer.digestWith(end)) } : end;
    await this.#put(signed);
    return signed;
  }

  async #putEntries() {
    for await (const entry of this.#listEntries("person")) {
      const person = tryToRead(() => parsePerson(parseEntry(entry)));
      await this.#put(person ? { kind: "person", person } : damagedEntry(entry));
    }
    for await (const entry of this.#listEntries("template")) {
      const template = tryToRead(() => parseTemplate(parseEntry(entry)));
      await this.#put(template ? { kind: "template", template } : damagedEntry(entry));
    }
    for await (const entry of this.#listEntries("quarantine")) {
      const read = tryToRead(() => parseEntry(entry));
      if (read) await this.#put({ kind: "quarantine", id: read.id, body: read.body });
    }
  }

  async *#listEntries(kind: StoredEntry["kind"]): AsyncGenerator<StoredEntry> {
    for (let after = ""; ;) {
      const page = await this.#snapshot.listEntries(kind, after, PAGE);
      yield* page;
      after = page.at(-1)?.id ?? "";
      if (page.length < PAGE) return;
    }
  }

  /** The runs that are asked for, each with its questions. */
  async *#listRuns(): AsyncGenerator<{ run: StoredRun; questions: StoredQuestion[] }> {
    const { runId } = this.#query;
    const from = runId === undefined ? undefined : { runId, key: "" };
    const questions = new RowStream<StoredQuestion>((after) => this.#snapshot.listQuestions(after ?? from, PAGE));
    const runs = new RowStream<StoredRun>((after) => this.#readRuns(after));
    for (let run = await runs.peek(); run !== undefined; run = await runs.peek()) {
      runs.take();
      const own: StoredQuestion[] = [];
      for await (const question of questions.takeUpTo(run.id, (each) => each.runId)) {
        if (question.runId === run.id) own.push(question);
      }
      if (run.id !== STORE_CHAIN && this.#isWanted(run)) yield { run, questions: own };
    }
  }

  async #readRuns(after: StoredRun | undefined): Promise<StoredRun[]> {
    const { runId } = this.#query;
    if (runId === undefined) return this.#snapshot.listRuns(after?.id ?? "", PAGE);
    if (after) return [];
    const found = await this.#snapshot.readRuns([runId]);
    if (found.length === 0) throw new Refusal("not_found", `There is no run ${runId}`);
    return found;
  }

  /** A run whose time cannot be read is always exported. */
  #isWanted({ body }: StoredRun) {
    const { since } = this.#query;
    if (since === undefined) return true;
    const createdAt = tryToRead(() => (JSON.parse(body) as { createdAt?: string } | null)?.createdAt);
    return createdAt === undefined || createdAt >= since;
  }

  async #put(line: ExportLine) {
    const text = JSON.stringify(line);
    this.#signer.add(text);
    await this.#write(text, line);
  }
}

function damagedEntry({ kind, id, body }: StoredEntry): ExportLine {
  const name = `${kind} ${id}`;
  return { kind: "damaged", id: name, rows: [{ table: "entry", id: name, body }], unreadable: [name] };
}

function damagedPage({ page, body }: StoredPage): ExportLine {
  const name = pageName(page);
  const text = Buffer.from(body).toString("base64");
  return { kind: "damaged", id: name, rows: [{ table: "archive", id: String(page), body: text }], unreadable: [name] };
}
