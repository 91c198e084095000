import type { Actor } from "../../core/people/actor.ts";
import { callKey } from "../../core/door/call-key.ts";
import type { AskInput } from "../../core/question/ask-input.ts";
import { fingerprintOf } from "../../core/question/approval.ts";
import { hashContent, hashText } from "../../core/question/content.ts";
import { type RunId, QuestionId } from "../../core/id.ts";
import { ONE_ASK_PREFIX, type Run } from "../../core/run/run.ts";
import type { AskOptions, Engine } from "../../engine/engine.ts";
import { requireOwnRun, readOwn } from "../rest/rest-call.ts";
import { type McpCaller, type ToolCall, metaText } from "./caller.ts";
import { requireAccess } from "../../core/people/access.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { quoteLine } from "../../core/text/foreign-text.ts";
import { Refusal } from "../../core/refusal.ts";

const RUNS_OF_A_SESSION = 10;

/** The agent behind a call: its name, its run if it has one by now, its session. */
export interface Asker {
  by: Actor;
  /** The same, with no other run than the one that its token or its starter named: what it asked elsewhere is its own. */
  owner: Actor;
  run: Run | undefined;
  session: string | undefined;
  /** The run whose agent started this client, where the client says nothing of it: what is asked is part of that run. */
  above: RunId | undefined;
  /** Whether the client, or whoever started it, names where it asks from: another connection is then the same session. */
  isNamed: boolean;
  /** The client's own name for this call; the same name is the same ask. */
  key: string | undefined;
}

/**
 * Finds out who asks: the run that it was started for, else the run of its session. A run that a header or a session
 * names has to belong to the token: naming one proves nothing.
 */
export async function askerOf({ caller, context, profile, deps }: ToolCall): Promise<Asker> {
  const { names, agent } = profile;
  const named = metaText(context, names.sessionMeta) ?? (names.sessionEnv && caller.env[names.sessionEnv]);
  const session = named ?? caller.session;
  const run = caller.runId
    ? await deps.engine.findRun(caller.runId)
    : session === undefined
      ? undefined
      : await findSessionRun(deps.engine, { session, agent, host: caller.host });
  const runId = caller.runId ?? run?.id;
  const { bearer } = caller;
  const above = await findUnsaidRun(caller);
  const isNamed = named !== undefined || caller.runId !== undefined;
  // A connection over stdio is of one process, and its own session cannot be another agent's.
  if (run && (isNamed || caller.transport === "http") && !isPartOf(run, above)) throw noSuchQuestion();
  if (bearer && runId) await requireOwnRun({ engine: deps.engine, bearer }, runId, "ask");
  const id = bearer?.scope === "agent" ? bearer.id : agent;
  const owner = { scope: "agent", id, channel: "mcp", strength: "none", runId: caller.runId } as const;
  const call = metaText(context, names.callMeta);
  return {
    by: { ...owner, runId },
    owner,
    run,
    session,
    above,
    isNamed,
    key: session === undefined || call === undefined ? call : callKey(session, call),
  };
}

/** The run of an agent that hides it, or uses a person's credential. */
async function findUnsaidRun({ transport, runId, bearer, findRunAbove }: McpCaller): Promise<RunId | undefined> {
  // The run that a starter names was compared with the processes; a token of an agent is checked by itself.
  const isProven = (transport === "stdio" && runId !== undefined) || bearer?.scope === "agent";
  return isProven ? undefined : findRunAbove?.();
}

/** Says whether a run is that one or a child of it. */
function isPartOf(run: Pick<Run, "id" | "parentId">, whole: RunId | undefined) {
  return whole === undefined || run.id === whole || run.parentId === whole;
}

function noSuchQuestion() {
  return new Refusal("not_found", "There is no such question", { hint: "Name a question or a run of your own" });
}

/** Which start of the agent this is, where askd started it. */
export function ownEpoch({ runId, env }: Pick<McpCaller, "runId" | "env">): number | undefined {
  const epoch = runId === undefined ? Number.NaN : Number(env["ASKD_EPOCH"] || Number.NaN);
  return Number.isInteger(epoch) ? epoch : undefined;
}

/** Where this ask belongs: a run that is there, or one that is made for the session or for the ask. */
export async function askOptions(call: ToolCall, asker: Asker, input: AskInput): Promise<AskOptions> {
  const { caller, profile, deps } = call;
  const { secrets, host } = caller;
  const session = asker.session ?? keyedSession(caller, input);
  const isNew = asker.session === undefined && asker.run === undefined && session !== undefined;
  const found = isNew ? await findSessionRun(deps.engine, { session, agent: profile.agent, host }) : asker.run;
  const runId: RunId | undefined = caller.runId ?? found?.id;
  const epoch = ownEpoch(caller);
  // Of an agent that a worker starts, the worker knows better what is there.
  const seen = found?.giveBack === "worker" || caller.runId ? undefined : caller.seen;
  const common = { secrets, holder: deps.holders.own, seen };
  if (runId) return { ...common, runId, epoch };
  return {
    ...common,
    run: {
      agent: profile.agent,
      host,
      giveBack: "poll",
      parentId: asker.above,
      session,
      dir: caller.dir || undefined,
    },
  };
}

/** Names who asks what, where a client names no session: the same words from the same place are the same ask. */
export function nameAsk({ caller, profile }: ToolCall, input: AskInput): string {
  const { principal, dir = "", host } = caller;
  const words = input.tool ? fingerprintOf(input.tool) : hashContent(input);
  return hashText([principal, dir, host, profile.agent, words].join("\n"));
}

/** Without a session the key alone names the run. */
function keyedSession({ principal }: McpCaller, { key }: AskInput) {
  return key === undefined ? undefined : `${ONE_ASK_PREFIX}${hashText(`${principal}\n=${key}`)}`;
}

async function findSessionRun(
  engine: Engine,
  { session, agent, host }: { session: string; agent: string; host: string },
) {
  const { runs } = await engine.lookUp({ by: "session", text: session }, RUNS_OF_A_SESSION);
  return runs.find((run) => run.host === host && run.agent === agent);
}

/** The question of that id, if it belongs to the run that asks; without an id the one that run asked last. */
export async function getOwnQuestion(call: ToolCall, id: string | undefined): Promise<QuestionSnapshot> {
  const asker = await askerOf(call);
  const wanted = id ?? asker.run?.pendingId ?? asker.run?.lastQuestionId;
  if (wanted === undefined) {
    throw new Refusal("bad_input", "Which question? You have not asked any in this session", {
      hint: "Pass question_id as ask_human returned it",
    });
  }
  const parsed = QuestionId.safeParse(wanted.trim());
  // Short ids are for people: they authorise nothing.
  if (!parsed.success) {
    throw new Refusal("bad_input", `${quoteLine(wanted, 40)} is not the id of a question`, {
      hint: "Pass question_id as ask_human returned it: q_ and 26 characters",
    });
  }
  return readAsker(call, asker, parsed.data);
}

/** The question if the caller may read it: by its token, or by the run that it was started for. */
export async function readAsker(
  { caller, deps }: ToolCall,
  { owner, above, run }: Asker,
  id: QuestionId,
): Promise<QuestionSnapshot> {
  const { engine } = deps;
  const { bearer } = caller;
  if (bearer?.scope === "agent") return readOwn({ engine, bearer: owner }, id);
  const read = await engine.read(id);
  if (read.run.id !== run?.id && !isPartOf(read.run, above)) throw noSuchQuestion();
  if (caller.runId !== undefined) requireAccess("look", owner, read.question);
  return read;
}
