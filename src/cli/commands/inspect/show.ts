import { access } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import { viewSimilar } from "../../../core/api/memory-reply.ts";
import { viewDelivery } from "../../../core/api/reach-route.ts";
import { type DeliveryStatus, firstNotifiedAt } from "../../../core/channel/delivery/delivery-status.ts";
import { type Content, recommendedOption } from "../../../core/question/content.ts";
import type { QuestionId } from "../../../core/id.ts";
import { findAwayMachine } from "../../../core/run/machine.ts";
import { answerText } from "../../../core/answer/match.ts";
import { type Question, findAnswer, isPending } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Run } from "../../../core/run/run.ts";
import { USAGE_FIELDS, viewUsage } from "../../../core/run/usage.ts";
import { RUN_FIELDS, viewQuestion, viewRun } from "../../../core/api/view.ts";
import type { Engine } from "../../../engine/engine.ts";
import { findAgent } from "../../../agents/registry.ts";
import { findChangedFiles } from "../../../agents/runner/local-run.ts";
import { runDirOf } from "../../../agents/runner/run-files.ts";
import { type ResumeAdvice, takeoverCommand } from "../../../agents/runner/takeover.ts";
import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { answerMessage } from "../../../core/run/agent-message.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { requireOneArgument } from "../../arguments.ts";
import { machinesFor } from "../../view/machine-view.ts";
import { printResult } from "../../output.ts";
import { getRun } from "../../find-target.ts";
import { textWidth, styleFor } from "../../terminal/terminal.ts";
import { readUsage } from "../../run-usage.ts";
import { whoTypes } from "../../actor.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { readAgentTries } from "../../view/agent-tries.ts";
import { sanitise } from "../../view/sanitise.ts";
import { renderWork, sayWork } from "../../view/work-view.ts";
import { RunLog } from "../run/run-log.ts";
import { findTakeoverHere, findWayOnHere } from "../run/takeover.ts";
import { type ShowView, renderShow } from "./show-view.ts";

const MOST_SHOWN = 100;
const MOST_SIMILAR = 3;
const flags = {
  diff: { type: "boolean", about: "Also show the agent's changes" },
  log: { type: "boolean", about: "Also show the end of its log" },
  "agent-view": { type: "boolean", about: "Also show the message that the agent receives with an answer" },
  web: { type: "boolean", about: "Open it in the browser instead" },
} as const satisfies Flags;

export const SHOW_FIELDS: readonly string[] = [
  ...RUN_FIELDS,
  ...USAGE_FIELDS,
  "questions",
  "question",
  "questionContext",
  "humanResponse",
  "humanRespondedAt",
  "similar",
  "diff",
  "new_files",
  "log",
  "agent_view",
  "resume_command",
];

const LOG_LINES = 40;
const EXAMPLE = "(your answer)";

/** The details to show beyond the page of a run. */
interface ShowRequest {
  diff?: boolean | undefined;
  log?: boolean | undefined;
  "agent-view"?: boolean | undefined;
}

/** Additional blocks of the page, and the same as JSON fields. */
interface ShowDetails {
  blocks: ReadonlyArray<{ heading: string; lines: readonly string[] }>;
  fields: object;
}

/** Facts about a waiting run that only this machine knows. */
interface RunEvidence {
  /** The size of the work so far. */
  work?: string | undefined;
  /** The command to continue by hand. */
  takeover?: string | undefined;
  /** How to deliver an answer that no worker can deliver. */
  wayOn?: ResumeAdvice | undefined;
}

export const command: Command<typeof flags> = {
  usage: "show <id> [--diff] [--log] [--agent-view] [--web]",
  isLong: () => true,
  flags,
  fields: SHOW_FIELDS,
  examples: ["askd show 42", "askd show q-7k3f --diff", "askd show 42 --agent-view", "askd show 42 --web"],
  isLooking: () => true,
  async run(args, context) {
    const engine = await context.engine();
    const name = requireOneArgument(args.positionals, command.usage);
    if (args.flags.web) {
      const { openPage, pathOf } = await import("../service/open.ts");
      return openPage(await pathOf(engine, name), { isPrinted: false }, engine, context);
    }
    await replaceLostWorker(engine, context);
    await showRun(await getRun(engine, name), engine, context, { lines: [], fields: {}, wish: args.flags });
    return 0;
  },
};

