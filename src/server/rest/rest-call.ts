import type { Context } from "hono";
import { type AccessVerb, hasAccess } from "../../core/people/access.ts";
import { Actor, SYSTEM, agentActor, onBehalfOf, isElicited, weakerStrength } from "../../core/people/actor.ts";
import { BY_HEADER, type CallerScope } from "../../core/api/route.ts";
import { toArguments } from "../../core/api/argument.ts";
import {
  type DerivedVerb,
  type DerivedVerbs,
  type RequestOf,
  ROUTES,
  type RowsOf,
  VERBS,
  type Verb,
} from "../../core/api/table.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { requireVisibleLine } from "../../core/text/foreign-text.ts";
import { type QuestionId, type RunId, shortId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Rules } from "../../core/rules.ts";
import type { Token } from "../../core/people/token.ts";
import type { Engine } from "../../engine/engine.ts";
import type { SignedIn } from "../credential.ts";

const LONGEST_HEADER = 2000;

/** One request as the verbs see it. */
export interface RestCall {
  engine: Engine;
  rules: Rules;
  /** The owner of the token: decides access. */
  bearer: Actor;
  token: Token;
  /** The actor that is recorded: the bearer, or one with fewer rights. */
  by: Actor;
  /** The run whose agent sends the request with somebody else's credential. */
  agentRun: RunId | undefined;
  /** From `Idempotency-Key`. */
  key?: string;
  /** From `traceparent`. */
  traceparent?: string;
  /** From `If-Match`. */
  ifVersion?: number;
  /** Aborts when the caller is gone or the server is about to stop, for verbs that wait. */
  signal?: AbortSignal;
  /** The machine whose agents this server starts, while it does. */
  here?: (() => string | undefined) | undefined;
}

/** The owner of a token, and the engine to check access with. */
export type TokenOwner = Pick<RestCall, "engine" | "bearer">;
type RunAccessVerb = Extract<AccessVerb, "look" | "ask">;

export type Handler<V extends Verb> = (call: RestCall, request: RequestOf<V>) => Promise<RowsOf<V>>;
export type Handlers<V extends Verb> = { [Name in V]: Handler<Name> };
/** Verbs whose request does not say how it carries the arguments of the engine. */
export type WrittenVerb<V extends Verb> = Exclude<V, DerivedVerb>;

/** Handlers that pass a request on to the engine's verb, with the arguments that the table names. */
export function derivedHandlers(): Handlers<DerivedVerb> {
  const handlers = VERBS.filter(isDerived).map((verb) => [verb, derivedHandler(verb)]);
  return Object.fromEntries(handlers) as Handlers<DerivedVerb>; // one for each derived verb
}

function isDerived(verb: Verb): verb is DerivedVerb {
  return ROUTES[verb].takes !== undefined;
}

function derivedHandler(verb: DerivedVerb): Handler<Verb> {
  const { takes = [] } = ROUTES[verb];
  return ({ engine, by, key }, request) => {
    const verbs: DerivedVerbs = engine; // the table fits the engine, or this does not compile
    const call: (...args: never[]) => Promise<RowsOf<Verb>> = verbs[verb];
    const args = toArguments(takes, { ...(request as ParsedRequest), by, key });
    return call.apply(engine, args as never[]); // the arguments of this very verb
  };
}

/** A request that was parsed by the schemas of its route, which are objects. */
interface ParsedRequest {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
}

/** The part of an authenticated request that the verbs need. */
export function callOf(context: Context<SignedIn>, deps: Pick<RestCall, "engine" | "rules" | "here">): RestCall {
  const { engine, rules, here } = deps;
  const bearer = context.get("actor");
  const token = context.get("token");
  const key = context.req.header("idempotency-key");
  const traceparent = context.req.header("traceparent");
  const ifVersion = readVersion(context.req.header("if-match"));
  const agentRun = context.get("agentRun");
  return {
    engine,
    rules,
    here,
    bearer,
    token,
    by: agentActor(actingAs(bearer, token, readBy(context.req.header(BY_HEADER))), agentRun),
    agentRun,
    key,
    traceparent,
    ifVersion,
  };
}

