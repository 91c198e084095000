import { parseDuration, formatDuration } from "../../../core/text/duration.ts";
import type { QuestionId } from "../../../core/id.ts";
import { Refusal } from "../../../core/refusal.ts";
import { SECOND_MS, type Instant, msBetween } from "../../../core/instant.ts";
import { confirmationWord } from "../../../core/question/risk.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { textWidth, wrap } from "../../terminal/terminal.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { type ClockOffset, sayAge, sayClock } from "../../view/relative-time.ts";
import { findDeadline, sayVotes } from "../../view/question-text.ts";
import { refOf, sayBy, sayFact } from "../../view/run-text.ts";
import { EffectRunner } from "./effect-runner.ts";
import { EMPTY_LINE, editedLine } from "./line-editor.ts";
import type { LoopStart } from "./next-loop.ts";
import { QuestionQueue } from "./question-queue.ts";
import type { NextEvent } from "./reduce.ts";
import { type AnswerParts, type QuestionCard, type NextEffect, startState } from "./next-state.ts";
import { type PickedChoice, type AnswerStep, composeItems, findProblem, stepsOf } from "./answer-step.ts";

const LOOK_MS = 2 * SECOND_MS;
const SIZE = { columns: 80, rows: 24 };

/** `askd next` with plain lines and prompts, for screen readers and simple terminals. */
export async function runPlainLoop(start: LoopStart): Promise<number> {
  const { stdout } = start.context;
  const terminal = {
    size: () => SIZE,
    write: (text: string) => stdout.write(text),
    take() {},
    release() {},
    suspend() {},
  };
  const actions = new EffectRunner({ ...start, terminal, aside: (work) => work() });
  try {
    return await new Flat(start, actions).run();
  } finally {
    await actions.close();
  }
}

/** The outcome of one question: next, again, or the end. */
type Turn = "next" | "again" | "quit" | "interrupted";

class Flat {
  readonly #start: LoopStart;
  readonly #actions: EffectRunner;
  readonly #passed = new Set<string>();
  #last: readonly QuestionId[] = [];
  #note = "";

  constructor(start: LoopStart, actions: EffectRunner) {
    this.#start = start;
    this.#actions = actions;
  }

  async run(): Promise<number> {
    const { context, engine, by, isFollowing, wanted } = this.#start;
    const queue = new QuestionQueue(engine, wanted);
    const signal = context.interrupt();
    for (;;) {
      await engine.doDue();
      await this.#actions.settle();
      const { cards, now } = await queue.read(by.id);
      const left = cards.filter(({ read }) => !this.#passed.has(read.question.id));
      const [card] = left;
      if (!card && isFollowing && !signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        continue;
      }
      if (!card) return signal.aborted ? EXIT_CODE.interrupted : 0;
      context.stdout.write(
        `\n${renderPlain(card, { left: left.length, now, ahead: context.ahead, width: textWidth(undefined) })}\n`,
      );
      const turn = await this.#offer(card);
      if (turn === "quit") return 0;
      if (turn === "interrupted") return EXIT_CODE.interrupted;
    }
  }

  /** Prompts for every step, and accepts commands. */
  async #offer(card: QuestionCard) {
    const picks: PickedChoice[] = [];
    this.#note = "";
    const steps = stepsOf(card.read.content);
    while (picks.length < steps.length) {
      const step = steps[picks.length];
      if (!step) break;
      const line = await this.#prompt(sayStep(step, steps.length));
      if (line === undefined) return "interrupted";
      if (line.startsWith(":") || line === "?") {
        const turn = await this.#command(card, line);
        if (turn !== "again") return turn;
        continue;
      }
      const pick = await this.#withCommand(step, pickOf(step, line.trim()));
      if (!pick) return "interrupted";
      const problem =
        line.trim() === "" && !step.isOptional ? "Write a number or your own words." : findProblem(step, pick);
      if (problem) this.#say(problem);
      else picks.push(pick);
    }
    return this.#answer(card, { items: composeItems(card.read.content, picks), outcome: "answer" });
  }