/** More facts and details that the caller adds to the page of a run. */
interface ShowMore {
  lines: ShowView["more"];
  fields: object;
  wish?: ShowRequest;
}

/** Prints a run with its questions. */
export async function showRun(
  run: Run,
  engine: Engine,
  context: Context,
  more: ShowMore = { lines: [], fields: {} },
): Promise<void> {
  const newest = await engine.listQuestions({ runId: run.id, order: "newest", limit: MOST_SHOWN });
  const questions = await engine.readMany(newest.toReversed().map(({ id }) => id));
  const usage = (await readUsage(engine, [run])).get(run.id);
  const similar = run.pendingId === undefined ? [] : await readSimilar(engine, run.pendingId);
  const deliveries = await readDeliveries(engine, questions);
  const news = run.deliveries === undefined ? [] : await ifPermitted(() => engine.listRunDeliveries(run.id));
  const evidence = await findRunEvidence(run, context);
  const agentTries = await readAgentTries(engine, run);
  const read = await readShowDetails({ run, last: questions.at(-1) }, more.wish ?? {}, { engine, context });
  const machines = await machinesFor(engine, [run], context);
  const isCarried = findAwayMachine(run, machines) !== undefined && (await hasSession(run, context));
  const { ahead, program } = context;
  const place = { now: await engine.now(), ahead, program, width: textWidth(context.stdout.columns) };
  printResult(context, [...SHOW_FIELDS, ...Object.keys(more.fields)], {
    page: () => {
      const known = {
        ...place,
        usage,
        similar,
        deliveries: [...(deliveries.get(run.pendingId ?? questions.at(-1)?.question.id ?? "") ?? []), ...news],
        machines,
        isCarried,
        agentTries,
        ...evidence,
        wayOn: evidence.wayOn?.line,
        blocks: read.blocks,
        more: more.lines ?? [],
      };
      return renderShow({ ...known, run, questions }, context.style);
    },
    json: () => ({
      ...viewRun(run, machines),
      ...viewUsage(usage),
      ...more.fields,
      ...read.fields,
      deliveries: news.map(viewDelivery),
      resume_command: evidence.wayOn?.command ?? evidence.takeover ?? null,
      questions: questions.map((each) => ({
        ...viewQuestion(each, machines),
        ...viewTold(deliveries.get(each.question.id) ?? []),
      })),
      ...viewLast(questions.at(-1)),
      similar: similar.map(viewSimilar),
    }),
  });
}

/** Says whether the session of a run of another machine is here. */
async function hasSession(run: Run, { agents, place, env }: Context) {
  const { findSessionCopy } = await import("../../../agents/runner/session-copy.ts");
  const found = await findSessionCopy(run, { agents: await agents(), stateDir: place.stateDir, env });
  return "has" in found && found.has === "session";
}

/** Similar past answers; none for callers who may not see them. */
function readSimilar(engine: Engine, id: QuestionId) {
  return ifPermitted(() => engine.findSimilar(id, MOST_SIMILAR));
}

/** The messages about each question; none for callers who may not see them. */
async function readDeliveries(engine: Engine, questions: readonly QuestionSnapshot[]) {
  const told = questions.filter(({ question }) => (question.deliveries ?? []).length > 0);
  const rows = told.map(
    async ({ question: { id } }) => [id, await ifPermitted(() => engine.listDeliveries(id))] as const,
  );
  return new Map<string, DeliveryStatus[]>(await Promise.all(rows));
}

function viewTold(deliveries: readonly DeliveryStatus[]) {
  return { notified_at: firstNotifiedAt(deliveries) ?? null, deliveries: deliveries.map(viewDelivery) };
}

async function ifPermitted<Row>(read: () => Promise<Row[]>): Promise<Row[]> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal && error.code === "not_permitted") return [];
    throw error;
  }
}

