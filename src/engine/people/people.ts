import { requireAccess } from "../../core/people/access.ts";
import { type Actor, SYSTEM, actorName } from "../../core/people/actor.ts";
import type { Changes, Entry } from "../../core/changes.ts";
import { quoteName, requireVisibleLine } from "../../core/text/foreign-text.ts";
import { type Instant, earlier, later } from "../../core/instant.ts";
import {
  type Away,
  type Person,
  type Preferences,
  changePerson,
  parsePerson,
  requireAwayMakesSense,
  requireOwnAddresses,
  requireOwnName,
  withPreferences,
} from "../../core/people/person.ts";
import { INVITE_MS } from "../../core/people/sign-in-link.ts";
import { withDirectory, withoutDirectory } from "../../core/people/directory.ts";
import { Refusal } from "../../core/refusal.ts";
import { lastAdminRefusal } from "../../core/people/removal.ts";
import { hasEnded } from "../../core/run/run.ts";
import {
  type Token,
  type TokenInput,
  TokenName,
  actorOf,
  changeToken,
  expiryJob,
  handOverToken,
  isAdminToken,
  isCredential,
  isTokenUsable,
  lifetimeOf,
  recordUse,
  parseToken,
  tokenId,
  tokenText,
} from "../../core/people/token.ts";
import type { Rules } from "../../core/rules.ts";
import type { CommitResult, Store } from "../../store/store.ts";
import { memoize } from "../memoize.ts";

/** Random bytes in a token. */
export const TOKEN_BYTES = 20;
const MOST_PARSED = 1_000;
const LONGEST_ADDRESS = 320;
const TRIES = 5;
const LOGIN_MS = 10 * 60_000;
const SESSION_MS = 12 * 3_600_000;
/** Admin sessions are short: an admin signs in for one task. */
const ADMIN_MS = 3_600_000;

interface PeopleDeps {
  store: Store;
  now: () => Instant;
  randomBytes: (count: number) => Uint8Array;
  rules: Pick<Rules, "directory">;
}

/** Tokens and the list of people: who may sign in, and as whom. */
export class People {
  readonly #deps: PeopleDeps;
  /** Tokens that were used, as they were parsed: every request brings one. */
  readonly #parsed = new Map<string, Token>();
  /** Uses that are being recorded. */
  readonly #noting = new Map<string, Promise<CommitResult>>();
  readonly #known = new WeakMap<Entry, Person>();
  readonly #tokens = new WeakMap<Entry, Token>();

  constructor(deps: PeopleDeps) {
    this.#deps = deps;
  }

  /** Creates a token; its text is returned only here and kept nowhere. */
  async issueToken(input: TokenInput, by: Actor): Promise<{ text: string; token: Token }> {
    requireMayIssue(input, by);
    await this.#requireKnown(input, by);
    requireVisibleLine(input.subject, "the subject of a token");
    if (input.name !== undefined && !TokenName.safeParse(input.name).success) {
      throw new Refusal("bad_input", "A token's name begins with a letter or digit and has 64 characters at most", {
        hint: "Use letters, digits, spaces and . _ @ -, and nothing that looks like the id of a token",
      });
    }
    if (by.scope === "system") return this.#make(input, {}, by);
    const made = await this.#make(input, { maker: by.id }, by);
    await this.#requireStillThere(made.token);
    return made;
  }