  /** Prompts for the command of an approval that is allowed with a change; undefined if that is interrupted. */
  async #withCommand(step: AnswerStep, pick: PickedChoice): Promise<PickedChoice | undefined> {
    const { change } = step;
    if (!change || pick.line.text !== step.choices[change.place]?.says) return pick;
    const command = await this.#prompt("The command to run instead: ");
    return command === undefined ? undefined : { ...pick, cursor: change.place, line: editedLine(command.trim()) };
  }

  async #answer(card: QuestionCard, said: Pick<AnswerParts, "items" | "outcome" | "note">) {
    const { question, run } = card.read;
    if (question.risk === "high") {
      const word = confirmationWord(question.title, run.name);
      const typed = await this.#prompt(`High risk. Type ${oneLine(word)} to confirm: `);
      if (typed === undefined) return "interrupted";
      if (typed.trim() !== word) {
        this.#say("Not confirmed; nothing was sent.");
        return "again";
      }
    }
    const runs = card.same.length + 1;
    const all = runs > 1 ? await this.#prompt(`${runs} runs ask this. Answer all of them? [y/N] `) : "n";
    if (all === undefined) return "interrupted";
    const others = /^\s*y/i.test(all) ? card.same.map((read) => read.question.id) : [];
    const note = said.note ?? (this.#note === "" ? undefined : this.#note);
    const answer: AnswerParts = {
      ...said,
      note,
      force: false,
      confirmed: question.risk === "high",
    };
    const event = await this.#do({ do: "answer", ids: [question.id, ...others], answer }, card);
    if (event?.type !== "answered") return "again";
    for (const id of event.ids) this.#passed.add(id);
    this.#last = event.ids;
    this.#say(`Answered: ${event.said}.${event.until ? " :u undoes it for a moment." : ""}`);
    return "next";
  }

  #command(card: QuestionCard, line: string) {
    const [, key = "?", rest = ""] = /^:?(\S+)\s*(.*)$/s.exec(line) ?? [];
    const { id, claim } = card.read.question;
    const isMine = claim?.by.id === this.#start.by.id;
    const commands: Readonly<Record<string, () => Promise<Turn>>> = {
      q: () => Promise.resolve("quit"),
      s: () => this.#skip(card),
      y: () => this.#answer(card, { outcome: "decide" }),
      m: () => this.#answer(card, { outcome: "clarify", note: rest }),
      n: () => this.#takeNote(rest),
      u: () => this.#undo(card),
      e: () => this.#edit(card),
      c: () => this.#change(card, { do: isMine ? "release" : "claim", id }),
      h: () => this.#forAsLong(card, "snooze", rest || "1h"),
      "+": () => this.#forAsLong(card, "extend", rest || "1h"),
      x: () => (rest.trim() === "yes" ? this.#change(card, { do: "stop", id }) : this.#tell("To stop the run: :x yes")),
      d: () => this.#change(card, { do: "diff", id }),
      v: () => this.#change(card, { do: "view", id }),
      o: () => this.#change(card, { do: "browser", id }),
    };
    const command = Object.hasOwn(commands, key) ? commands[key] : undefined;
    return command ? command() : this.#tell(sayCommands());
  }

  #skip({ read }: QuestionCard): Promise<Turn> {
    this.#passed.add(read.question.id);
    return Promise.resolve("next");
  }

  #takeNote(text: string) {
    this.#note = text;
    return this.#tell(text === "" ? "No note." : `Note: ${oneLine(text)}`);
  }

  #tell(text: string): Promise<Turn> {
    this.#say(text);
    return Promise.resolve("again");
  }

  async #undo(card: QuestionCard) {
    const event = await this.#do({ do: "undo", ids: this.#last }, card);
    if (event?.type !== "undone") return "again";
    for (const id of this.#last) this.#passed.delete(id);
    this.#last = [];
    this.#say("Undone.");
    return "next";
  }

  async #edit(card: QuestionCard) {
    const item = card.read.content.items[0]?.id ?? "";
    const event = await this.#do({ do: "edit", id: card.read.question.id, item, text: "" }, card);
    if (event?.type !== "edited" || !event.text) return "again";
    const step = stepsOf(card.read.content)[0];
    if (!step) return "again";
    return this.#answer(card, { items: { [item]: { values: [], text: event.text } }, outcome: "answer" });
  }

  async #forAsLong(card: QuestionCard, what: "snooze" | "extend", text: string) {
    try {
      return await this.#change(card, { do: what, id: card.read.question.id, ms: parseDuration(text) });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#say(error.message);
      return "again";
    }
  }

  async #change(card: QuestionCard, effect: NextEffect) {
    const event = await this.#do(effect, card);
    if (event?.type !== "done") return "again";
    if (event.text !== "") this.#say(event.text);
    return event.leaves ? "next" : "again";
  }

  async #do(effect: NextEffect, card: QuestionCard): Promise<NextEvent | undefined> {
    const { context, by } = this.#start;
    try {
      const state = startState({ now: context.now(), size: SIZE, user: by.id, isFollowing: false });
      return await this.#actions.do(effect, { ...state, card });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#say([error.message, error.hint].filter(Boolean).join(". "));
      return undefined;
    }
  }

  #prompt(text: string) {
    const { context } = this.#start;
    context.stderr.write(text);
    return context.stdin.readLine(context.interrupt());
  }

  #say(text: string) {
    this.#start.context.stdout.write(`${text}\n`);
  }
}

