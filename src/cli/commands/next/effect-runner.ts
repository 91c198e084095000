import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { type QuestionId, shortId } from "../../../core/id.ts";
import { later } from "../../../core/instant.ts";
import { answerText } from "../../../core/answer/match.ts";
import { findAnswer, isPending } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { afterChange } from "../../after-change.ts";
import { editText, removeDraft } from "../answer/answer-edit.ts";
import { sayAnswered, hasHolderEnded } from "../answer/answer-view.ts";
import { isServiceOff, startService } from "../service/worker.ts";
import { bellFor } from "../../terminal/bell.ts";
import type { Context } from "../../context.ts";
import { machinesFor } from "../../view/machine-view.ts";
import { oneLine } from "../../view/sanitise.ts";
import { findWayOnHere } from "../run/takeover.ts";
import { sayClock } from "../../view/relative-time.ts";
import { Evidence } from "./evidence.ts";
import type { LoopStart } from "./next-loop.ts";
import type { RawTerminal } from "../../terminal/raw-terminal.ts";
import type { NextEvent } from "./reduce.ts";
import type { AnswerParts, NextEffect, NextState } from "./next-state.ts";

interface Deps extends LoopStart {
  terminal: RawTerminal;
  /** Hands the terminal to another program while `work` runs. */
  aside: <Value>(work: () => Promise<Value>) => Promise<Value>;
}

/** An effect that changes the question without answering it. */
type Change = Extract<
  NextEffect,
  { do: "claim" | "release" | "stop" } | { do: "snooze" | "extend" } | { do: "comment" }
>;

/** Runs effects and returns their results as events. */
export class EffectRunner {
  readonly #deps: Deps;
  readonly #context: Context;
  readonly #evidence: Evidence;
  /** Questions whose answer can still be undone, as they were before. */
  readonly #settling = new Map<QuestionId, QuestionSnapshot>();
  /** Text to print after the terminal is restored: one line per question, and the rest. */
  readonly #outcomes = new Map<QuestionId, string>();
  readonly #words: string[] = [];

  constructor(deps: Deps) {
    this.#deps = deps;
    const { stderr } = deps.context;
    this.#context = { ...deps.context, stderr: { ...stderr, write: (text) => void this.#words.push(text) } };
    this.#evidence = new Evidence(deps.engine, deps.context);
  }

