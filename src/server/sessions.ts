import { type Context, Hono } from "hono";
import { z } from "zod";
import { AnswerInput } from "../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../core/changes.ts";
import type { KeptEvent } from "../core/trail/event.ts";
import { QuestionId, RunId, shortId } from "../core/id.ts";
import { runAfterAnswer, findAwayMachine } from "../core/run/machine.ts";
import { Refusal } from "../core/refusal.ts";
import { type Run, findAgentSession, isAgentAlive, isAnswerUntaken } from "../core/run/run.ts";
import { viewCheck } from "../core/api/view.ts";
import { readMachines } from "../engine/machines.ts";
import type { NameReference } from "../store/store.ts";
import type { RouteGroup } from "./app.ts";
import { readJson } from "./body.ts";
import type { SignedIn } from "./credential.ts";
import { sayEvent } from "./events/live.ts";
import { type RestCall, callOf, ownsRun, recordTried, requireScope } from "./rest/rest-call.ts";
import { type RestDeps, limitRequests } from "./rest/routes.ts";

const CANDIDATES = 20;
const PEOPLE = ["human", "admin"] as const;
const AnswerBody = z.object({ question_id: QuestionId, answer: z.string() });

/** The routes of a frontend that knows sessions: a run by its id, number, external or session id. */
export function sessionsPart(deps: RestDeps): RouteGroup {
  const app = new Hono<SignedIn>();
  app.use("/sessions/*", limitRequests(deps));
  const call = (context: Context<SignedIn>) => callOf(context, deps);
  app.get("/sessions/:id", async (context) => {
    const run = await getRun(call(context), context.req.param("id"));
    return context.json(await viewSession(call(context), run));
  });
  app.get("/sessions/:id/pending-question", async (context) => {
    const run = await getRun(call(context), context.req.param("id"));
    return context.json(await viewPending(call(context), run));
  });
  app.post("/sessions/:id/answer", (context) => answer(context, call(context)));
  app.post("/sessions/:id/task", (context) => resume(context, call(context)));
  app.get("/sessions/:id/events", async (context) => {
    const run = await getRun(call(context), context.req.param("id"));
    const sees = ({ event }: KeptEvent) => event.runId === run.id && event.type in ALIASES;
    return deps.live.reply(context, sees, (kept) => sayAlias(call(context), kept));
  });
  return { path: "/", signed: app };
}

async function answer(context: Context<SignedIn>, call: RestCall) {
  const run = await getRun(call, context.req.param("id") ?? "");
  if (call.bearer.scope === "agent" && run.pendingId) await recordTried(call, "answer", run.pendingId);
  requireScope(call.bearer, PEOPLE);
  const body = AnswerBody.safeParse(await readJson(context));
  if (!body.success) throw new Refusal("bad_input", 'Send {"question_id": "q_…", "answer": "…"}');
  const before = await call.engine.read(body.data.question_id);
  if (before.run.id !== run.id) {
    throw new Refusal("not_found", `Session ${run.number} has no question ${shortId(body.data.question_id)}`);
  }
  const { run: after } = await call.engine.answer(
    before.question.id,
    AnswerInput.parse({ answer: body.data.answer, undoMs: call.rules.undoMs.api }),
    call.by,
  );
  const wasParked = !isAgentAlive(before.run);
  const away = await findAwayFrom(call, runAfterAnswer(after));
  const message = !wasParked
    ? "Answer stored; the agent was waiting for it"
    : isAnswerUntaken(after)
      ? "Answer stored; the session gets it when it asks again"
      : away
        ? `Answer stored; the session resumes when ${away.name} is back`
        : "Answer stored; the session resumes";
  return context.json({ success: true, message, can_resume: wasParked });
}

/** The answer resumes a session by itself; asking for it again does no harm, but a question comes first. */
async function resume(context: Context<SignedIn>, call: RestCall) {
  requireScope(call.bearer, PEOPLE);
  const run = await getRun(call, context.req.param("id") ?? "");
  const isGoing = run.pendingId === undefined && (isAgentAlive(run) || run.status === "resuming");
  const after = isGoing ? run : await call.engine.resumeRun(run.id, call.by);
  const away = await findAwayFrom(call, after);
  const message = `The session is ${wordFor(after)}${away ? `, and waits for ${away.name}` : ""}`;
  return context.json({ success: true, message, status: wordFor(after) });
}

