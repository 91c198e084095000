import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureMachineId } from "../../src/agents/runner/machine-id.ts";
import { type Actor, SYSTEM } from "../../src/core/people/actor.ts";
import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import { isVisibleLine } from "../../src/core/text/foreign-text.ts";
import type { Question } from "../../src/core/question/question.ts";
import type { Run } from "../../src/core/run/run.ts";
import type { WebStage } from "./stage.ts";
import { ask } from "./states.ts";

const MOST_NAME_BYTES = 190;
const MOST_PERSON_CHARS = 190;
const MOST_OPTIONS = 48;
const MOST_PEOPLE = 190;
const MOST_QUESTION_BYTES = 15_000;
const AGENT: Actor = { scope: "agent", id: "claude", channel: "mcp", strength: "none" };

/** Texts in parts of so many. */
export function inParts<Value>(values: readonly Value[], size: number): Value[][] {
  const parts: Value[][] = [];
  for (let first = 0; first < values.length; first += size) parts.push(values.slice(first, first + size));
  return parts;
}

/** As many of these as there is room for, on one line. */
export function fit(texts: readonly string[], most: number): string {
  let joined = "x";
  for (const text of texts) {
    if (Buffer.byteLength(joined) + Buffer.byteLength(text) < most) joined += ` ${text}`;
  }
  return joined.replaceAll("\n", " ");
}

/** As many of these as fit into a name, which takes one visible line only. */
function fitName(texts: readonly string[], most: number): string {
  return fit(visibleOf(texts, most), most);
}

function visibleOf(texts: readonly string[], most: number): string[] {
  return texts.filter((text) => text.trim() !== "" && isVisibleLine(text, most));
}

/** Somebody who is called what the texts say, and comes by what they say. */
function personOf(texts: readonly string[]): Actor {
  const channel = fit(texts, 60);
  return { scope: "human", id: fitName(texts, MOST_PERSON_CHARS), channel, strength: "local" };
}

/** One question that has hundreds of texts in everything that is long: what is asked, why, the options, remarks. */
export async function plantWide(stage: WebStage, texts: readonly string[], over: object = {}): Promise<Question> {
  const engine = await stage.engine();
  const items = inParts(texts, MOST_OPTIONS).map((part, index) => ({
    id: `item${index}`,
    text: fit(part, MOST_QUESTION_BYTES),
    header: part[0]?.slice(0, 25) ?? "",
    placeholder: part.join(" "),
    options: part.map((text, place) => ({
      label: `${place} ${text}`,
      value: `${text} ${place}`,
      description: text,
      preview: text,
    })),
  }));
  const [first, ...rest] = items;
  const typed = { id: "typed", text: "Typed", schema: schemaOf(texts.slice(0, 15)) };
  const question = await ask(
    stage,
    { items: [...(first ? [first] : []), ...rest, typed], context: texts.join("\n\n"), timeout: "1h", ...over },
    namesOf(texts),
  );
  for (const part of inParts(texts, 200)) await engine.comment(question.id, part.join(" "), personOf(part));
  return question;
}

/** Fields of a typed answer that are called what the texts say. */
function schemaOf(texts: readonly string[]): object {
  const fields = texts.map((text, index) => [
    `field${index}`,
    { type: "string", title: text, description: text, enum: [text, `${text} again`] },
  ]);
  return { type: "object", properties: Object.fromEntries(fields) };
}

function namesOf(texts: readonly string[]) {
  const name = (from: number): string => fitName(texts.slice(from), MOST_NAME_BYTES);
  return {
    name: name(0),
    repo: name(0),
    branch: name(0),
    agent: name(0),
    labels: visibleOf(texts, MOST_NAME_BYTES).slice(0, 20),
    host: name(0),
  };
}

/** An answer, a note and a correction in these words, by somebody who is called like that. */
export async function answerWith(stage: WebStage, { id }: Question, texts: readonly string[]): Promise<void> {
  const engine = await stage.engine();
  const all = texts.join(" ");
  const { content } = await engine.read(id);
  const items = Object.fromEntries(
    content.items.map((item) => [
      item.id,
      { values: [], text: item.schema ? JSON.stringify({}) : all.slice(0, 60_000) },
    ]),
  );
  await engine.answer(id, AnswerInput.parse({ items, note: all, undoMs: 0 }), personOf(texts));
  await engine.amend(id, all, personOf(texts));
}

