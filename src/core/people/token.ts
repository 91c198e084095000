import { z } from "zod";
import type { Actor } from "./actor.ts";
import type { Changes, Entry } from "../changes.ts";
import { hashText } from "../question/content.ts";
import { QuestionId, RunId } from "../id.ts";
import { DAY_MS, Instant, later, msBetween } from "../instant.ts";
import { type Job, jobKey } from "../run/job.ts";
import { type EntryChange, changeEntry } from "../trail/store-event.ts";

/** What a token lets its bearer do; `login` is good for one sign-in, `link` for one person's answer to one question. */
export const TokenScope = z.enum(["agent", "human", "admin", "login", "link"]);
export type TokenScope = z.infer<typeof TokenScope>;

/** A credential as it is kept: under the hash of its text, which nobody can turn back. */
export const Token = z.object({
  id: z.string(),
  version: z.int(),
  scope: TokenScope,
  /** Whom it speaks for: a person's id, or the agent's name. */
  subject: z.string(),
  /** The run that an agent's token belongs to; it ends with that run. */
  runId: RunId.optional(),
  /** The one question that a link is for. */
  questionId: QuestionId.optional(),
  /** May name somebody else as the one who answered. */
  onBehalf: z.boolean(),
  /** What a login code gives, where that is more than the session of a person. */
  grants: z.literal("admin").optional(),
  /** Made by signing in. */
  isSession: z.boolean().optional(),
  /** What people call it, to tell it from others of the same subject. */
  name: z.string().max(64).optional(),
  /** The person whose credential made it; it ends when they are removed, unless it was handed over. */
  maker: z.string().max(200).optional(),
  createdAt: Instant,
  /** When it was last used, as of the last day: not every request is written down. */
  usedAt: Instant.optional(),
  expiresAt: Instant.optional(),
  /** Every use gives it this long again. */
  renewMs: z.int().optional(),
  expiredAt: Instant.optional(),
  revokedAt: Instant.optional(),
});
export type Token = z.infer<typeof Token>;

/** Tokens that are made as such; a link comes with its question. */
export const IssuedScope = TokenScope.exclude(["link"]);

export interface TokenInput {
  scope: z.infer<typeof IssuedScope>;
  subject: string;
  runId?: RunId;
  onBehalf?: boolean;
  /** For a login code: sign in as an admin. */
  grants?: "admin";
  name?: string;
  /** Without one, a token that belongs to no run is good for 90 days after it was last used. */
  expiresAt?: Instant | "never";
}

/** What a token proves of its bearer: whoever got a link can have passed it on. */
const STRENGTHS = { agent: "none", human: "local", admin: "local", link: "bearer" } as const;
/** The name of a token: short, and never to be taken for an id. */
export const TokenName = z.string().regex(/^(?![0-9a-f]{6,}$)[A-Za-z0-9][\w. @-]{0,63}$/);

/** How long a token is good after it was last used, where nobody said otherwise. */
export const TOKEN_RENEW_MS = 90 * DAY_MS;
/** Uses within that time are not written down. */
const USE_NOTED_MS = DAY_MS;

const PREFIX = { agent: "askd_a_", human: "askd_h_", admin: "askd_x_", login: "", link: "askd_l_" } as const;
/** How much of a token's id people see and type. */
export const SHOWN_ID_CHARS = 12;
/** The channel of answers that came by a link. */
export const LINK_CHANNEL = "link";

/** The text of a new token: 160 random bits, and a prefix by which a leaked one is recognised. */
export function tokenText(scope: TokenScope, random: Uint8Array): string {
  return `${PREFIX[scope]}${Buffer.from(random).toString("base64url")}`;
}

/** The name under which a token is kept. It is long enough to be hashed without salt. */
export function tokenId(text: string): string {
  return hashText(text);
}

export function tokenEntry({ id, version, ...body }: Token): Entry {
  return { kind: "token", id, version, body };
}

/** What can be said of a token without looking at the clock. */
export function tokenStatus({ revokedAt, expiredAt }: Token): "usable" | "revoked" | "expired" {
  if (revokedAt !== undefined) return "revoked";
  return expiredAt === undefined ? "usable" : "expired";
}

/** When a new token ends by itself, and whether its use puts that off. */
export function lifetimeOf(input: TokenInput, now: Instant): Pick<Token, "expiresAt" | "renewMs"> {
  if (input.expiresAt === "never") return {};
  if (input.expiresAt !== undefined) return { expiresAt: input.expiresAt };
  if (input.runId !== undefined) return {};
  return { expiresAt: later(now, TOKEN_RENEW_MS), renewMs: TOKEN_RENEW_MS };
}

/** The token as it is after this use, where that is worth writing down: the first of a day renews it. */
export function noteUse(token: Token, now: Instant): Token | undefined {
  const { usedAt, renewMs, isSession, scope } = token;
  if (isSession || scope === "login" || scope === "link") return undefined;
  if (usedAt !== undefined && msBetween(usedAt, now) < USE_NOTED_MS) return undefined;
  return { ...token, usedAt: now, ...(renewMs !== undefined && { expiresAt: later(now, renewMs) }) };
}

/** Gives a token to somebody else, with whom it ends from then on. */
export function handOverToken(before: Token, to: string, at: { now: Instant; by: Actor }): Changes {
  return changeToken("handed_over", before, { ...before, maker: to }, at);
}

/** A token by which somebody is an admin for longer than a session. */
export function isAdminToken(token: Token, now: Instant): boolean {
  return token.scope === "admin" && !token.isSession && isUsable(token, now);
}

/** The job that ends a token at its time. */
export function expiryJob({ id, expiresAt, scope }: Token): Job | undefined {
  if (expiresAt === undefined || scope === "login" || scope === "link") return undefined;
  return { key: jobKey("expire_token", id), kind: "expire_token", dueAt: expiresAt, tries: 0 };
}

/** Keeps a token as it is from now on, with an event that says what happened to it. */
export function changeToken(
  name: "made" | "used" | "handed_over" | "revoked" | "expired",
  before: Token | undefined,
  after: Token,
  at: { now: Instant; by: Actor },
): Changes {
  const { scope, subject, runId, onBehalf, grants, expiresAt, maker } = after;
  const change: EntryChange = {
    type: `token.${name}`,
    entry: tokenEntry(after),
    from: before && tokenStatus(before),
    to: tokenStatus(after),
    detail: {
      token: after.id.slice(0, SHOWN_ID_CHARS),
      name: after.name,
      scope,
      subject,
      run: runId,
      on_behalf: onBehalf || undefined,
      grants,
      maker,
      expires_at: expiresAt,
    },
  };
  return changeEntry(change, at);
}

export function parseToken({ id, version, body }: Entry): Token {
  return Token.parse({ ...body, id, version });
}

export function isUsable(token: Token, now: Instant): boolean {
  return tokenStatus(token) === "usable" && (token.expiresAt === undefined || token.expiresAt > now);
}

/** Says whether a token is a credential there: a link is one on its own page only, and nothing else is one on that page. */
export function isCredential({ scope }: Token, channel: string): boolean {
  return scope !== "login" && (scope === "link") === (channel === LINK_CHANNEL);
}

/** Who the bearer of a token is, through that channel. */
export function actorOf(token: Token, channel: string): Actor {
  if (token.scope === "login") throw new Error("a login code is not a credential");
  return {
    scope: token.scope === "link" ? "human" : token.scope,
    id: token.subject,
    channel,
    strength: STRENGTHS[token.scope],
    ...(token.runId && { runId: token.runId }),
  };
}
