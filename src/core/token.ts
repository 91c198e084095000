import { z } from "zod";
import type { Actor } from "./actor.ts";
import type { Changes, Entry } from "./changes.ts";
import { hashText } from "./content.ts";
import { QuestionId, RunId } from "./id.ts";
import { Instant } from "./instant.ts";
import { type EntryChange, changeEntry } from "./store-event.ts";

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
  createdAt: Instant,
  expiresAt: Instant.optional(),
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
  expiresAt?: Instant;
}

/** What a token proves of its bearer: whoever got a link can have passed it on. */
const STRENGTHS = { agent: "none", human: "local", admin: "local", link: "bearer" } as const;
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
export function tokenStatus({ revokedAt }: Token): "usable" | "revoked" {
  return revokedAt === undefined ? "usable" : "revoked";
}

/** Keeps a token as it is from now on, with an event that says what happened to it. */
export function changeToken(
  name: "made" | "revoked",
  before: Token | undefined,
  after: Token,
  at: { now: Instant; by: Actor },
): Changes {
  const { scope, subject, runId, onBehalf, grants, expiresAt } = after;
  const change: EntryChange = {
    type: `token.${name}`,
    entry: tokenEntry(after),
    from: before && tokenStatus(before),
    to: tokenStatus(after),
    detail: {
      token: after.id.slice(0, SHOWN_ID_CHARS),
      scope,
      subject,
      run: runId,
      on_behalf: onBehalf || undefined,
      grants,
      expires_at: expiresAt,
    },
  };
  return changeEntry(change, at);
}

export function parseToken({ id, version, body }: Entry): Token {
  return Token.parse({ ...body, id, version });
}

export function isUsable(token: Token, now: Instant): boolean {
  return token.revokedAt === undefined && (token.expiresAt === undefined || token.expiresAt > now);
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
