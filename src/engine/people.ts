import { requireMay } from "../core/access.ts";
import type { Actor } from "../core/actor.ts";
import type { Entry } from "../core/changes.ts";
import { requireVisibleLine } from "../core/foreign-text.ts";
import { type Instant, later } from "../core/instant.ts";
import { type Person, changePerson, parsePerson } from "../core/person.ts";
import { Refusal } from "../core/refusal.ts";
import { hasEnded } from "../core/run.ts";
import {
  type Token,
  type TokenInput,
  actorOf,
  changeToken,
  isCredential,
  isUsable,
  parseToken,
  tokenId,
  tokenText,
} from "../core/token.ts";
import type { Store } from "../store/store.ts";
import { recall } from "./recall.ts";

/** How much chance is in a token. */
export const TOKEN_BYTES = 20;
const MOST_PARSED = 1_000;
const LONGEST_ADDRESS = 320;
const LOGIN_MS = 10 * 60_000;
const SESSION_MS = 12 * 3_600_000;
/** Whoever may do everything signs in for what they want to do now. */
const ADMIN_MS = 3_600_000;

interface PeopleDeps {
  store: Store;
  now: () => Instant;
  randomBytes: (count: number) => Uint8Array;
}

/** Who may come in, and as whom. */
export class People {
  readonly #deps: PeopleDeps;
  /** Tokens that were used, as they were parsed: every request brings one. */
  readonly #parsed = new Map<string, Token>();
  readonly #known = new WeakMap<Entry, Person>();
  readonly #tokens = new WeakMap<Entry, Token>();

  constructor(deps: PeopleDeps) {
    this.#deps = deps;
  }

  /** Makes a token; its text is shown this once and kept nowhere. */
  async issue(input: TokenInput, by: Actor): Promise<{ text: string; token: Token }> {
    requireMayIssue(input, by);
    await this.#requireKnown(input, by);
    requireVisibleLine(input.subject, "the subject of a token");
    return this.#make(input, {}, by);
  }

