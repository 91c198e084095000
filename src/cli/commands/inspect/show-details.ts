import { access } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import { findAgent } from "../../../agents/registry.ts";
import { findChangedFiles } from "../../../agents/runner/local-run.ts";
import { runDirOf } from "../../../agents/runner/run-files.ts";
import { type ResumeAdvice, takeoverCommand } from "../../../agents/runner/takeover.ts";
import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { recommendedOption } from "../../../core/question/content.ts";
import { answerMessage } from "../../../core/run/agent-message.ts";
import { isPending } from "../../../core/question/question.ts";
import type { Run } from "../../../core/run/run.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoTypes } from "../../actor.ts";
import type { Context } from "../../context.ts";
import { RunLog } from "../run/run-log.ts";
import { sanitise } from "../../view/sanitise.ts";
import { findTakeoverHere, findWayOnHere } from "../run/takeover.ts";
import { styleFor } from "../../terminal/terminal.ts";
import { renderWork, sayWork } from "../../view/work-view.ts";

const LOG_LINES = 40;
const EXAMPLE = "(your answer)";

/** The details to show beyond the page of a run. */
export interface ShowRequest {
  diff?: boolean | undefined;
  log?: boolean | undefined;
  "agent-view"?: boolean | undefined;
}

/** Additional blocks of the page, and the same as JSON fields. */
export interface ShowDetails {
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

/** Reads the work of a run that waits for an answer, or for a person to deliver one. */
export async function findRunEvidence(run: Run, context: Context): Promise<RunEvidence> {
  if (run.pendingId === undefined) return { wayOn: await findWayOnHere(run, context) };
  const work = await findChangedFiles(run, await context.host(), { isStat: true });
  const takeover = await findTakeoverHere(run, context);
  return {
    work: work && sayWork(work),
    takeover: takeover && takeoverCommand({ ...takeover, dir: nearDir(takeover.dir, context.cwd) }),
  };
}

/** The path of a directory seen from another: relative if it is below. */
function nearDir(dir: string, from: string): string {
  const near = relative(from, dir);
  return near === "" || near.startsWith("..") || isAbsolute(near) ? dir : near;
}

/** Reads the requested details: the diff, the end of the log, the message to the agent. */
export async function readShowDetails(
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

function exampleInput({ content }: QuestionSnapshot): AnswerInput {
  const items = content.items.map((item) => {
    const option = recommendedOption(item) ?? item.options[0];
    return [item.id, option ? { values: [option.value] } : { values: [], text: EXAMPLE }] as const;
  });
  return AnswerInput.parse({ items: Object.fromEntries(items), confirmed: true });
}
