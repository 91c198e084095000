import { hash } from "node:crypto";
import type { Event } from "./event.ts";
import type { QuestionId } from "../id.ts";
import type { Instant } from "../instant.ts";
import { type Run, findAgentSession } from "../run/run.ts";

/** One span of an OpenTelemetry trace. */
export interface Span {
  traceId: string;
  spanId: string;
  parentId: string | undefined;
  name: string;
  startAt: Instant;
  endAt: Instant;
  attributes: Record<string, string | number>;
  /** A related span of the same trace, possibly hours apart. */
  linkedId: string | undefined;
  isError: boolean;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
const CLOSED: ReadonlySet<string> = new Set(["question.answered", "question.timed_out", "question.cancelled"]);
const RUN_ENDED: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.skipped", "run.cancelled"]);

/** Parses the trace and span an ask continues; undefined if malformed. */
export function parseTraceparent(text: string | null | undefined): { traceId: string; spanId: string } | undefined {
  const [, traceId, spanId] = TRACEPARENT.exec(text ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId };
}

/** Says whether an event may end a question, so that its spans can be built. */
export function endsQuestion(event: Event): boolean {
  return event.type === "question.given" || event.type === "question.cancelled" || RUN_ENDED.has(event.type);
}

/**
 * Builds the spans of every closed question of a run from its events alone. Ids are derived, so every process builds
 * the same spans.
 */
export function traceRun(run: Run, events: readonly Event[]): Map<QuestionId, Span[]> {
  const spans = new Map<QuestionId, Span[]>();
  for (const [index, asked] of events.entries()) {
    if (asked.type !== "question.asked" || asked.questionId === undefined) continue;
    const next = events.findIndex((event, at) => at > index && event.type === "question.asked");
    const rest = events.slice(index, next === -1 ? undefined : next);
    // The event of a run created by an ask comes before its question's.
    const before = events[index - 1];
    const lifetime = before?.type === "run.parked" && before.at === asked.at ? [before, ...rest] : rest;
    const made = traceQuestion(run, { asked, id: asked.questionId, lifetime });
    if (made) spans.set(asked.questionId, made);
  }
  return spans;
}

interface Lifetime {
  asked: Event;
  id: QuestionId;
  /** The events of the run from this ask to the next. */
  lifetime: readonly Event[];
}

function traceQuestion(run: Run, { asked, id, lifetime }: Lifetime): Span[] | undefined {
  const own = lifetime.filter((event) => event.questionId === id);
  const closed = own.find(({ type }) => CLOSED.has(type));
  const given = own.find(({ type }) => type === "question.given");
  const ended = lifetime.find(({ type }) => RUN_ENDED.has(type));
  const end = closed?.type === "question.cancelled" ? closed : (given ?? ended);
  if (!closed || !end) return undefined;
  const parent = parseTraceparent(text(asked, "trace"));
  const base = { traceId: parent?.traceId ?? digest(`trace ${run.id}`, 32), isError: false, linkedId: undefined };
  const whole: Span = {
    ...base,
    spanId: spanId(id, "ask"),
    parentId: parent?.spanId,
    name: "execute_tool ask_human",
    startAt: asked.at,
    endAt: end.at,
    isError: closed.type === "question.timed_out",
    attributes: attributesOf(run, { asked, id, closed }),
  };
  const part = (name: string, from: Event | undefined, to: Event | undefined): Span[] => {
    if (!from || !to) return [];
    const attributes = { "askd.question.id": id };
    const ids = { spanId: spanId(id, name), parentId: whole.spanId, name };
    return [{ ...base, ...ids, startAt: from.at, endAt: to.at, attributes }];
  };
  const parked = lifetime.find(({ to, type }) => isRun(type) && (to === "awaiting_input" || to === "deferred"));
  const unparked = after(lifetime, parked)?.find(({ type, from }) => isRun(type) && from === parked?.to);
  const resuming = lifetime.find(({ type }) => type === "run.resuming");
  const resumed = after(lifetime, resuming)?.find(({ type, from }) => isRun(type) && from === "resuming");
  const released = own.find(({ type }) => type === "question.parked") ?? closed;
  return [
    whole,
    ...part("hold", text(asked, "held") === undefined ? undefined : asked, released),
    ...part("park", parked, unparked ?? end).map((span) => ({ ...span, linkedId: whole.spanId })),
    ...part("resume", resuming, resumed ?? end),
  ];
}

/** Attributes by the GenAI conventions; never what was asked or answered. */
function attributesOf(
  run: Run,
  { asked, id, closed }: { asked: Event; id: QuestionId; closed: Event },
): Record<string, string | number> {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "ask_human",
    "gen_ai.tool.type": "function",
    "gen_ai.tool.call.id": text(asked, "key") ?? id,
    "gen_ai.conversation.id": findAgentSession(run) ?? run.id,
    "gen_ai.agent.name": run.agent,
    "askd.question.id": id,
    "askd.question.status": closed.to,
    "askd.run.id": run.id,
    "askd.run.number": run.number,
    ...(closed.type === "question.timed_out" && { "error.type": "timeout" }),
  };
}

function after(events: readonly Event[], event: Event | undefined): readonly Event[] | undefined {
  return event && events.slice(events.indexOf(event) + 1);
}

function isRun(type: string) {
  return type.startsWith("run.");
}

function spanId(id: QuestionId, name: string) {
  return digest(`${name} ${id}`, 16);
}

function digest(of: string, chars: number) {
  return hash("sha256", of, "hex").slice(0, chars);
}

function text({ detail }: Event, name: string) {
  const value = detail?.[name];
  return typeof value === "string" ? value : undefined;
}