function sayStep(step: AnswerStep, steps: number) {
  const heading = steps > 1 ? `${oneLine(step.heading)}\n` : "";
  const range =
    step.choices.length > 0 ? `1 to ${step.choices.length}${step.multiple ? ", several with commas" : ""}` : "";
  const words = step.allowText ? (step.isOptional ? "or empty" : "your own words") : "";
  return `${heading}Your answer (${[range, words, "? for more"].filter((part) => part !== "").join("; ")}): `;
}

/** Resolves a number to a choice of a typed field; the engine matches everything else. */
function pickOf(step: AnswerStep, text: string): PickedChoice {
  const chosen = step.schema ? step.choices[Number(text) - 1] : undefined;
  return { cursor: -1, ticked: [], line: text === "" ? EMPTY_LINE : editedLine(chosen?.says ?? text), isWritten: true };
}

/** A question as plain lines. */
function renderPlain(
  { read, same }: QuestionCard,
  at: { left: number; now: Instant; ahead: ClockOffset; width: number },
) {
  const { run, question, content } = read;
  const agent = run.agent === "none" ? "" : `, ${sayFact(run, "agent", sayAgent(run.agent))}`;
  const deadline = findDeadline(read);
  const due = deadline
    ? `Due ${sayClock(deadline.at, at.now, at.ahead)}, in ${formatDuration(Math.max(0, msBetween(at.now, deadline.at)))}, then ${deadline.then}.`
    : "No deadline.";
  const lines = [
    `${at.left} ${at.left === 1 ? "question is" : "questions are"} waiting. Run ${refOf(run)} ${oneLine(run.name)}${agent}.`,
    ...content.items.map((item) => `Question: ${sanitise(item.text)}`),
    `Waiting ${sayAge(Math.max(0, msBetween(question.askedAt, at.now)))}. ${due}`,
    ...(question.risk === "high" ? ["High risk: nothing is recommended, and you confirm with a word."] : []),
    ...sayVotes(read).map((line) => `${line}.`),
    ...(question.claim ? [`Claimed by ${sayBy(question.claim.by)}.`] : []),
    ...(same.length > 0 ? [`${same.length + 1} runs ask this.`] : []),
    ...(content.context === undefined ? [] : [`Context: ${sanitise(content.context)}`]),
    ...stepsOf(content).flatMap((step) =>
      step.choices.map(({ label, about, isRecommended }, index) => {
        const tag = isRecommended && question.risk !== "high" ? ", recommended" : "";
        return `Option ${index + 1}: ${oneLine(label)}${tag}${about === undefined ? "" : `. ${oneLine(about)}`}`;
      }),
    ),
  ];
  return lines.flatMap((line) => wrap(line, at.width)).join("\n");
}

/** The commands that can be typed instead of an answer. */
function sayCommands() {
  return [
    ":s skip. :q quit. :y let the agent decide. :m text, ask back. :n text, add a note.",
    ":e write in your editor. :d show the agent's changes. :v show everything. :o open in the browser.",
    ":h 1h, snooze. :+ 1h, extend the deadline. :c claim or release. :x yes, stop the run. :u undo the last answer.",
  ].join("\n");
}