/** The machine that the session waits for and that is away. */
async function findAwayFrom({ engine, here }: RestCall, run: Run) {
  return findAwayMachine(run, await readMachines(engine, [run], here?.()));
}

/** The run of that name; of several, the one that waits, else the newest. */
async function getRun(call: RestCall, name: string) {
  for (const ref of refsOf(name)) {
    const runs =
      typeof ref === "string" ? [await call.engine.findRun(ref)] : (await call.engine.lookUp(ref, CANDIDATES)).runs;
    const owned: Run[] = [];
    for (const run of runs) if (run && (await ownsRun(call, run.id))) owned.push(run);
    const found = owned.find((run) => run.pendingId !== undefined) ?? owned[0];
    if (found) return found;
  }
  throw new Refusal("not_found", "There is no such session");
}

function refsOf(name: string): Array<RunId | NameReference> {
  const id = RunId.safeParse(name);
  if (id.success) return [id.data];
  const number: NameReference[] = /^\d{1,15}$/.test(name) ? [{ by: "number", number: Number(name) }] : [];
  return [...number, { by: "external", text: name }, { by: "session", text: name }];
}

async function viewSession(call: RestCall, run: Run): Promise<object> {
  return {
    id: run.id,
    session_id: findAgentSession(run) ?? run.id,
    number: run.number,
    name: run.name,
    status: wordFor(run),
    reason: run.reason ?? null,
    created_at: run.createdAt,
    pending_question: await viewPending(call, run),
    last_question: run.lastQuestionId ? viewRecord(run, await call.engine.read(run.lastQuestionId)) : null,
  };
}

/** A question as sessions keep it: one whose deadline has passed is `expired`. */
function viewRecord(run: Run, read: QuestionSnapshot): object {
  const { status, answer, answered_at: answeredAt } = viewCheck(read);
  return {
    question_id: read.question.id,
    session_id: findAgentSession(run) ?? run.id,
    questions: questionsOf(read),
    answer: answer ?? null,
    status: status === "timeout" ? "expired" : status,
    created_at: read.question.askedAt,
    answered_at: answeredAt ?? null,
    expires_at: read.question.dueAt ?? null,
  };
}

async function viewPending({ engine }: RestCall, run: Run): Promise<object | null> {
  if (run.pendingId === undefined) return null;
  const read = await engine.read(run.pendingId);
  if (read.question.status !== "pending") return null;
  return {
    question_id: read.question.id,
    session_id: findAgentSession(run) ?? run.id,
    questions: questionsOf(read),
    status: read.question.status,
    created_at: read.question.askedAt,
    expires_at: read.question.dueAt ?? null,
  };
}

/** A parked run waits for input; a held one still runs. */
function wordFor(run: Run) {
  return run.status === "awaiting_input" ? "waiting_for_input" : run.status;
}

function questionsOf({ content }: QuestionSnapshot) {
  return content.items.map(({ text, header, options, multiple }) => ({
    question: text,
    header: header ?? "",
    options: options.map(({ label, description }) => ({ label, description: description ?? "" })),
    multiSelect: multiple,
  }));
}

const ALIASES: Readonly<Record<string, "question_pending" | "question_answered">> = {
  "question.asked": "question_pending",
  "question.answered": "question_answered",
  "question.forced": "question_answered",
};

async function sayAlias({ engine }: RestCall, { event, cursor }: KeptEvent) {
  const type = ALIASES[event.type];
  if (type === undefined || event.questionId === undefined) return undefined;
  const read = await engine.read(event.questionId);
  const data =
    type === "question_pending"
      ? { question_id: event.questionId, questions: questionsOf(read) }
      : { question_id: event.questionId, answer: viewCheck(read).answer ?? null };
  return sayEvent(cursor, type, { type, data });
}
