import type { Actor } from "../../../core/people/actor.ts";
import { AnswerInput, readChoices } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import { type QuestionId, shortId } from "../../../core/id.ts";
import { HOUR_MS, type Instant, msBetween } from "../../../core/instant.ts";
import { isPending } from "../../../core/question/question.ts";
import { findAwayMachine } from "../../../core/run/machine.ts";
import { Refusal } from "../../../core/refusal.ts";
import { isDenial } from "../../../core/question/approval.ts";
import { confirmationWord } from "../../../core/question/risk.ts";
import { ALLOW_CHANGED } from "../../../core/question/run-permission.ts";
import { hasEnded } from "../../../core/run/run.ts";
import { QUESTION_FIELDS, viewQuestion } from "../../../core/api/view.ts";
import { requireAccess } from "../../../core/people/access.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import { findMatch } from "../../../core/answer/match.ts";
import { fillTemplate } from "../../../core/answer/template.ts";
import { whoTypes } from "../../actor.ts";
import { afterChange } from "../../after-change.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Args, Flags, Values } from "../../flags.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { machinesFor } from "../../view/machine-view.ts";
import { printResult } from "../../output.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { getTarget } from "../../find-target.ts";
import { sayAgo } from "../../view/relative-time.ts";
import { needsOwnId, refOf } from "../../view/run-text.ts";
import { whileWorking } from "../../terminal/pause.ts";
import { readFileArg } from "../../terminal/read-file-arg.ts";
import { sayChoices } from "../../view/question-text.ts";
import { followAnswered, openLog } from "../run/run-follow.ts";
import { isServiceOff } from "../service/worker.ts";
import { FILTER_FLAGS, readQuestionFilter } from "../inspect/question-filter.ts";
import { findWayOnHere } from "../run/takeover.ts";
import { sayAnswered, hasHolderEnded } from "./answer-view.ts";

const ANSWER_FLAGS = {
  choose: {
    type: "string",
    short: "c",
    multiple: true,
    value: "key",
    about: "1, A, value or label; name=key for one of several items",
  },
  message: { type: "string", short: "m", value: "text", about: "Free text, or a note beside a choice" },
  use: { type: "string", short: "t", value: "template", about: "Answer with a template; see askd template" },
  file: { type: "string", short: "F", value: "file", about: "Read the answer from a file, or - for stdin" },
  edit: { type: "boolean", short: "e", about: "Write the answer in your editor" },
  all: { type: "boolean", about: "Answer all waiting questions one by one, or with --edit in one file" },
  command: {
    type: "string",
    value: "command",
    about: "Allow with this command in place of the one that was asked for",
  },
  decide: { type: "boolean", about: "Let the agent decide" },
  clarify: { type: "string", value: "text", about: "Ask the agent back before you answer" },
  force: { type: "boolean", about: "Answer after the deadline and resume the run" },
  "no-resume": { type: "boolean", about: "Store the answer without resuming the run" },
  wait: { type: "boolean", about: "Follow the run until it ends or asks again" },
  "undo-window": { type: "string", value: "duration", about: "How long the answer can be undone (0s)" },
  "dry-run": { type: "boolean", about: "Show what the agent would receive; change nothing" },
  yes: { type: "boolean", about: "Confirm a high-risk answer without a prompt" },
  ...FILTER_FLAGS,
} as const satisfies Flags;
/** The field of `--dry-run` comes last. */
const FIELDS: readonly string[] = [...QUESTION_FIELDS, "resume_command", "agent_view"];
type AnswerValues = Values<typeof ANSWER_FLAGS>;

const ANSWER_BYTES = 1024 * 1024;
/** How long after the end of a run a reply counts as a late one. */
const LATE_MS = HOUR_MS;

/** Flags that give a whole answer; `--use` checks by itself what may accompany it. */
const WAYS = ["choose", "file", "edit", "command", "decide", "clarify"] as const;

type AnswerWords = Partial<Pick<AnswerInput, "answer" | "items" | "verbatim" | "note" | "template">>;