/** A question of a dozen texts in everything that is short, as lists show it: titles, names, whom it is for. */
export async function plantNarrow(stage: WebStage, texts: readonly string[]): Promise<Question> {
  const engine = await stage.engine();
  const raw = {
    question: `${texts.join(" ").replaceAll("\n", " ")}?`,
    options: texts.slice(0, 3).map((text, place) => `${place} ${text}`),
    timeout: "2h",
  };
  const question = await ask(stage, raw, { ...namesOf(texts), externalId: fitName(texts, MOST_PERSON_CHARS) });
  const by = personOf(texts);
  await engine.assign(question.id, ["x", ...visibleOf(texts, MOST_NAME_BYTES).slice(0, 5)], by);
  await engine.claim(question.id, by);
  return question;
}

/** A run that ended as the texts say. */
export async function plantEnded(stage: WebStage, texts: readonly string[]): Promise<Run> {
  const engine = await stage.engine();
  const run = await engine.createRun(
    { ...namesOf(texts), giveBack: "poll", session: fit(texts, MOST_NAME_BYTES) },
    AGENT,
  );
  await engine.startRun(run.id, AGENT);
  const all = texts.join(" ");
  return engine.endRun(
    run.id,
    { status: "failed", reason: all, summary: all, details: all, issues: [...texts] },
    personOf(texts),
  );
}

/** A run whose files, and the names of whose files, are the texts. */
export async function plantWork(stage: WebStage, texts: readonly string[]): Promise<Run> {
  const dir = join(stage.home, `work-${texts.length}`);
  mkdirSync(dir, { recursive: true });
  const git = (...args: string[]): void => {
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", "-C", dir, ...args]);
  };
  git("init", "-q");
  const names = texts.map((text) => text.replace(/[/\n\0]/g, "_").slice(0, 60)).filter((name) => !/^\.*$/.test(name));
  const tracked = [...new Set(names)].slice(0, 60);
  for (const name of tracked) writeFileSync(join(dir, name), "before\n");
  git("add", "-A");
  git("commit", "-qm", "before");
  for (const name of tracked) writeFileSync(join(dir, name), `${texts.join("\n").slice(0, 900)}\n`);
  writeFileSync(join(dir, tracked[0] ?? "x"), `${texts.join("\n").slice(0, 55_000)}\n`);
  for (const name of [...new Set(names)].slice(60, 150)) writeFileSync(join(dir, name), "new\n");
  const engine = await stage.engine();
  const host = ensureMachineId(join(stage.home, "state"));
  const run = await engine.createRun({ name: "work", agent: "claude", dir, host, giveBack: "poll" }, AGENT);
  return engine.startRun(run.id, AGENT);
}

/** A run whose log has a line for every text. */
export async function plantLog(stage: WebStage, texts: readonly string[]): Promise<Run> {
  const file = join(stage.home, "lines");
  writeFileSync(file, `${texts.map((text) => text.replaceAll("\n", " ")).join("\n")}\n`);
  await stage.type("run", "--name", "printing", "--", "cat", file);
  const engine = await stage.engine();
  return stage.until("the run is done", async () => {
    const [run] = (await engine.lookUp({ by: "name", text: "printing" }, 1)).runs;
    return run?.status === "completed" ? run : undefined;
  });
}

/** People and tokens that are called what the texts say, as many as a page shows. */
export async function plantPeople(stage: WebStage, texts: readonly string[]): Promise<void> {
  const engine = await stage.engine();
  for (const [index, part] of inParts(texts, Math.ceil(texts.length / MOST_PEOPLE)).entries()) {
    const own = (text: string): string => `${text} ${index}`; // no two people have one address
    const long = { name: fitName(part, 200), email: own(fitName(part.toReversed(), 290)) };
    const short = { slack: own(fitName(part, 50)), github: own(fitName(part.toReversed(), 50)) };
    const groups = visibleOf(
      part.map((text) => text.slice(0, 60)),
      60,
    );
    await engine.putPerson({ id: `p${index}`, version: 0, ...long, ...short, groups }, SYSTEM);
    await engine.issueToken({ scope: "agent", subject: fitName(part, MOST_PERSON_CHARS) }, SYSTEM);
  }
}

/** Templates that say and choose these texts; comes back with their names. */
export async function plantTemplates(stage: WebStage, texts: readonly string[]): Promise<string[]> {
  const engine = await stage.engine();
  const parts = inParts(texts, MOST_OPTIONS);
  for (const [index, part] of parts.entries()) {
    const plain = part.map((text) => text.replace(/\{(?=\{)/g, "{ "));
    const match = { repo: fit(part, 190), label: fit(part, 190) };
    await engine.putTemplate({ name: `t${index}`, text: plain.join(" "), choose: plain, match }, personOf(part));
  }
  return parts.map((_, index) => `t${index}`);
}
