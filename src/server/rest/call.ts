import type { Context } from "hono";
import { type AccessVerb, mayDo } from "../../core/people/access.ts";
import { Actor, SYSTEM, asAgentOf, inNameOf, isElicited, weakerStrength } from "../../core/people/actor.ts";
import { BY_HEADER, type Caller } from "../../core/api/route.ts";
import type { RequestOf, RowsOf, Verb } from "../../core/api/table.ts";
import type { Read } from "../../core/changes.ts";
import { requireVisibleLine } from "../../core/text/foreign-text.ts";
import { type QuestionId, type RunId, shortId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Rules } from "../../core/rules.ts";
import type { Token } from "../../core/people/token.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Signed } from "../credential.ts";

const LONGEST_HEADER = 2000;

/** One request as the verbs see it. */
export interface Call {
  engine: Engine;
  rules: Rules;
  /** Whose token it is: what may be seen and done. */
  bearer: Actor;
  token: Token;
  /** Who is written down as the one who did it: the bearer, or less than that. */
  by: Actor;
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

/** Whose token it is, and where that is looked up. */
export type Owner = Pick<Call, "engine" | "bearer">;
type RunAccessVerb = Extract<AccessVerb, "look" | "ask">;

export type Handler<V extends Verb> = (call: Call, request: RequestOf<V>) => Promise<RowsOf<V>>;
export type Handlers<V extends Verb> = { [Name in V]: Handler<Name> };

/** What the verbs need to know of a request that was let in. */
export function callOf(context: Context<Signed>, deps: Pick<Call, "engine" | "rules" | "here">): Call {
  const { engine, rules, here } = deps;
  const bearer = context.get("actor");
  const token = context.get("token");
  const key = context.req.header("idempotency-key");
  const traceparent = context.req.header("traceparent");
  const ifVersion = readVersion(context.req.header("if-match"));
  return {
    ...{ engine, rules, here, bearer, token },
    by: asAgentOf(actingAs(bearer, token, readBy(context.req.header(BY_HEADER))), context.get("agentRun")),
    ...(key !== undefined && { key }),
    ...(traceparent !== undefined && { traceparent }),
    ...(ifVersion !== undefined && { ifVersion }),
  };
}

export function requireScope(bearer: Actor, scopes: readonly Caller[]): void {
  if (scopes.some((scope) => scope === bearer.scope)) return;
  throw new Refusal("not_permitted", `A token of scope ${bearer.scope} may not do this`, {
    hint: `It takes one of scope ${scopes.join(" or ")}; make it where the server is: askd token create --scope <scope>`,
  });
}

/** Writes down what somebody tried who may not; of a question that is not there nothing can be said. */
export async function recordTried({ engine, bearer }: Call, tried: string, id: QuestionId): Promise<void> {
  await engine.refuse(id, tried, bearer).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
  });
}

/** The question if the bearer may do that with it; to an agent those of others do not exist. */
export async function readOwn(call: Owner, id: QuestionId, verb: AccessVerb = "look"): Promise<Read> {
  const read = await call.engine.read(id);
  if (mayDo(verb, call.bearer, read.question)) return read;
  throw new Refusal("not_found", `There is no question ${shortId(id)}`, {
    hint: "See what is waiting with: askd status",
  });
}

/** Refuses a run that the bearer may not do that with; to an agent those of others do not exist. */
export async function requireOwnRun(call: Owner, id: RunId, verb: RunAccessVerb = "look"): Promise<void> {
  if (await ownsRun(call, id, verb)) return;
  throw new Refusal("not_found", `There is no run ${id}`, { hint: "See all with: askd status" });
}

/** An agent has the run of its token; one without a run has those that its own asks made. */
export async function ownsRun({ engine, bearer }: Owner, id: RunId, verb: RunAccessVerb = "look"): Promise<boolean> {
  if (bearer.scope !== "agent" || bearer.runId !== undefined) return mayDo(verb, bearer, { runId: id });
  const [first] = await engine.listQuestions({ runId: id, order: "oldest", limit: 1 });
  return mayDo(verb, bearer, first ?? { runId: id, askedBy: SYSTEM });
}

/** A caller may act as less than it is, never as more: an admin as a person, a person as an agent. */
function actingAs(bearer: Actor, token: Token, claimed: Actor | undefined): Actor {
  if (!claimed) return bearer;
  const channel = claimed.channel === "cli" || isElicited(claimed) ? claimed.channel : bearer.channel;
  const most = isElicited(claimed) ? "bearer" : claimed.strength;
  const plain: Actor = { ...bearer, channel, strength: weakerStrength(bearer.strength, most) };
  const self = token.onBehalf && claimed.onBehalfOf ? inNameOf(plain, claimed.onBehalfOf) : plain;
  if (bearer.scope === "agent") return self;
  if (claimed.scope === "agent") {
    const { id, runId } = claimed;
    return { scope: "agent", id, channel, strength: "none", ...(runId && { runId }) };
  }
  return claimed.scope === "human" ? { ...self, scope: "human" } : self;
}

function readBy(header: string | undefined): Actor | undefined {
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
function readVersion(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === "*") return undefined;
  const version = /^(?:W\/)?"(\d{1,9})"$/.exec(header.trim())?.[1];
  if (version !== undefined) return Number(version);
  throw new Refusal("bad_input", 'If-Match takes the ETag of an earlier reply, like "3"');
}
