import { z } from "zod";
import type { Actor } from "./actor.ts";
import type { Changes, Entry } from "../changes.ts";
import { hashText } from "../question/content.ts";
import { QuestionId, RunId } from "../id.ts";
import { DAY_MS, Instant, later, msBetween } from "../instant.ts";
import { type Job, jobKey } from "../run/job.ts";
import { type EntryChange, changeEntry } from "../trail/store-event.ts";

/** The scope of a token; `login` is valid for one sign-in, `link` for one person's answer to one question. */
export const TokenScope = z.enum(["agent", "human", "admin", "login", "link"]);
export type TokenScope = z.infer<typeof TokenScope>;

export const CodeGrant = z.enum(["admin", "telegram"]);

/** A stored credential, under the hash of its text. */
export const Token = z.object({
  id: z.string(),
  version: z.int(),
  scope: TokenScope,
  /** The subject it speaks for: a person's id, or an agent's name. */
  subject: z.string(),
  /** The run of an agent's token; the token ends with the run. */
  runId: RunId.optional(),
  /** The question a link is for. */
  questionId: QuestionId.optional(),
  /** May answer on behalf of others. */
  onBehalf: z.boolean(),
  /** The right that a login code grants in place of a person's session: an admin's, or to pair one account. */
  grants: CodeGrant.optional(),
  /** Created by signing in. */
  isSession: z.boolean().optional(),
  /** A label that tells it apart from other tokens of the subject. */
  name: z.string().max(64).optional(),
  /** The person whose credential created it; it ends when they are removed, unless handed over. */
  maker: z.string().max(200).optional(),
  createdAt: Instant,
  /** When it was last used, to the day: not every request is recorded. */
  usedAt: Instant.optional(),
  expiresAt: Instant.optional(),
  /** Each use extends its life by this much. */
  renewMs: z.int().optional(),
  expiredAt: Instant.optional(),
  revokedAt: Instant.optional(),
});
export type Token = z.infer<typeof Token>;

/** Scopes of tokens that are issued directly; a link comes with its question. */
export const IssuedScope = TokenScope.exclude(["link"]);

export interface TokenInput {
  scope: z.infer<typeof IssuedScope>;
  subject: string;
  runId?: RunId;
  onBehalf?: boolean;
  /** For a login code: signs in as an admin, or pairs an account instead of signing in. */
  grants?: z.infer<typeof CodeGrant>;
  name?: string;
  /** The default for a token without a run is 90 days after its last use. */
  expiresAt?: Instant | "never";
}

/** The strength of each scope; a link may have been passed on. */
const STRENGTHS = { agent: "none", human: "local", admin: "local", link: "bearer" } as const;
/** A token label: short, and never mistaken for an id. */
export const TokenName = z.string().regex(/^(?![0-9a-f]{6,}$)[A-Za-z0-9][\w. @-]{0,63}$/);

/** The default life of a token after its last use. */
export const TOKEN_RENEW_MS = 90 * DAY_MS;
/** Uses within this time of the last one are not recorded. */
const USE_NOTED_MS = DAY_MS;

const PREFIX = { agent: "askd_a_", human: "askd_h_", admin: "askd_x_", login: "", link: "askd_l_" } as const;
/** The number of characters of a token's id that people see and type. */
export const SHOWN_ID_CHARS = 12;
/** The channel of answers given through a link. */
export const LINK_CHANNEL = "link";

/** Creates the text of a token: 160 random bits, with a prefix that identifies leaked ones. */
export function tokenText(scope: TokenScope, random: Uint8Array): string {
  return `${PREFIX[scope]}${Buffer.from(random).toString("base64url")}`;
}

/** The id of a token: the hash of its text, which is long enough to need no salt. */
export function tokenId(text: string): string {
  return hashText(text);
}

export function tokenEntry({ id, version, ...body }: Token): Entry {
  return { kind: "token", id, version, body };
}

/** The status of a token, expiry by time aside. */
export function tokenStatus({ revokedAt, expiredAt }: Token): "usable" | "revoked" | "expired" {
  if (revokedAt !== undefined) return "revoked";
  return expiredAt === undefined ? "usable" : "expired";
}

/** The expiry of a new token, and whether use extends it. */
export function lifetimeOf(input: TokenInput, now: Instant): Pick<Token, "expiresAt" | "renewMs"> {
  if (input.expiresAt === "never") return {};
  if (input.expiresAt !== undefined) return { expiresAt: input.expiresAt };
  if (input.runId !== undefined) return {};
  return { expiresAt: later(now, TOKEN_RENEW_MS), renewMs: TOKEN_RENEW_MS };
}

/** The token after this use, or undefined if the use is not worth recording: the first of a day extends it. */
export function recordUse(token: Token, now: Instant): Token | undefined {
  const { usedAt, renewMs, isSession, scope } = token;
  if (isSession || scope === "login" || scope === "link") return undefined;
  if (usedAt !== undefined && msBetween(usedAt, now) < USE_NOTED_MS) return undefined;
  return { ...token, usedAt: now, expiresAt: renewMs === undefined ? token.expiresAt : later(now, renewMs) };
}

/** Hands a token over to another person; it then ends with them. */
export function handOverToken(before: Token, to: string, at: { now: Instant; by: Actor }): Changes {
  return changeToken("handed_over", before, { ...before, maker: to }, at);
}

/** Says whether a token grants admin rights beyond a session. */
export function isAdminToken(token: Token, now: Instant): boolean {
  return token.scope === "admin" && !token.isSession && isTokenUsable(token, now);
}

/** The job that expires a token. */
export function expiryJob({ id, expiresAt, scope }: Token): Job | undefined {
  if (expiresAt === undefined || scope === "login" || scope === "link") return undefined;
  return { key: jobKey("expire_token", id), kind: "expire_token", dueAt: expiresAt, tries: 0 };
}

/** Stores a token with the event of the change. */
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

export function isTokenUsable(token: Token, now: Instant): boolean {
  return tokenStatus(token) === "usable" && (token.expiresAt === undefined || token.expiresAt > now);
}

/** Says whether a token is accepted on a channel: a link only on its own page, and that page accepts nothing else. */
export function isCredential({ scope }: Token, channel: string): boolean {
  return scope !== "login" && (scope === "link") === (channel === LINK_CHANNEL);
}

/** The actor behind a token on that channel. */
export function actorOf(token: Token, channel: string): Actor {
  if (token.scope === "login") throw new Error("a login code is not a credential");
  return {
    scope: token.scope === "link" ? "human" : token.scope,
    id: token.subject,
    channel,
    strength: STRENGTHS[token.scope],
    runId: token.runId,
  };
}
