import { access } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import { findAgent } from "../../../agents/agents.ts";
import { findChanged } from "../../../agents/runner/local-run.ts";
import { runDirOf } from "../../../agents/runner/run-files.ts";
import { type WayOn, sayTakeover } from "../../../agents/runner/takeover.ts";
import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { Read } from "../../../core/changes.ts";
import { recommendedOption } from "../../../core/question/content.ts";
import { tellAgent } from "../../../core/run/agent-message.ts";
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

/** What of a run is wanted beyond its page. */
export interface Wish {
  diff?: boolean | undefined;
  log?: boolean | undefined;
  "agent-view"?: boolean | undefined;
}

/** A further block of the page, and the same for programs. */
export interface More {
  blocks: ReadonlyArray<{ heading: string; lines: readonly string[] }>;
  fields: object;
}

/** What this machine knows of a run that waits for a person. */
interface Evidence {
  /** How much is done. */
  work?: string | undefined;
  /** How to go on by hand. */
  takeover?: string | undefined;
  /** What to do about an answer that nobody has taken. */
  wayOn?: WayOn | undefined;
}

/** Looks at the work of a run that waits for an answer, or for a person to take one to its agent. */
export async function findEvidence(run: Run, context: Context): Promise<Evidence> {
  if (run.pendingId === undefined) return { wayOn: await findWayOnHere(run, context) };
  const work = await findChanged(run, await context.host(), { isStat: true });
  const takeover = await findTakeoverHere(run, context);
  return {
    work: work && sayWork(work),
    takeover: takeover && sayTakeover({ ...takeover, dir: nearDir(takeover.dir, context.cwd) }),
  };
}

/** A directory as it is called from another: shorter where it lies below. */
function nearDir(dir: string, from: string): string {
  const near = relative(from, dir);
  return near === "" || near.startsWith("..") || isAbsolute(near) ? dir : near;
}

/** The diff, the end of the log and what the agent gets, as far as they were asked for. */
export async function readMore(
  read: { run: Run; last: Read | undefined },
  wish: Wish,
  at: { engine: Engine; context: Context },
): Promise<More> {
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
  const work = await findChanged(run, await context.host(), { isStat: false });
  const lines = work ? renderWork(work, context.style) : ["(cannot be seen from here)"];
  return {
    heading: "WORK SO FAR:",
    lines: lines.length > 0 ? lines : ["(nothing is changed)"],
    fields: { diff: work?.diff ?? null, new_files: work?.untracked ?? [] },
  };
}

/** The last lines of what the agent did. */
async function readLog(run: Run, context: Context) {
  const runDir = runDirOf(context.place.stateDir, run.id);
  const isThere = await access(runDir).then(
    () => true,
    () => false,
  );
  let lines: string[] = [];
  const log = new RunLog({
    ...{ runDir, kind: "out", agent: findAgent(run.agent), style: styleFor("off") },
    write: (text) => {
      const more = text.split("\n").slice(0, -1);
      lines = [...lines, ...more.slice(-LOG_LINES)].slice(-LOG_LINES);
    },
  });
  if (isThere) await log.end();
  const shown = lines.length > 0 ? lines : [isThere ? "(nothing yet)" : "(not on this machine)"];
  return { heading: `LOG (last ${LOG_LINES} lines):`, lines: shown, fields: { log: lines } };
}

/** What the agent is told: of an answer that was given, or of one that would be. */
async function readAgentView(last: Read | undefined, engine: Engine, context: Context) {
  if (!last) return { heading: "WHAT THE AGENT GETS:", lines: ["(it has asked nothing)"], fields: { agentView: null } };
  const text = isPending(last.question)
    ? await engine.preview(last.question.id, exampleInput(last), await whoTypes(engine, context))
    : tellAgent({ delimiter: "answer", reads: [last] });
  return { heading: "WHAT THE AGENT GETS:", lines: sanitise(text).split("\n"), fields: { agentView: text } };
}

function exampleInput({ content }: Read): AnswerInput {
  const items = content.items.map((item) => {
    const option = recommendedOption(item) ?? item.options[0];
    return [item.id, option ? { values: [option.value] } : { values: [], text: EXAMPLE }] as const;
  });
  return AnswerInput.parse({ items: Object.fromEntries(items), confirmed: true });
}
