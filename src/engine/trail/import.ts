import type { Actor } from "../../core/people/actor.ts";
import {
  type DamagedLine,
  type ExportEnd,
  type ExportLine,
  importedRun,
  parseExportLine,
} from "../../core/trail/export.ts";
import { ExportSigner, isSignedBy } from "../../core/trail/export-signature.ts";
import { type Person, changePerson, parsePerson, requireOwnAddresses } from "../../core/people/person.ts";
import type { Entry } from "../../core/changes.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import { findNamedRun, liveRunEntry, liveRunId } from "../../core/workflow/workflow-start.ts";
import { Refusal } from "../../core/refusal.ts";
import { changeTemplate } from "../../core/answer/template.ts";
import type { Store } from "../../store/store.ts";

const MOST_NAMED = 5;

/** The result of an import. */
export interface Imported {
  runs: number;
  /** Runs that were there already, under the same ids. */
  skipped: number;
  people: number;
  templates: number;
  /** Runs and people that could not be taken because something of theirs belongs to another one here. */
  conflicts: string[];
}

/** The origin that an export states. */
export interface ExportOrigin {
  /** The key that signed it; undefined if it is not signed. */
  key: string | undefined;
}

/**
 * Reads all lines and refuses the file if anything in it is damaged or missing, if it was changed after it was signed,
 * or if another key than the expected one signed it.
 */
export async function checkExport(lines: AsyncIterable<string>, expectedKey?: string): Promise<ExportOrigin> {
  const counts = { runs: 0, questions: 0, events: 0 };
  const signer = new ExportSigner();
  let number = 0;
  let end: Extract<ExportLine, { kind: "end" }> | undefined;
  for await (const text of lines) {
    number += 1;
    if (end) throw cutOff(`line ${number} comes after its end`);
    const line = parseExportLine(text, number);
    if (line.kind === "end") end = line;
    else signer.add(text);
    if (line.kind !== "run") continue;
    counts.runs += 1;
    counts.questions += line.questions.length;
    counts.events += line.events.length;
  }
  if (number === 0)
    throw new Refusal("bad_input", "This file is empty", { hint: "Make one with: askd export -o file" });
  if (!end) throw cutOff("its end is missing");
  if (end.runs !== counts.runs || end.questions !== counts.questions || end.events !== counts.events) {
    throw cutOff("some of its lines are missing");
  }
  return requireSignature(end, signer, expectedKey);
}

function requireSignature(end: ExportEnd, signer: ExportSigner, expectedKey: string | undefined): ExportOrigin {
  const { key, signature } = end;
  if (expectedKey !== undefined && key !== expectedKey) {
    const found = key === undefined ? "is not signed" : `is signed by another key, ${key}`;
    throw new Refusal("bad_input", `The export ${found}; nothing was imported`, {
      hint: "Get the file again from where it was made, and compare the key there: askd export --key",
    });
  }
  if (key === undefined) return { key: undefined };
  if (signature === undefined || !isSignedBy(key, signer.digestWith(end), signature)) {
    throw new Refusal("bad_input", "The export was changed after it was signed; nothing was imported", {
      hint: "Get the file again from where it was made",
    });
  }
  return { key };
}

/** Writes what is not there yet, in the name of the person who imports; each run with all its rows, or not at all. */
export async function importLines(
  store: Store,
  lines: AsyncIterable<string>,
  by: Actor,
  { key }: Partial<ExportOrigin> = {},
): Promise<Imported> {
  const done: Imported = { runs: 0, skipped: 0, people: 0, templates: 0, conflicts: [] };
  let number = 0;
  for await (const text of lines) {
    const line = parseExportLine(text, (number += 1));
    if (line.kind === "run") await importRun({ store, by, key }, line, done);
    if (line.kind === "damaged") done.conflicts.push(describeDamaged(line));
    if (line.kind === "quarantine") {
      await store.commit({ entries: [{ kind: "quarantine", id: line.id, version: 0, body: line.body }] });
    }
    if (line.kind === "person") {
      const person = { ...line.person, version: 0 };
      const problem = await findAddressProblem(store, person);
      const { ok } = problem
        ? { ok: false }
        : await store.commit(changePerson(undefined, person, { now: await store.now(), by }));
      if (problem !== undefined) done.conflicts.push(`${person.id}: ${problem}`);
      done.people += Number(ok);
    }
    if (line.kind === "template") {
      const template = { ...line.template, version: 0 };
      const { ok } = await store.commit(changeTemplate(template, { now: await store.now(), by }));
      done.templates += Number(ok);
    }
  }
  return done;
}

/** Why a person of the export cannot be added beside those who are here. */
async function findAddressProblem(store: Store, person: Person) {
  const people = (await store.listEntries("person")).map(parsePerson);
  if (people.some(({ id }) => id === person.id)) return undefined; // left as it is here
  try {
    requireOwnAddresses(person, people);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

async function importRun(
  { store, by, key }: { store: Store; by: Actor; key: string | undefined },
  line: Extract<ExportLine, { kind: "run" }>,
  done: Imported,
) {
  if (await store.findRun(line.run.id)) {
    done.skipped += 1;
    return;
  }
  const known = await withoutKnownDefinitions(store, line);
  const changes = importedRun(known, { now: await store.now(), by, key });
  const committed = await store.adopt({
    ...changes,
    entries: [...(changes.entries ?? []), ...(await liveGuardOf(store, line.run))],
  });
  if (committed.ok) done.runs += 1;
  else if (committed.why === "newer_schema") {
    throw new Refusal("newer_schema", "A newer askd has taken over this store", { hint: "Update this askd" });
  } else done.conflicts.push(`${line.run.id} (${line.run.name}): its session belongs to another run here`);
}

/** The row by which an imported live run of a workflow keeps others for its issue from starting here. */
async function liveGuardOf(store: Store, { id: runId, issue, workflow, ...run }: Run): Promise<Entry[]> {
  const { repo, number } = issue ?? {};
  if (!workflow || workflow.branch || hasEnded(run) || repo === undefined || number === undefined) return [];
  const at = { name: workflow.name, repo, number, runId };
  const before = await store.findEntry("trigger", liveRunId(at));
  const known = findNamedRun(before);
  const here = known === undefined ? undefined : await store.findRun(known);
  return here && !hasEnded(here) ? [] : [liveRunEntry(before, at)];
}

function describeDamaged({ id, number, unreadable }: DamagedLine) {
  const name = number === undefined ? id : `run #${number}`;
  const rows = unreadable.slice(0, MOST_NAMED).join(", ");
  return `${name}: it could not be read where it was exported (${rows}); there, type askd doctor --fix and export again`;
}

/** Several runs have the same definition, which is kept once. */
async function withoutKnownDefinitions<Line extends Extract<ExportLine, { kind: "run" }>>(
  store: Store,
  line: Line,
): Promise<Line> {
  const ids = line.entries.flatMap(({ kind, id }) => (kind === "definition" ? id : []));
  if (ids.length === 0) return line;
  const known = new Set((await store.readEntries("definition", ids)).map(({ id }) => id));
  return { ...line, entries: line.entries.filter(({ kind, id }) => kind !== "definition" || !known.has(id)) };
}

function cutOff(why: string) {
  return new Refusal("bad_input", `The export is damaged: ${why}; nothing was imported`, {
    hint: "Export again, or use an older copy",
  });
}