  /** A login code signs in as a person, so its subject must be on the list or be the one who makes it. */
  async #requireKnown({ scope, subject }: TokenInput, by: Actor) {
    if (scope !== "login" || by.scope === "system" || subject === by.id || (await this.findPerson(subject))) return;
    throw new Refusal("not_permitted", `${subject} is not on the list of people, so no code can sign them in`, {
      hint: `Add them first: askd user add ${subject}`,
    });
  }

  async #make(
    input: TokenInput,
    more: Pick<Token, "isSession" | "maker">,
    by: Actor,
  ): Promise<{ text: string; token: Token }> {
    const text = tokenText(input.scope, this.#deps.randomBytes(TOKEN_BYTES));
    const createdAt = this.#deps.now();
    const { scope, subject, runId, grants, name } = input;
    const lifetime = scope === "login" ? loginLifetime(input, createdAt) : lifetimeOf(input, createdAt);
    const token: Token = {
      id: tokenId(text),
      version: 0,
      scope,
      subject,
      onBehalf: input.onBehalf ?? false,
      createdAt,
      ...(runId && { runId }),
      ...(grants && { grants }),
      name,
      ...lifetime,
      ...more,
    };
    const expiry = expiryJob(token);
    const made = changeToken("made", undefined, token, { now: createdAt, by });
    await this.#deps.store.commit({ ...made, scheduled: expiry ? [expiry] : [] });
    return { text, token: { ...token, version: 1 } };
  }

  /** A person who was removed while this was under way leaves nothing behind that lets them in. */
  async #requireStillThere(token: Token) {
    const names = token.scope === "agent" ? [token.maker] : [token.maker, token.subject];
    for (const id of new Set(names.filter((name) => name !== undefined))) {
      const entry = await this.#deps.store.findEntry("person", id);
      if (!entry || !parsePerson(entry).removed) continue;
      const at = { now: this.#deps.now(), by: SYSTEM };
      await this.#deps.store.commit(changeToken("revoked", token, { ...token, revokedAt: at.now }, at));
      throw new Refusal("not_permitted", `${id} was removed; nobody comes in under that name`, {
        hint: `Add them again first: askd user add ${id}`,
      });
    }
  }

  /** The owner of this token; undefined if it is not valid. An agent's token ends with its run. */
  async authenticate(text: string, channel: string): Promise<{ actor: Actor; token: Token } | undefined> {
    const entry = await this.#deps.store.findEntry("token", tokenId(text));
    const token = entry && this.#parse(entry);
    if (!token || !isCredential(token, channel) || !isTokenUsable(token, this.#deps.now())) return undefined;
    const run = token.runId && (await this.#deps.store.findRun(token.runId));
    if (run && hasEnded(run)) return undefined;
    const actor = actorOf(token, channel);
    const isKnown = await this.#isKnown(token);
    const used = await this.#noteUse(token, actor);
    return { actor: isKnown ? actor : { ...actor, strength: "bearer" }, token: used };
  }

  /** Returns whether a token is known to be a person's own; a name that is on no list could be anybody's. */
  async #isKnown({ scope, subject, isSession }: Token) {
    if (scope === "agent" || scope === "admin" || isSession) return true;
    return (await this.findPerson(subject)) !== undefined;
  }

  /** Renews the token and records its use, once a day; concurrent requests record it once. */
  async #noteUse(token: Token, by: Actor): Promise<Token> {
    const now = this.#deps.now();
    const used = recordUse(token, now);
    if (!used) return token;
    const noting = this.#noting.get(token.id) ?? this.#deps.store.commit(changeToken("used", token, used, { now, by }));
    this.#noting.set(token.id, noting);
    try {
      const committed = await noting;
      return committed.ok ? { ...used, version: token.version + 1 } : token;
    } catch (error) {
      // A full disk must not lock people out: the next request records the use.
      if (error instanceof Refusal) return token;
      throw error;
    } finally {
      this.#noting.delete(token.id);
    }
  }

  /** An entry of the same version is the same: one that was changed or revoked is read as it is now. */
  #parse(entry: Entry) {
    const known = this.#parsed.get(entry.id);
    if (known?.version === entry.version) return known;
    const token = parseToken(entry);
    if (this.#parsed.size >= MOST_PARSED) this.#parsed.clear();
    this.#parsed.set(entry.id, token);
    return token;
  }

  /** Trades a login code for a token of that person; a code works once. */
  async redeemLogin(code: string, by: Actor): Promise<{ text: string; token: Token }> {
    const now = this.#deps.now();
    const login = await this.#useCode(code, ({ grants }) => grants !== "telegram", by);
    if (!login) {
      throw new Refusal("sign_in", "This code is not valid any more", { hint: "Get a new one with: askd login" });
    }
    const [scope, ms] = login.grants ? (["admin", ADMIN_MS] as const) : (["human", SESSION_MS] as const);
    const more = { isSession: true, maker: login.maker };
    const made = await this.#make({ scope, subject: login.subject, expiresAt: later(now, ms) }, more, by);
    await this.#requireStillThere(made.token);
    return made;
  }

  /** Pairs a Telegram account with the person that the code was made for; a code works once. */
  async pairTelegram(code: string, account: string): Promise<Person> {
    const by: Actor = { scope: "human", id: `telegram:${account}`, channel: "telegram", strength: "bearer" };
    const login = await this.#useCode(code, ({ grants }) => grants === "telegram", by);
    if (!login) throw new Refusal("sign_in", "This code is not valid any more", { hint: "askd setup telegram" });
    const found = await this.findPerson(login.subject);
    const person = found ?? { id: login.subject, version: 0, groups: [] };
    return this.putPerson({ ...person, telegram: account }, SYSTEM);
  }

  /** Uses up a login code; undefined if it is not valid. */
  async #useCode(code: string, isRight: (login: Token) => boolean, by: Actor): Promise<Token | undefined> {
    const entry = await this.#deps.store.findEntry("token", tokenId(code));
    const login = entry && parseToken(entry);
    const now = this.#deps.now();
    if (login?.scope !== "login" || !isTokenUsable(login, now) || !isRight(login)) return undefined;
    const committed = await this.#deps.store.commit(
      changeToken("used", login, { ...login, revokedAt: now }, { now, by }),
    );
    return committed.ok ? login : undefined;
  }

  async revokeToken(id: string, by: Actor): Promise<Token> {
    requireAccess("manage_tokens", by);
    return this.#change(id, async (before) => {
      const now = this.#deps.now();
      if (before.revokedAt !== undefined) return { token: before, changes: undefined };
      const guard = by.scope === "system" ? [] : await this.#guardAdmins(before, now);
      const token: Token = { ...before, revokedAt: now };
      const { entries = [], events = [] } = changeToken("revoked", before, token, { now, by });
      return { token, changes: { entries: [...entries, ...guard], events } };
    });
  }

  /** Gives a token to another person: it ends when that person is removed. */
  async handOverToken(id: string, to: string, by: Actor): Promise<Token> {
    requireAccess("manage_tokens", by);
    if (!(await this.findPerson(to))) {
      throw new Refusal("bad_input", `There is nobody called "${to}"`, { hint: "See everybody: askd user list" });
    }
    return this.#change(id, async (before) => {
      const now = this.#deps.now();
      if (!isTokenUsable(before, now)) throw new Refusal("bad_input", "This token is revoked or expired already");
      return { token: { ...before, maker: to }, changes: handOverToken(before, to, { now, by }) };
    });
  }

  /** Reads, decides and commits; again for as long as others are faster. */
  async #change(
    id: string,
    decide: (before: Token) => Promise<{ token: Token; changes: Changes | undefined }>,
  ): Promise<Token> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const entry = await this.#deps.store.findEntry("token", id);
      if (!entry) throw new Refusal("not_found", "There is no such token", { hint: "See all: askd token list" });
      const { token, changes } = await decide(parseToken(entry));
      if (!changes) return token;
      const committed = await this.#deps.store.commit(changes);
      if (committed.ok) return { ...token, version: token.version + 1 };
    }
    throw new Refusal("moved", "The token was changed meanwhile; try again");
  }

  /** Revoking an admin's token takes this lock: of two concurrent revocations, the second sees the first. */
  async #guardAdmins(token: Token, now: Instant): Promise<Entry[]> {
    if (!isAdminToken(token, now)) return [];
    const lock = await readRoster(this.#deps.store); // before the tokens are read
    const tokens = await this.#allTokens();
    if (!tokens.some((other) => other.id !== token.id && isAdminToken(other, now)))
      throw lastAdminRefusal(token.subject);
    return [lock];
  }

  async #allTokens() {
    return (await this.#deps.store.listEntries("token")).map((entry) => memoize(this.#tokens, entry, parseToken));
  }

  async listTokens(by: Actor): Promise<Token[]> {
    requireAccess("manage_tokens", by);
    return this.#allTokens();
  }

  async putPerson(person: Person, by: Actor): Promise<Person> {
    requireAccess("manage_people", by);
    const { name, email, slack, github, chat, groups } = person;
    for (const text of [name, email, slack, github, chat, ...groups]) {
      if (text !== undefined) requireVisibleLine(text, "the name or address of a person", LONGEST_ADDRESS);
    }
    for (let tries = 0; tries < TRIES; tries += 1) {
      // The lock comes first: of two people who get one address at the same time, the second sees the first.
      const lock = await readRoster(this.#deps.store);
      const entry = await this.#deps.store.findEntry("person", person.id);
      const before = entry && parsePerson(entry);
      const people = await this.listPeople();
      requireOwnName(person, people);
      requireOwnAddresses(person, people);
      // Only pairing sets the account, and only they end an absence; whoever edits a person does not.
      const given = withoutDirectory(person, this.#deps.rules.directory);
      const next = {
        ...given,
        telegram: given.telegram ?? before?.telegram,
        away: given.away ?? before?.away,
        version: before?.version ?? 0,
      };
      const { entries = [], events = [] } = changePerson(before, next, { now: this.#deps.now(), by });
      const committed = await this.#deps.store.commit({ entries: [...entries, lock], events });
      if (committed.ok) return (await this.findPerson(person.id)) ?? { ...next, version: next.version + 1 };
    }
    throw new Refusal("moved", "This person was changed meanwhile; try again");
  }

  /** Records that a person is away, or that they are back; people say it of themselves, an admin of anybody. */
  async setAway(id: string, away: Away | undefined, by: Actor): Promise<Person> {
    requireAccess("set_away", by);
    requireOwnRow(id, by, "say that they are away");
    return this.#changeOwn(id, by, async (person, now) => {
      if (away) requireAwayMakesSense(id, away, await this.listPeople(), now);
      return { ...person, away };
    });
  }

  /** Records where, when and how a person wants to be told; people say it of themselves, an admin of anybody. */
  async setPreferences(id: string, preferences: Preferences, by: Actor): Promise<Person> {
    requireAccess("set_preferences", by);
    requireOwnRow(id, by, "change their preferences");
    return this.#changeOwn(id, by, async (person) => withPreferences(person, preferences));
  }

  async #changeOwn(id: string, by: Actor, change: (person: Person, now: Instant) => Promise<Person>): Promise<Person> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const person = await this.findPerson(id);
      if (!person) {
        throw new Refusal("not_found", `${quoteName(id)} is not on the list of people`, {
          hint: "Add them first: askd user add <id>",
        });
      }
      const now = this.#deps.now();
      const row = withoutDirectory(await change(person, now), this.#deps.rules.directory);
      const committed = await this.#deps.store.commit(
        changePerson(person.version === 0 ? undefined : person, row, { now, by }),
      );
      if (committed.ok) return (await this.findPerson(id)) ?? { ...row, version: person.version + 1 };
    }
    throw new Refusal("moved", "This person was changed meanwhile; try again");
  }

  async listPeople(): Promise<Person[]> {
    const entries = await this.#deps.store.listEntries("person");
    const rows = entries.map((entry) => memoize(this.#known, entry, parsePerson));
    return withDirectory(rows, this.#deps.rules.directory).filter(({ removed }) => !removed);
  }

  /** Ids of removed people. */
  async listRemoved(): Promise<ReadonlySet<string>> {
    const people = (await this.#deps.store.listEntries("person")).map((entry) =>
      memoize(this.#known, entry, parsePerson),
    );
    return new Set(people.filter(({ removed }) => removed).map(({ id }) => id));
  }

  async findPerson(id: string): Promise<Person | undefined> {
    const entry = await this.#deps.store.findEntry("person", id);
    const people = withDirectory(entry ? [parsePerson(entry)] : [], this.#deps.rules.directory);
    return people.find((person) => person.id === id && !person.removed);
  }
}

/** A row that says nothing: its version is the lock on who is an admin, and on the addresses of people. */
export async function readRoster(store: Store): Promise<Entry> {
  const entry = await store.findEntry("roster", "admins");
  return { kind: "roster", id: "admins", version: entry?.version ?? 0, body: {} };
}

/** People change their own row; an admin that of anybody. */
function requireOwnRow(id: string, by: Actor, does: string) {
  if (by.scope !== "human" || actorName(by) === id) return;
  throw new Refusal("not_permitted", `Only ${quoteName(id)} or an admin can ${does}`);
}

/** A person may sign in elsewhere as themselves and let agents in; anything more is for an admin to give. */
function requireMayIssue(input: TokenInput, by: Actor) {
  requireAccess("make_token", by);
  if (by.scope === "admin" || by.scope === "system") return;
  const isOwn = input.scope === "agent" || (input.scope !== "admin" && input.subject === by.id);
  if (isOwn && !input.onBehalf && input.grants !== "admin") return;
  throw new Refusal(
    "not_permitted",
    `A token of scope ${input.scope} for ${input.subject} can only be made by an admin`,
    { fact: { is: "token_scope", subject: input.subject } },
  );
}

/** A code to sign in is short-lived, or lasts as long as an invitation at most. */
function loginLifetime({ expiresAt }: TokenInput, now: Instant): Pick<Token, "expiresAt"> {
  const isOwn = expiresAt === undefined || expiresAt === "never";
  return { expiresAt: isOwn ? later(now, LOGIN_MS) : earlier(expiresAt, later(now, INVITE_MS)) };
}