export const command: Command<typeof ANSWER_FLAGS> = {
  usage: "answer <id> [answer] | --all",
  flags: ANSWER_FLAGS,
  fields: FIELDS,
  examples: [
    'askd answer 42 "Use Redis"',
    "askd answer q-7k3f 1 -m 'keep the client behind an interface'",
    "askd answer - 2",
    "askd answer 42 allow-run",
    'askd answer 42 --command "npm test -- --run"',
    "askd answer --all --edit",
  ],
  async run(args, given) {
    if (args.flags.all) return answerAll(args, given);
    let signal = args.flags.wait ? given.interrupt() : undefined;
    // One signal for the prompts and for the waiting: Ctrl-C is never taken for an empty answer.
    const context: Context = { ...given, interrupt: () => (signal ??= given.interrupt()) };
    const [name, ...words] = args.positionals;
    if (name === undefined) throw wrongUsage("The id of a question is missing", command.usage);
    if (words.length > 1) throw wrongUsage("Put the answer in quotes", command.usage);
    requireOneWay(words[0], args.flags);
    // Without a background service the waiting command runs the worker itself.
    const isHere = args.flags.wait === true && isServiceOff(context.env);
    const engine = await context.engine({
      runs: isHere && context.place.store.kind !== "server",
      waits: signal && { until: signal },
    });
    if (!isHere) await replaceLostWorker(engine, context);
    const asked = await getAsked(engine, name, context.now());
    const read = await engine.read(asked.id);
    if (!asked.isByOwnId && isBlind(words[0], args.flags)) await requireMeant(read, { engine, context });
    const by = await whoTypes(engine, context);
    await requireMayAnswer(read, by, engine);
    const input = await readInput(read, words[0], args.flags, context).catch((error: unknown) => {
      if (signal?.aborted) return undefined;
      throw error;
    });
    if (!input || signal?.aborted) return EXIT_CODE.interrupted;
    if (args.flags["dry-run"]) {
      const agentView = await engine.preview(read.question.id, input, by);
      if (read.question.kind === "approval" && !context.isQuiet) context.stderr.write(`${renderQuestion(read)}\n\n`);
      printResult(context, FIELDS, { page: () => `${sanitise(agentView)}\n`, json: () => ({ agentView }) });
      return 0;
    }
    if (signal?.aborted) return EXIT_CODE.interrupted;
    const log = args.flags.wait ? await openLog(read.run, context) : undefined;
    const done = await give(read, input, by, { engine, context });
    const machines = await machinesFor(engine, [done.run], context);
    const wayOn = await findWayOnHere(done.run, context);
    const isHolderGone = await hasHolderEnded(read.question);
    printResult(context, FIELDS, {
      page: () =>
        context.isQuiet
          ? ""
          : log && isToGoOn(done) && !findAwayMachine(done.run, machines)
            ? sayGoesOn(done)
            : sayAnswered({ before: read, after: done, machines, wayOn, isHolderGone }, context.program),
      json: () => ({ ...viewQuestion(done, machines), resume_command: wayOn?.command ?? null }),
    });
    const goOn = async () => {
      await engine.doDue(); // run due jobs now, such as a callback, not with the next command
      return log && isToGoOn(done) ? followAnswered(done.run, log, engine, context) : 0;
    };
    if (isHere) return whileWorking(engine, goOn);
    await afterChange(done, engine, context);
    return goOn();
  },
};

/** Answers all waiting questions: in one file, or one by one on the terminal. */
async function answerAll({ positionals, flags }: Args<typeof ANSWER_FLAGS>, context: Context) {
  if (positionals.length > 0) throw wrongUsage("--all takes no id and no answer", "answer --all [--edit]");
  const alone = [
    "choose",
    "message",
    "use",
    "file",
    "command",
    "decide",
    "clarify",
    "force",
    "wait",
    "dry-run",
    "yes",
  ] as const;
  const unfit = flags.edit ? ("undo-window" as const) : ("no-resume" as const);
  const other = [...alone, unfit].find((name) => flags[name] !== undefined);
  if (other) throw wrongUsage(`--${other} is for one question, not for --all`, "answer --all [--edit]");
  const engine = await context.engine();
  if (!flags.edit) return (await import("../next/next.ts")).offerAll(flags, engine, context);
  const { editAll } = await import("./answer-all.ts");
  const wanted = await readQuestionFilter(flags, engine, context);
  return editAll({ wanted, resume: !flags["no-resume"] }, engine, context);
}

/** Refuses those who may not answer, whatever they say, and records that they tried. */
async function requireMayAnswer({ question }: QuestionSnapshot, by: Actor, engine: Engine) {
  try {
    requireAccess("answer", by, question);
  } catch (error) {
    if (error instanceof Refusal) await engine.refuse(question.id, error.message, by);
    throw error;
  }
}

