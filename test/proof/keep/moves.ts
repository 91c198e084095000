import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { engineOn } from "../../../src/app.ts";
import type { QuestionId } from "../../../src/core/id.ts";
import { type ExportLine, type RunLine, parseExportLine } from "../../../src/core/trail/export.ts";
import { requiredQuestionJobs } from "../../../src/core/trail/required-job.ts";
import { Refusal } from "../../../src/core/refusal.ts";
import { verify } from "../../../src/engine/trail/verify.ts";
import { ADA } from "../../builders.ts";
import { ROOMY, said } from "../../scene.ts";
import { type Place, openStore, withPlace } from "../place.ts";
import { buildProgram, killHard } from "../program.ts";
import { mustAskd } from "./askd.ts";
import { fillWithEveryState, untilTimedOut } from "./every-state.ts";

const WRITERS = 2;
const LENA = { ...ADA, id: "lena" };

export interface Moved {
  hops: number;
  /** Acknowledged asks and answers, all of which must arrive. */
  acknowledged: number;
  /** Pending questions in exports that were made while others wrote; each must have its timer. */
  pendingInExports: number;
  compared: number;
  /** Runs of exports made while others wrote, which were imported elsewhere and are whole there. */
  importedBusy: number;
  answered: number;
  problems: string[];
}

interface MoveOptions {
  turns: number;
  hops?: number;
  /** The hops whose exports made under writes are imported too. */
  busyHops?: readonly number[];
}