export function requireScope(bearer: Actor, scopes: readonly CallerScope[]): void {
  if (scopes.some((scope) => scope === bearer.scope)) return;
  throw new Refusal("not_permitted", `A token of scope ${bearer.scope} may not do this`, {
    hint: `It takes one of scope ${scopes.join(" or ")}; make it where the server is: askd token create --scope <scope>`,
  });
}

/** Records a refused attempt in the trail of the question, if there is such a question. */
export async function recordTried(call: RestCall, tried: string, id: QuestionId): Promise<void> {
  await call.engine.refuse(id, tried, agentActor(call.bearer, call.agentRun)).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
  });
}

/** The question if the bearer may do that with it; to an agent those of others do not exist. */
export async function readOwn(call: TokenOwner, id: QuestionId, verb: AccessVerb = "look"): Promise<QuestionSnapshot> {
  const read = await call.engine.read(id);
  if (hasAccess(verb, call.bearer, read.question)) return read;
  throw new Refusal("not_found", `There is no question ${shortId(id)}`, {
    hint: "See what is waiting with: askd status",
  });
}

/** Refuses a run that the bearer may not do that with; to an agent those of others do not exist. */
export async function requireOwnRun(call: TokenOwner, id: RunId, verb: RunAccessVerb = "look"): Promise<void> {
  if (await ownsRun(call, id, verb)) return;
  throw new Refusal("not_found", `There is no run ${id}`, { hint: "See all with: askd status" });
}

/** An agent has the run of its token; one without a run has those that its own asks made. */
export async function ownsRun(
  { engine, bearer }: TokenOwner,
  id: RunId,
  verb: RunAccessVerb = "look",
): Promise<boolean> {
  if (bearer.scope !== "agent" || bearer.runId !== undefined) return hasAccess(verb, bearer, { runId: id });
  const [first] = await engine.listQuestions({ runId: id, order: "oldest", limit: 1 });
  return hasAccess(verb, bearer, first ?? { runId: id, askedBy: SYSTEM });
}

/** A caller may act as less than it is, never as more: an admin as a person, a person as an agent. */
function actingAs(bearer: Actor, token: Token, claimed: Actor | undefined): Actor {
  if (!claimed) return bearer;
  const channel = claimed.channel === "cli" || isElicited(claimed) ? claimed.channel : bearer.channel;
  const most = isElicited(claimed) ? "bearer" : claimed.strength;
  const plain: Actor = { ...bearer, channel, strength: weakerStrength(bearer.strength, most) };
  const self = token.onBehalf && claimed.onBehalfOf ? onBehalfOf(plain, claimed.onBehalfOf) : plain;
  if (bearer.scope === "agent") return self;
  if (claimed.scope === "agent") {
    const { id, runId } = claimed;
    return { scope: "agent", id, channel, strength: "none", ...(runId && { runId }) };
  }
  return claimed.scope === "human" ? { ...self, scope: "human" } : self;
}

function readBy(header: string | undefined) {
  if (header === undefined) return undefined;
  try {
    if (header.length > LONGEST_HEADER) throw new Error("too long");
    const claimed = Actor.parse(JSON.parse(decodeURIComponent(header)));
    for (const name of [claimed.id, claimed.channel, claimed.onBehalfOf]) {
      if (name !== undefined) requireVisibleLine(name, "a name");
    }
    return claimed;
  } catch (cause) {
    throw new Refusal("bad_input", `The header ${BY_HEADER} cannot be read`, { cause });
  }
}

/** `"12"`, the version that an earlier reply had as its ETag; `*` takes any. */
function readVersion(header: string | undefined) {
  if (header === undefined || header.trim() === "*") return undefined;
  const version = /^(?:W\/)?"(\d{1,9})"$/.exec(header.trim())?.[1];
  if (version !== undefined) return Number(version);
  throw new Refusal("bad_input", 'If-Match takes the ETag of an earlier reply, like "3"');
}