/** Sends the answer. A draft from the editor is kept until it is accepted; a refusal says where. */
async function give(
  read: QuestionSnapshot,
  input: AnswerInput,
  by: Actor,
  { engine, context }: { engine: Engine; context: Context },
) {
  try {
    const done = await engine.answer(read.question.id, input, by);
    const { removeDraft } = await import("./answer-edit.ts");
    await removeDraft(context, read.question.id);
    return done;
  } catch (error) {
    throw await (await import("./answer-edit.ts")).withDraft(error, read, context);
  }
}

function sayGoesOn({ run }: QuestionSnapshot) {
  return `Resuming task ${refOf(run)} with your answer...\n`;
}

/** Says whether there is a run to follow: the answer is final, and the run may resume. */
function isToGoOn({ question, run }: QuestionSnapshot) {
  if (question.status === "pending") return false;
  return run.status === "running" || (run.status === "resuming" && run.giveBack === "worker");
}

/** Says whether the answer is given without the question being shown first. */
function isBlind(word: string | undefined, flags: AnswerValues) {
  return !flags["dry-run"] && !flags.edit && (word ?? flags.message ?? flags.use ?? findWay(flags)) !== undefined;
}

function findWay(flags: AnswerValues) {
  return WAYS.find((name) => flags[name] !== undefined);
}

/**
 * Refuses the name of a run for an approval or a high risk if the run has asked before: its agent may have put it in the
 * place of the question that the person has seen.
 */
async function requireMeant(
  { run, question }: QuestionSnapshot,
  { engine, context }: { engine: Engine; context: Context },
): Promise<void> {
  if (!isPending(question)) return;
  if (!needsOwnId(question)) return;
  const [, before] = await engine.listQuestions({ runId: run.id, order: "newest", limit: 2 });
  if (!before) return;
  const id = shortId(question.id);
  const said = `${refOf(run)} asked something else ${sayAgo(question.askedAt, context.now())}: ${oneLine(question.title)}`;
  throw new Refusal("ambiguous_ref", `${said} (${id}); nothing was answered`, {
    hint: `If you mean that question: ${context.program} answer ${id} …`,
  });
}

/** The named question; refuses a run that has ended without a waiting one. */
async function getAsked(engine: Engine, name: string, now: Instant): Promise<{ id: QuestionId; isByOwnId: boolean }> {
  const target = await getTarget(engine, name);
  if (target.named === "question") return { id: target.question.id, isByOwnId: name.trim() !== "-" };
  const { run, questionId } = target;
  // A reply just after the end is a late one: it is recorded, and its sender is told who was faster.
  const isLate = run.endedAt !== undefined && msBetween(run.endedAt, now) < LATE_MS;
  const isOver = run.status === "completed" && !run.implicit && !isLate;
  if (questionId && !isOver) return { id: questionId, isByOwnId: false };
  if (questionId && (await engine.read(questionId)).question.status === "timeout")
    return { id: questionId, isByOwnId: false };
  const ended = hasEnded(run) && run.endedAt ? `${run.status} ${sayAgo(run.endedAt, now)}` : run.status;
  throw new Refusal("not_pending", `Task ${run.externalId ?? run.number} is not waiting for input (${ended})`, {
    hint: `See it with: askd show ${run.number}`,
  });
}

async function readInput(read: QuestionSnapshot, word: string | undefined, flags: AnswerValues, context: Context) {
  const outcome = flags.decide ? "decide" : flags.clarify === undefined ? "answer" : "clarify";
  const said: AnswerWords = outcome === "answer" ? await readAnswer(read, word, flags, context) : {};
  return AnswerInput.parse({
    note: flags.clarify ?? flags.message,
    ...said,
    outcome,
    force: flags.force ?? false,
    confirmed: flags.yes === true || flags["dry-run"] === true || (await hasConfirmed(read, said, context)),
    undoMs: flags["undo-window"] === undefined ? context.rules.undoMs.cli : parseDuration(flags["undo-window"]),
    resume: !flags["no-resume"],
  });
}

/** On a terminal a person confirms a high risk by typing the word that it names. */
async function hasConfirmed(read: QuestionSnapshot, said: AnswerWords, context: Context) {
  const { question, run, content } = read;
  if (question.kind === "approval" && (said.answer ?? said.items) !== undefined) {
    const items = findMatch(content, said, context.rules.limits);
    if (!items) return true; // the engine refuses it, after it has checked who answers
    if (isDenial(content, items)) return false; // a no needs no word
  }
  if (question.risk !== "high" || question.status !== "pending" || !context.mayPrompt) return false;
  const word = confirmationWord(question.title, run.name);
  if (question.kind === "approval") context.stderr.write(`${renderQuestion(read)}\n\n`);
  context.stderr.write(`High risk: ${oneLine(question.title)}\nType ${oneLine(word)} to confirm: `);
  const typed = await context.stdin.readLine(context.interrupt());
  if (typed?.trim() === word) return true;
  throw new Refusal("needs_confirmation", `Not confirmed; ${shortId(question.id)} is still waiting`);
}