/** Moves a store with every state through SQLite, PostgreSQL, SQLite and PostgreSQL, each time under writes. */
export async function moveAround({ turns, hops = 3, busyHops = [1, 2, 3] }: MoveOptions): Promise<Moved> {
  const home = mkdtempSync(join(tmpdir(), "askd-keep-"));
  try {
    return await withPlace("sqlite", (first) =>
      withPlace("postgres", (second) =>
        withPlace("sqlite", (third) =>
          withPlace("postgres", (fourth) => {
            const places = [first, second, third, fourth];
            return new Mover(home, turns, busyHops).run(places.slice(0, hops + 1));
          }),
        ),
      ),
    );
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

class Mover {
  readonly #home: string;
  readonly #turns: number;
  readonly #busyHops: readonly number[];
  readonly #asked = new Set<string>();
  readonly #answered = new Set<string>();
  readonly #moved: Moved = {
    hops: 0,
    acknowledged: 0,
    pendingInExports: 0,
    compared: 0,
    importedBusy: 0,
    answered: 0,
    problems: [],
  };

  constructor(home: string, turns: number, busyHops: readonly number[]) {
    this.#home = home;
    this.#turns = turns;
    this.#busyHops = busyHops;
  }

  async run(places: readonly Place[]): Promise<Moved> {
    const [first] = places;
    const last = places.at(-1);
    if (!first || !last) throw new Error("there is nowhere to move");
    const filled = await openStore(first);
    const short = await fillWithEveryState(filled);
    await filled.close();
    for (const [index, to] of places.slice(1).entries()) {
      const from = places[index];
      if (from) await this.#move(from, to);
    }
    await this.#goOn(last, short);
    this.#moved.acknowledged = this.#asked.size + this.#answered.size;
    return this.#moved;
  }

  async #move(from: Place, to: Place) {
    this.#moved.hops += 1;
    const name = (what: string) => join(this.#home, `${what}-${this.#moved.hops}.ndjson`);
    const options = { home: this.#home, place: from };
    await this.#write(from, () => mustAskd(["export", "--with-secrets", "-o", name("busy")], options));
    const busy = readLines(name("busy"));
    this.#checkTimers(busy);
    if (this.#busyHops.includes(this.#moved.hops))
      await withPlace(to.database, (aside) => this.#takeBusy(name("busy"), busy, aside));
    await mustAskd(["export", "--with-secrets", "-o", name("still")], options);
    await mustAskd(["import", name("still")], { home: this.#home, place: to });
    await mustAskd(["export", "--with-secrets", "-o", name("moved")], { home: this.#home, place: to });
    this.#compare(readLines(name("still")), readLines(name("moved")));
    const store = await openStore(to);
    this.#moved.problems.push(...(await verify(store)).problems.map((problem) => `${to.database}: ${problem}`));
    await store.close();
  }

  /** An export that was made while others wrote is whole too: it is imported, exported again and compared. */
  async #takeBusy(file: string, lines: readonly ExportLine[], aside: Place) {
    const options = { home: this.#home, place: aside };
    await mustAskd(["import", file], options);
    await mustAskd(["export", "--with-secrets", "-o", `${file}.again`], options);
    this.#compare(lines, readLines(`${file}.again`));
    const store = await openStore(aside);
    const { runs, problems } = await verify(store);
    await store.close();
    const expected = runsIn(lines).length;
    if (runs !== expected) this.#moved.problems.push(`${runs} of ${expected} runs of a busy export were imported`);
    this.#moved.problems.push(...problems.map((problem) => `a busy export in ${aside.database}: ${problem}`));
    this.#moved.importedBusy += runs;
  }

  /** Does something while processes ask and answer, which are killed then. */
  async #write(place: Place, act: () => Promise<unknown>) {
    const program = await buildProgram("test/proof/keep/writer.ts");
    const writers = Array.from({ length: WRITERS }, () =>
      program.start([JSON.stringify(place)], ["ignore", "pipe", "inherit"]),
    );
    try {
      let heard = 0;
      await new Promise<void>((resolve, reject) => {
        for (const writer of writers) {
          writer.once("exit", () => reject(new Error("a writer ended")));
          if (!writer.stdout) continue;
          createInterface({ input: writer.stdout }).on("line", (line) => {
            const [did, id = ""] = line.split(" ");
            (did === "asked" ? this.#asked : this.#answered).add(id);
            heard += 1;
            if (heard === this.#turns) resolve();
          });
        }
      });
      await act();
    } finally {
      for (const writer of writers) {
        writer.removeAllListeners("exit");
        await killHard(writer);
      }
      program.remove();
    }
  }

  /** Every pending question of an export has its timer. */
  #checkTimers(lines: readonly ExportLine[]) {
    for (const { run, questions, jobs } of runsIn(lines)) {
      const keys = new Set(jobs.map(({ key }) => key));
      for (const question of questions) {
        if (question.status !== "pending") continue;
        this.#moved.pendingInExports += 1;
        const missing = requiredQuestionJobs(question, run).filter((key) => !keys.has(key));
        if (missing.length > 0) this.#moved.problems.push(`${question.id} was exported without ${missing.join()}`);
      }
    }
  }

  /** Field by field: everything but what an import makes anew. */
  #compare(before: readonly ExportLine[], after: readonly ExportLine[]) {
    const [one, other] = [before, after].map((lines) => lines.slice(1, -1).map(withoutImport));
    one?.forEach((line, index) => {
      this.#moved.compared += 1;
      if (line !== other?.[index]) this.#moved.problems.push(`line ${index + 2} differs: ${line.slice(0, 200)}`);
    });
    if (one?.length !== other?.length) this.#moved.problems.push(`${one?.length} lines became ${other?.length}`);
  }

  /** Nothing acknowledged is missing; what is pending can be answered, and what is due falls due. */
  async #goOn(place: Place, short: QuestionId) {
    const store = await openStore(place);
    const engine = engineOn(store, { rules: ROOMY });
    for (const id of this.#asked) {
      const question = await store.findQuestion(id as QuestionId);
      if (!question) this.#moved.problems.push(`${id} was asked, and is lost`);
      else if (this.#answered.has(id) && question.status !== "answered")
        this.#moved.problems.push(`${id} was answered, and is ${question.status}`);
    }
    await untilTimedOut(engine, short);
    const pending = await engine.listQuestions({ status: "pending", order: "oldest", limit: 100_000 });
    for (const { id } of pending) {
      for (const by of [ADA, LENA]) await engine.answer(id, said("1"), by).catch(ignoreRefusal);
      const { question } = await engine.read(id);
      const isDone = question.status !== "pending" || question.settling !== undefined;
      if (isDone) this.#moved.answered += 1;
      else this.#moved.problems.push(`${id} (${question.title}) could not be answered`);
    }
    this.#moved.problems.push(...(await verify(store)).problems.map((problem) => `in the end: ${problem}`));
    await engine.stop();
  }
}

/** A question that is settling or was answered by the first refuses the second. */
function ignoreRefusal(error: unknown) {
  if (!(error instanceof Refusal)) throw error;
}

function readLines(file: string): ExportLine[] {
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((text, index) => parseExportLine(text, index + 1));
}

function runsIn(lines: readonly ExportLine[]): RunLine[] {
  return lines.filter((line) => line.kind === "run");
}

/** A line without what an import makes anew: versions of people, the mark of a run that waits for approval, its event. */
function withoutImport(line: ExportLine): string {
  if (line.kind === "person") return JSON.stringify({ ...line, person: { ...line.person, version: 0 } });
  if (line.kind !== "run") return JSON.stringify(line);
  const { head: _head, events, run, ...rest } = line;
  const { workflow, ...own } = run;
  const { isImported: _isImported, ...ref } = workflow ?? {};
  const kept = events.filter((body) => !body.startsWith('{"type":"run.imported"'));
  return JSON.stringify({ ...rest, run: { ...own, workflow: ref }, events: kept });
}