  async do(effect: NextEffect, state: NextState): Promise<NextEvent | undefined> {
    switch (effect.do) {
      case "answer":
        return this.#answer(effect.ids, effect.answer);
      case "undo":
        return this.#undo(effect.ids);
      case "edit":
        return this.#edit(effect, state);
      case "diff":
      case "view":
        await this.#deps.aside(() => this.#evidence.show(effect.do, effect.id));
        return { type: "done", text: "" };
      case "count":
        return { type: "counted", id: effect.id, known: await this.#evidence.count(effect.id) };
      case "bell":
        this.#deps.terminal.write(bellFor(this.#deps.context));
        return undefined;
      case "copy":
        this.#deps.terminal.write(`\x1b]52;c;${Buffer.from(effect.text).toString("base64")}\x07`);
        return { type: "done", text: "Copied, if your terminal allows it" };
      case "templates":
        return { type: "templates", templates: await this.#evidence.templates(effect.id) };
      case "browser":
        return { type: "done", text: await this.#evidence.open(effect.id) };
      case "suspend":
      case "quit":
        return undefined;
      default:
        return this.#change(effect);
    }
  }

  /** Wakes the workers for answers whose undo window has ended. */
  async settle(): Promise<void> {
    const { engine } = this.#deps;
    for (const [id, before] of this.#settling) {
      const after = await engine.read(id);
      if (isPending(after.question) && after.question.settling) continue;
      this.#settling.delete(id);
      await this.#keepOutcome(before, after);
      await afterChange(after, engine, this.#context);
    }
  }

  /** Prints what was answered after the terminal is restored. */
  report(): void {
    const { context } = this.#deps;
    if (!context.isQuiet) context.stdout.write([...this.#outcomes.values()].join(""));
  }

  /** Finishes the last answers, and reports what happened. */
  async close(): Promise<void> {
    const { engine, context } = this.#deps;
    const isFar = context.place.store.kind === "server";
    if (this.#settling.size > 0 && !isFar && isServiceOff(context.env)) await this.#waitToSettle();
    else if (this.#settling.size > 0 && !isFar) await startService(this.#context);
    await engine.doDue();
    if (!context.isQuiet) context.stderr.write(this.#words.join(""));
  }

  async #waitToSettle() {
    const { engine, context, undoMs } = this.#deps;
    const stop = context.interrupt();
    for (let waitedMs = 0; this.#settling.size > 0 && waitedMs < 2 * undoMs && !stop.aborted; waitedMs += 100) {
      await engine.doDue();
      await this.settle();
      if (this.#settling.size > 0) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async #answer(ids: readonly QuestionId[], parts: AnswerParts): Promise<NextEvent> {
    const { engine, by, undoMs } = this.#deps;
    const input = AnswerInput.parse({ ...parts, undoMs: parts.force ? 0 : undoMs });
    const [first, ...others] = ids;
    if (first === undefined) throw new Error("an answer is for a question");
    const done = await this.#give(first, input);
    const given = [first];
    for (const id of others) {
      const isGiven = await this.#give(id, input).then(
        () => true,
        (error: unknown) => this.#complain(id, error),
      );
      if (isGiven) given.push(id);
    }
    const { question } = done;
    const until =
      isPending(question) && question.settling?.answer.by.id === by.id ? question.settling.until : undefined;
    const said = sayParts(await engine.read(first), parts);
    return { type: "answered", ids: given, said: given.length > 1 ? `${said} (${given.length} runs)` : said, until };
  }

  async #give(id: QuestionId, input: AnswerInput) {
    const { engine, by } = this.#deps;
    const before = await engine.read(id);
    const done = await engine.answer(id, input, by);
    await removeDraft(this.#context, id);
    await this.#keepOutcome(before, done);
    if (isPending(done.question) && done.question.settling) this.#settling.set(id, before);
    else await afterChange(done, engine, this.#context);
    return done;
  }

  /** Saves the text about an answer for the end. */
  async #keepOutcome(before: QuestionSnapshot, after: QuestionSnapshot) {
    const machines = await machinesFor(this.#deps.engine, [after.run], this.#context);
    const wayOn = await findWayOnHere(after.run, this.#context);
    const isHolderGone = await hasHolderEnded(before.question);
    const said = sayAnswered({ before, after, machines, wayOn, isHolderGone }, this.#context.program);
    this.#outcomes.set(after.question.id, said);
  }

  /** Answers one of several identical questions; one that was closed meanwhile does not stop the others. */
  #complain(id: QuestionId, error: unknown) {
    if (!(error instanceof Refusal)) throw error;
    this.#words.push(`${shortId(id)}: ${oneLine(error.message)}\n`);
    return false;
  }

  async #undo(ids: readonly QuestionId[]): Promise<NextEvent> {
    const { engine, by } = this.#deps;
    const [first, ...others] = ids;
    if (first === undefined) throw new Error("an undo is for a question");
    const read = await this.#tell(await engine.undo(first, by));
    const same: QuestionSnapshot[] = [];
    for (const id of others) same.push(await this.#tell(await engine.undo(id, by)));
    for (const id of ids) {
      this.#settling.delete(id);
      this.#outcomes.delete(id);
    }
    return { type: "undone", card: { read, same } };
  }

  async #edit({ id, text }: Extract<NextEffect, { do: "edit" }>, state: NextState): Promise<NextEvent> {
    const read = state.card?.read.question.id === id ? state.card.read : await this.#deps.engine.read(id);
    const written = await this.#deps.aside(() => editText(read, text, this.#context));
    return { type: "edited", text: written };
  }

  /** Makes sure that the messages that people have show the change. */
  async #tell(changed: QuestionSnapshot): Promise<QuestionSnapshot> {
    await afterChange(changed, this.#deps.engine, this.#context);
    return changed;
  }

  async #change(effect: Change): Promise<NextEvent> {
    const { engine, by, context } = this.#deps;
    switch (effect.do) {
      case "claim":
        await this.#tell(await engine.claim(effect.id, by));
        return { type: "done", text: "Claimed: others get no reminders" };
      case "release":
        await this.#tell(await engine.release(effect.id, by));
        return { type: "done", text: "Released" };
      case "comment":
        await engine.comment(effect.id, effect.text, by);
        return { type: "done", text: "Sent as a comment" };
      case "snooze":
        await engine.snooze(effect.id, later(await engine.now(), effect.ms), by);
        return { type: "done", text: `Snoozed for ${formatDuration(effect.ms)}`, leaves: true };
      case "extend": {
        const { question } = await this.#tell(await engine.extend(effect.id, effect.ms, by));
        const due = question.dueAt ? sayClock(question.dueAt, await engine.now(), context.ahead) : "never";
        return { type: "done", text: `Now due ${due}` };
      }
      case "stop": {
        const { run } = await engine.read(effect.id);
        const stopped = await engine.cancelRun(run.id, by, `stopped by ${by.id}`);
        await afterChange({ run: stopped }, engine, this.#context);
        return { type: "done", text: `#${run.number} is stopped`, leaves: true };
      }
      default:
        return unreachable(effect);
    }
  }
}

function sayParts({ content, question }: QuestionSnapshot, parts: AnswerParts) {
  if (parts.outcome === "decide") return "You decide";
  if (parts.outcome === "clarify") return oneLine(parts.note ?? "");
  const given = isPending(question) ? question.settling?.answer : findAnswer(question);
  return oneLine(answerText(content, given?.items ?? parts.items ?? {}));
}