/** Reads the answer from the command line, a file, the editor or a prompt. */
async function readAnswer(
  read: QuestionSnapshot,
  word: string | undefined,
  flags: AnswerValues,
  context: Context,
): Promise<AnswerWords> {
  if (flags.use !== undefined) return useTemplate(flags.use, read, [word, flags], context);
  if (flags.command !== undefined) return { items: changedCommand(read, flags.command) };
  if (flags.choose) return { items: readChoices(read.content, flags.choose) };
  const file = word === "-" ? "-" : flags.file;
  if (file !== undefined) {
    const text = file === "-" ? await context.stdin.readAll(ANSWER_BYTES) : await readFileArg(file, context);
    return { answer: text.trim() };
  }
  if (word !== undefined) return { answer: word };
  if (flags.edit) return edit(read, flags, context);
  if (flags.message !== undefined) return { answer: flags.message, verbatim: true, note: undefined };
  return promptAnswer(read, flags, context);
}

/** The answer that allows a tool use with another command. */
function changedCommand({ question, content }: QuestionSnapshot, command: string): NonNullable<AnswerInput["items"]> {
  const [item] = content.items;
  if (question.fingerprint === undefined || !item) {
    throw new Refusal("bad_input", `${shortId(question.id)} does not ask to run a command; nothing was answered`, {
      hint: `See it with: askd show ${shortId(question.id)}`,
    });
  }
  return { [item.id]: { values: [ALLOW_CHANGED], text: command } };
}

/** Refuses two sources for one answer. */
function requireOneWay(word: string | undefined, flags: AnswerValues): void {
  const ways = [
    ...(word === undefined ? [] : ["an answer"]),
    ...WAYS.filter((name) => flags[name] !== undefined).map((name) => `--${name}`),
  ];
  if (ways.length < 2) return;
  throw new Refusal("bad_input", `${ways.join(" and ")} exclude each other`, {
    hint: "Give one of them. A note beside it: -m <text>",
  });
}

/** An answer from a template; `-m` adds a note. */
async function useTemplate(
  name: string,
  read: QuestionSnapshot,
  [word, { choose, file, edit, message }]: [string | undefined, AnswerValues],
  context: Context,
): Promise<AnswerWords> {
  if (word !== undefined || choose || file !== undefined || edit) {
    throw new Refusal("bad_input", "A template is the whole answer", { hint: "Add a note to it with: -m <text>" });
  }
  const { getTemplate } = await import("../setup/template.ts");
  const filled = fillTemplate(await getTemplate(await context.engine(), name), read);
  const notes = [filled.note, message].filter((note) => note !== undefined);
  return { ...filled, note: notes.length > 0 ? notes.join("\n") : undefined, template: name };
}

/** Shows the question on a terminal and opens the editor, or reads one line. */
async function promptAnswer(read: QuestionSnapshot, flags: AnswerValues, context: Context): Promise<AnswerWords> {
  if (!context.mayPrompt) return { answer: "" }; // the engine refuses it and lists the options
  const { findEditor } = await import("../../terminal/editor.ts");
  context.stderr.write(`\n${renderQuestion(read)}\n\n`);
  if (findEditor(context.env)) return edit(read, flags, context);
  context.stderr.write("Your answer: ");
  return { answer: (await context.stdin.readLine(context.interrupt())) ?? "" };
}

async function edit(read: QuestionSnapshot, flags: AnswerValues, context: Context): Promise<AnswerWords> {
  const { editAnswer } = await import("./answer-edit.ts");
  const { note, ...said } = await editAnswer(read, flags.force ?? false, context);
  const notes = [note, flags.message].filter((each) => each !== undefined);
  return { ...said, note: notes.length > 0 ? notes.join("\n") : undefined };
}

/** The question with its context and choices, as text. */
function renderQuestion({ content }: QuestionSnapshot): string {
  return [
    ...content.items.flatMap((item) => [
      `Question: ${sanitise(item.text)}`,
      ...(item.options.length > 0 ? [`  ${sayChoices(item)}`] : []),
    ]),
    ...(content.context ? ["", "Context:", sanitise(content.context)] : []),
  ].join("\n");
}