/** The latest question and answer with the field names of task managers. */
function viewLast(last: { question: Question; content: Content } | undefined) {
  if (!last) return {};
  const answer = findAnswer(last.question);
  return {
    question: last.question.title,
    questionContext: last.content.context ?? null,
    humanResponse: answer ? answerText(last.content, answer.items) : null,
    humanRespondedAt: answer?.at ?? null,
  };
}

/** Reads the work of a run that waits for an answer, or for a person to deliver one. */
async function findRunEvidence(run: Run, context: Context): Promise<RunEvidence> {
  if (run.pendingId === undefined) return { wayOn: await findWayOnHere(run, context) };
  const work = await findChangedFiles(run, await context.host(), { isStat: true });
  const takeover = await findTakeoverHere(run, context);
  return {
    work: work && sayWork(work),
    takeover: takeover && takeoverCommand({ ...takeover, dir: nearDir(takeover.dir, context.cwd) }),
  };
}

/** The path of a directory seen from another: relative if it is below. */
function nearDir(dir: string, from: string) {
  const near = relative(from, dir);
  return near === "" || near.startsWith("..") || isAbsolute(near) ? dir : near;
}

/** Reads the requested details: the diff, the end of the log, the message to the agent. */
async function readShowDetails(
  read: { run: Run; last: QuestionSnapshot | undefined },
  wish: ShowRequest,
  at: { engine: Engine; context: Context },
): Promise<ShowDetails> {
  const found = [
    ...(wish.diff ? [await readDiff(read.run, at.context)] : []),
    ...(wish.log ? [await readLog(read.run, at.context)] : []),
    ...(wish["agent-view"] ? [await readAgentView(read.last, at.engine, at.context)] : []),
  ];
  return {
    blocks: found.map(({ heading, lines }) => ({ heading, lines })),
    fields: Object.fromEntries(found.flatMap(({ fields }) => Object.entries(fields))),
  };
}

async function readDiff(run: Run, context: Context) {
  const work = await findChangedFiles(run, await context.host(), { isStat: false });
  const lines = work ? renderWork(work, context.style) : ["(not available on this machine)"];
  return {
    heading: "WORK SO FAR:",
    lines: lines.length > 0 ? lines : ["(no changes)"],
    fields: { diff: work?.diff ?? null, new_files: work?.untracked ?? [] },
  };
}

/** The last lines of the log. */
async function readLog(run: Run, context: Context) {
  const runDir = runDirOf(context.place.stateDir, run.id);
  const isThere = await access(runDir).then(
    () => true,
    () => false,
  );
  let lines: string[] = [];
  const log = new RunLog({
    runDir,
    kind: "out",
    agent: findAgent(await context.agents(), run.agent),
    style: styleFor("off"),
    write: (text) => {
      const more = text.split("\n").slice(0, -1);
      lines = [...lines, ...more.slice(-LOG_LINES)].slice(-LOG_LINES);
    },
  });
  if (isThere) await log.end();
  const shown = lines.length > 0 ? lines : [isThere ? "(nothing yet)" : "(not on this machine)"];
  return { heading: `LOG (last ${LOG_LINES} lines):`, lines: shown, fields: { log: lines } };
}

/** The message to the agent, for the given answer or for an example. */
async function readAgentView(last: QuestionSnapshot | undefined, engine: Engine, context: Context) {
  if (!last) return { heading: "WHAT THE AGENT GETS:", lines: ["(it has asked nothing)"], fields: { agentView: null } };
  const text = isPending(last.question)
    ? await engine.preview(last.question.id, exampleInput(last), await whoTypes(engine, context))
    : answerMessage({ delimiter: "answer", reads: [last] });
  return { heading: "WHAT THE AGENT GETS:", lines: sanitise(text).split("\n"), fields: { agentView: text } };
}

function exampleInput({ content }: QuestionSnapshot) {
  const items = content.items.map((item) => {
    const option = recommendedOption(item) ?? item.options[0];
    return [item.id, option ? { values: [option.value] } : { values: [], text: EXAMPLE }] as const;
  });
  return AnswerInput.parse({ items: Object.fromEntries(items), confirmed: true });
}
