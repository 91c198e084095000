import type { QuestionSnapshot } from "../../../core/changes.ts";
import { type QuestionId, shortId } from "../../../core/id.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import type { Actor } from "../../../core/people/actor.ts";
import { plainName } from "../../../core/people/person.ts";
import { findAwayMachine, needsMachine } from "../../../core/run/machine.ts";
import { hasEnded, isAnswerHeldBack } from "../../../core/run/run.ts";
import { formatDuration, parseDuration } from "../../../core/text/duration.ts";
import { QUESTION_FIELDS, viewQuestion } from "../../../core/api/view.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoTypes } from "../../actor.ts";
import { afterChange } from "../../after-change.ts";
import { requireOneArgument, wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { getQuestionId } from "../../find-target.ts";
import { readFileArg } from "../../terminal/read-file-arg.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { awayLines, machinesFor } from "../../view/machine-view.ts";
import { exampleAnswer, sayDue, sayThen } from "../../view/question-text.ts";
import { type ClockOffset, sayAgo, sayClock } from "../../view/relative-time.ts";
import { answerArgument, argumentOf, refOf } from "../../view/run-text.ts";
import { oneLine } from "../../view/sanitise.ts";
import { parseMoment } from "../../view/time-argument.ts";
import { requireKnown } from "./known-people.ts";

const TEXT_BYTES = 1024 * 1024;
const DEFAULT_DURATION = "1h";

const COMMENT_FLAGS = {
  file: { type: "string", short: "F", value: "file", about: "Read the comment from a file, or - for stdin" },
} as const satisfies Flags;

const AMEND_FLAGS = {
  file: { type: "string", short: "F", value: "file", about: "Read the correction from a file, or - for stdin" },
  resume: { type: "boolean", about: "Resume a run that has ended, with the correction" },
  yes: { type: "boolean", about: "Confirm a high-risk answer without a prompt" },
} as const satisfies Flags;

/** The arguments of a change of a question. */
interface ChangeContext {
  engine: Engine;
  id: QuestionId;
  by: Actor;
  now: Instant;
}

interface QuestionChange {
  change: (at: ChangeContext) => Promise<QuestionSnapshot>;
  /** Renders the result. If the run's machine is away, `away` replaces what would happen next. */
  say: (done: QuestionSnapshot, now: Instant, program: string, away?: readonly string[]) => string;
}

const amend: Command<typeof AMEND_FLAGS> = {
  usage: 'amend <id> "<correction>" [--resume]',
  flags: AMEND_FLAGS,
  fields: QUESTION_FIELDS,
  examples: ['askd amend 42 "Memcached after all"', 'askd amend 42 "Use port 6380" --resume'],
  async run({ positionals, flags }, context) {
    const { file, resume = false, yes: confirmed = false } = flags;
    const wanted = { usage: amend.usage, what: "correction" };
    const { name, text } = await readIdAndText(positionals, file, wanted, context);
    return changeQuestion(name, context, {
      change: ({ engine, id, by }) => engine.amend(id, text, by, { resume, confirmed }),
      say: sayAmended,
    });
  },
};

const comment: Command<typeof COMMENT_FLAGS> = {
  usage: 'comment <id> "<text>"',
  flags: COMMENT_FLAGS,
  fields: QUESTION_FIELDS,
  examples: ['askd comment 42 "Lena knows the load we expect"'],
  async run({ positionals, flags }, context) {
    const wanted = { usage: comment.usage, what: "comment" };
    const { name, text } = await readIdAndText(positionals, flags.file, wanted, context);
    return changeQuestion(name, context, {
      change: ({ engine, id, by }) => engine.comment(id, text, by),
      say: sayCommented,
    });
  },
};

const assign: Command = {
  usage: "assign <id> <person or group> …",
  flags: {},
  fields: QUESTION_FIELDS,
  examples: ["askd assign 42 lena", "askd assign q-7k3f lena ops"],
  run({ positionals: [name, ...to] }, context) {
    if (name === undefined) throw wrongUsage("The id of a question is missing", assign.usage);
    if (to.length === 0) throw wrongUsage("A person or group is missing", assign.usage);
    const names = to.flatMap((each) => each.split(",")).map(plainName);
    if (names.some((each) => each === "")) throw wrongUsage("A name cannot be empty", assign.usage);
    return changeQuestion(name, context, {
      change: async ({ engine, id, by }) => {
        await requireKnown(names, engine, context);
        return engine.assign(id, names, by);
      },
      say: sayAssigned,
    });
  },
};

const snooze: Command = {
  usage: "snooze <id> [1h]",
  flags: {},
  fields: QUESTION_FIELDS,
  examples: ["askd snooze 42 2h", "askd snooze 42 14:00", "askd snooze 42 2026-11-20"],
  run({ positionals }, context) {
    const { name, time } = readIdAndTime(positionals, snooze.usage);
    const { ahead } = context;
    return changeQuestion(name, context, {
      change: ({ engine, id, by, now }) => engine.snooze(id, parseMoment(time, { now, ahead, toward: "future" }), by),
      say: (done, now) => saySnoozed(done, now, ahead),
    });
  },
};

const extend: Command = {
  usage: "extend <id> [1h]",
  flags: {},
  fields: QUESTION_FIELDS,
  examples: ["askd extend 42 4h", "askd extend 42 +1d"],
  run({ positionals }, context) {
    const { name, time } = readIdAndTime(positionals, extend.usage);
    const byMs = parseDuration(time.replace(/^\+/, ""));
    return changeQuestion(name, context, {
      change: ({ engine, id, by }) => engine.extend(id, byMs, by),
      say: (done, now) => sayExtended(done, now, context.ahead),
    });
  },
};

/** The commands that change a question, by their names. */
export const CHANGES = {
  undo: changeWith("undo", sayUndone, ["askd answer 42 Redis --undo-window 1m", "askd undo 42"]),
  claim: changeWith("claim", sayClaimed, ["askd claim 42", "askd claim -"]),
  release: changeWith("release", sayReleased, ["askd release 42"]),
  escalate: changeWith("escalate", sayEscalated, ["askd escalate 42"]),
  amend,
  comment,
  assign,
  snooze,
  extend,
};

/** A command that needs nothing but the id of a question. */
function changeWith(
  name: "undo" | "claim" | "release" | "escalate",
  say: QuestionChange["say"],
  examples: readonly string[],
): Command {
  const usage = `${name} <id>`;
  return {
    usage,
    flags: {},
    fields: QUESTION_FIELDS,
    examples,
    run: ({ positionals }, context) =>
      changeQuestion(requireOneArgument(positionals, usage), context, {
        change: ({ engine, id, by }) => engine[name](id, by),
        say,
      }),
  };
}

/** Changes the named question, prints the result, and wakes a worker if the run needs one. */
async function changeQuestion(name: string, context: Context, verb: QuestionChange): Promise<number> {
  const engine = await context.engine();
  const id = await getQuestionId(engine, name);
  const now = await engine.now();
  const done = await verb.change({ engine, id, now, by: await whoTypes(engine, context) });
  const machines = await machinesFor(engine, needsMachine(done.run) ? [done.run] : [], context);
  const away = findAwayMachine(done.run, machines);
  const lines = away && awayLines(done.run, away, now, context.program);
  printResult(context, QUESTION_FIELDS, {
    page: () => (context.isQuiet ? "" : verb.say(done, now, context.program, lines)),
    json: () => viewQuestion(done, machines),
  });
  await afterChange(done, engine, context);
  await engine.doDue(); // run due jobs now, not with the next command
  return 0;
}

/** Reads an id and a text: from the command line, from a file, or from stdin as `-`. */
async function readIdAndText(
  [name, ...words]: readonly string[],
  file: string | undefined,
  { usage, what }: { usage: string; what: string },
  context: Context,
): Promise<{ name: string; text: string }> {
  if (name === undefined) throw wrongUsage("The id of a question is missing", usage);
  if (words.length > 1) throw wrongUsage(`Put the ${what} in quotes`, usage);
  const source = file ?? (words[0] === "-" ? "-" : undefined);
  if (source !== undefined && file !== undefined && words.length > 0) {
    throw wrongUsage(`Give the ${what} once: as an argument or in a file`, usage);
  }
  if (source === "-") return { name, text: await context.stdin.readAll(TEXT_BYTES) };
  if (source !== undefined) return { name, text: await readFileArg(source, context) };
  if (words[0] === undefined) throw wrongUsage(`The ${what} is missing`, usage);
  return { name, text: words[0] };
}

/** Reads an id and a time, which is an hour unless it is given. */
function readIdAndTime([name, time = DEFAULT_DURATION, more]: readonly string[], usage: string) {
  if (name === undefined) throw wrongUsage("The id of a question is missing", usage);
  if (more !== undefined) throw wrongUsage(`Unexpected argument "${more}"`, usage);
  return { name, time };
}

/** The output of `askd undo`. */
function sayUndone(done: QuestionSnapshot, _now: Instant, program: string): string {
  const next = `Answer it: ${program} answer ${answerArgument(done)} ${exampleAnswer(done)}`;
  return lines(`The answer to ${about(done)} is taken back; the question waits again`, next);
}

/** The output of `askd amend`: whether and when the agent gets the correction. */
function sayAmended(done: QuestionSnapshot, now: Instant, program: string, away?: readonly string[]): string {
  const { run, question } = done;
  const said = oneLine(question.amendments.at(-1)?.text ?? "");
  const head = `Correction recorded for ${refOf(run)} ${oneLine(run.name)} (${shortId(question.id)}): ${said}`;
  if (hasEnded(run)) {
    const ended = run.endedAt ? `${run.status} ${sayAgo(run.endedAt, now)}` : run.status;
    const mayResume = run.giveBack === "worker" && run.status !== "cancelled" && !run.isForgotten;
    const next = mayResume ? ` It goes along when the run is resumed: ${program} ${wayToResume(done)}` : "";
    return lines(head, `Not delivered: the run ${ended}.${next}`);
  }
  if (away) return lines(head, ...away);
  if (isAnswerHeldBack(run)) {
    return lines(
      head,
      `The agent receives it with the answer, when the run is resumed: ${program} runs resume ${run.number}`,
    );
  }
  if (run.status !== "resuming") return lines(head, "The agent receives it with the next answer, or when it stops");
  return run.giveBack === "worker"
    ? lines(head, `${sayAgent(run.agent)} receives it when it resumes. Follow: ${program} logs ${run.number} -f`)
    : lines(head, "It is delivered with the answer");
}

/** A run that ended because nobody answered is resumed only by an answer or a correction. */
function wayToResume({ run, question }: QuestionSnapshot): string {
  return run.reason === "input_timeout" ? `amend ${shortId(question.id)} "…" --resume` : `runs resume ${run.number}`;
}

/** The output of `askd claim`. */
function sayClaimed(done: QuestionSnapshot, now: Instant, program: string): string {
  const back = `Release it: ${program} release ${argumentOf(done.run)}`;
  return lines(`${about(done)} is yours: ${oneLine(done.question.title)}`, `${stillDue(done, now)}. ${back}`);
}

/** The output of `askd release`. */
function sayReleased(done: QuestionSnapshot, now: Instant): string {
  return lines(`${about(done)} is released`, stillDue(done, now));
}

/** The output of `askd assign`. */
function sayAssigned(done: QuestionSnapshot, now: Instant): string {
  return lines(`${about(done)} is assigned to ${names(done)}; it is unclaimed now`, stillDue(done, now));
}

/** The output of `askd snooze`. */
function saySnoozed(done: QuestionSnapshot, now: Instant, ahead: ClockOffset): string {
  const until = done.question.snoozedUntil ?? now;
  const left = formatDuration(msBetween(now, until));
  return lines(
    `${about(done)} is snoozed until ${sayClock(until, now, ahead)} (in ${left}): no reminders`,
    stillDue(done, now),
  );
}

/** The output of `askd extend`. */
function sayExtended({ run, question, content }: QuestionSnapshot, now: Instant, ahead: ClockOffset): string {
  const due = question.dueAt ?? now;
  const clock = `${sayClock(due, now, ahead)} (in ${formatDuration(msBetween(now, due))})`;
  return lines(`${about({ run, question })} is due ${clock}, then ${sayThen(question, content)}`);
}

/** The output of `askd comment`. */
function sayCommented(done: QuestionSnapshot, _now: Instant, program: string): string {
  return lines(
    `Comment ${done.question.comments.length} added to ${about(done)}`,
    `People see it, the agent does not. See all: ${program} show ${argumentOf(done.run)}`,
  );
}

/** The output of `askd escalate`. */
function sayEscalated(done: QuestionSnapshot, now: Instant): string {
  const { question } = done;
  const steps = question.onTimeout.steps?.length ?? question.escalated;
  return lines(
    `${about(done)} is escalated to ${names(done)} (step ${question.escalated} of ${steps})`,
    stillDue(done, now),
  );
}

function lines(head: string, ...next: readonly string[]) {
  return `✓ ${head}\n${next.map((line) => `  ${line}\n`).join("")}`;
}

/** `q-7k3f of #42 add-caching` */
function about({ run, question }: Pick<QuestionSnapshot, "run" | "question">) {
  return `${shortId(question.id)} of ${refOf(run)} ${oneLine(run.name)}`;
}

function names({ question }: QuestionSnapshot) {
  return question.to.length > 0 ? question.to.map(oneLine).join(", ") : "everybody";
}

function stillDue(done: QuestionSnapshot, now: Instant) {
  const due = sayDue(done, now);
  return due ? `Still ${due}` : "It has no deadline";
}