  /** A code signs somebody in as a person: only whoever makes it, or somebody on the list, is known to be one. */
  async #requireKnown({ scope, subject }: TokenInput, by: Actor): Promise<void> {
    if (scope !== "login" || by.scope === "system" || subject === by.id || (await this.findPerson(subject))) return;
    throw new Refusal("not_permitted", `${subject} is not on the list of people, so no code can sign them in`, {
      hint: `Add them first: askd user add ${subject}`,
    });
  }

  async #make(input: TokenInput, more: Pick<Token, "isSession">, by: Actor): Promise<{ text: string; token: Token }> {
    const text = tokenText(input.scope, this.#deps.randomBytes(TOKEN_BYTES));
    const createdAt = this.#deps.now();
    const expiresAt = input.scope === "login" ? later(createdAt, LOGIN_MS) : input.expiresAt;
    const token: Token = {
      ...{
        id: tokenId(text),
        version: 0,
        scope: input.scope,
        subject: input.subject,
        onBehalf: input.onBehalf ?? false,
        createdAt,
      },
      ...(input.runId && { runId: input.runId }),
      ...(input.grants && { grants: input.grants }),
      ...(expiresAt && { expiresAt }),
      ...more,
    };
    await this.#deps.store.commit(changeToken("made", undefined, token, { now: createdAt, by }));
    return { text, token: { ...token, version: 1 } };
  }

  /** Who bears this token, or nobody. An agent's token is worth nothing once its run has ended. */
  async find(text: string, channel: string): Promise<{ actor: Actor; token: Token } | undefined> {
    const entry = await this.#deps.store.findEntry("token", tokenId(text));
    const token = entry && this.#parse(entry);
    if (!token || !isCredential(token, channel) || !isUsable(token, this.#deps.now())) return undefined;
    const run = token.runId && (await this.#deps.store.findRun(token.runId));
    if (run && hasEnded(run)) return undefined;
    const actor = actorOf(token, channel);
    return { actor: (await this.#isKnown(token)) ? actor : { ...actor, strength: "bearer" }, token };
  }

  /** Says whether a token is known to be a person's own; a name that is on no list could be anybody's. */
  async #isKnown({ scope, subject, isSession }: Token): Promise<boolean> {
    if (scope === "agent" || scope === "admin" || isSession) return true;
    return (await this.findPerson(subject)) !== undefined;
  }

  /** An entry of the same version is the same: one that was changed or revoked is read as it is now. */
  #parse(entry: Entry): Token {
    const known = this.#parsed.get(entry.id);
    if (known?.version === entry.version) return known;
    const token = parseToken(entry);
    if (this.#parsed.size >= MOST_PARSED) this.#parsed.clear();
    this.#parsed.set(entry.id, token);
    return token;
  }

  /** Trades a login code for a token of that person; a code works once. */
  async redeem(code: string, by: Actor): Promise<{ text: string; token: Token }> {
    const entry = await this.#deps.store.findEntry("token", tokenId(code));
    const login = entry && parseToken(entry);
    const now = this.#deps.now();
    const isGood = login?.scope === "login" && isUsable(login, now);
    const committed = isGood
      ? await this.#deps.store.commit(changeToken("revoked", login, { ...login, revokedAt: now }, { now, by }))
      : undefined;
    if (!isGood || !committed?.ok) {
      throw new Refusal("sign_in", "This code is not valid any more", { hint: "Get a new one with: askd login" });
    }
    const [scope, ms] = login.grants ? (["admin", ADMIN_MS] as const) : (["human", SESSION_MS] as const);
    return this.#make({ scope, subject: login.subject, expiresAt: later(now, ms) }, { isSession: true }, by);
  }

  async revoke(id: string, by: Actor): Promise<Token> {
    requireMay("manage_tokens", by);
    const entry = await this.#deps.store.findEntry("token", id);
    if (!entry) throw new Refusal("not_found", "There is no such token");
    const before = parseToken(entry);
    const now = this.#deps.now();
    const token: Token = { ...before, revokedAt: now };
    const committed = await this.#deps.store.commit(changeToken("revoked", before, token, { now, by }));
    if (!committed.ok) throw new Refusal("moved", "The token was changed meanwhile; try again");
    return token;
  }

  async listTokens(by: Actor): Promise<Token[]> {
    requireMay("manage_tokens", by);
    return (await this.#deps.store.listEntries("token")).map((entry) => recall(this.#tokens, entry, parseToken));
  }

  async put(person: Person, by: Actor): Promise<Person> {
    requireMay("manage_people", by);
    const { name, email, slack, github, groups } = person;
    for (const text of [name, email, slack, github, ...groups]) {
      if (text !== undefined) requireVisibleLine(text, "the name or address of a person", LONGEST_ADDRESS);
    }
    const entry = await this.#deps.store.findEntry("person", person.id);
    const before = entry && parsePerson(entry);
    const next = { ...person, version: before?.version ?? 0 };
    const committed = await this.#deps.store.commit(changePerson(before, next, { now: this.#deps.now(), by }));
    if (!committed.ok) throw new Refusal("moved", "This person was changed meanwhile; try again");
    return { ...next, version: next.version + 1 };
  }

  async list(): Promise<Person[]> {
    const entries = await this.#deps.store.listEntries("person");
    return entries.map((entry) => recall(this.#known, entry, parsePerson)).filter(({ removed }) => !removed);
  }

  async findPerson(id: string): Promise<Person | undefined> {
    const entry = await this.#deps.store.findEntry("person", id);
    const person = entry && parsePerson(entry);
    return person?.removed ? undefined : person;
  }
}

/** A person may sign in elsewhere as themselves and let agents in; anything more is for an admin to give. */
function requireMayIssue(input: TokenInput, by: Actor): void {
  requireMay("make_token", by);
  if (by.scope === "admin" || by.scope === "system") return;
  const isOwn = input.scope === "agent" || (input.scope !== "admin" && input.subject === by.id);
  if (isOwn && !input.onBehalf && !input.grants) return;
  throw new Refusal(
    "not_permitted",
    `A token of scope ${input.scope} for ${input.subject} can only be made by an admin`,
    { fact: { is: "token_scope", subject: input.subject } },
  );
}
