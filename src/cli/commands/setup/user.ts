import { machineZone } from "../../../config/rules.ts";
import { viewPerson } from "../../../core/api/reply.ts";
import { Person, Preferences, plainName } from "../../../core/people/person.ts";
import { inZone } from "../../../core/people/quiet-hours.ts";
import { Refusal } from "../../../core/refusal.ts";
import { RemovalView, hasHoldings, viewRemoval, type Removal } from "../../../core/people/removal.ts";
import type { Engine } from "../../../engine/engine.ts";
import { findNearest } from "../../../core/text/nearest.ts";
import { shortId } from "../../../core/id.ts";
import { Instant } from "../../../core/instant.ts";
import { SHOWN_ID_CHARS } from "../../../core/people/token.ts";
import { whoManages } from "../../actor.ts";
import { unknownVerb, requireOneArgument } from "../../arguments.ts";
import { type Command, isListOrShow } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { type ClockOffset, sayMoment } from "../../view/relative-time.ts";
import { cellsOf, padCells } from "../../terminal/terminal.ts";

const ADDRESS = /^[^\s@]+@[^\s@]+$/;
const REMOVAL_FIELDS = Object.keys(RemovalView.shape);
const FIELDS = [
  "id",
  "name",
  "email",
  "slack",
  "github",
  "chat",
  "groups",
  "quiet",
  "ntfy",
  "channels",
  "muted",
  "away",
  "language",
  "digest",
  "interruptions_per_hour",
  "bounced",
];

const flags = {
  name: { type: "string", value: "name", about: "add, set: their display name" },
  email: { type: "string", value: "address", about: "add, set: their email address" },
  slack: { type: "string", value: "id", about: "add, set: their Slack id, like U024BE7LH" },
  github: { type: "string", value: "login", about: "add, set: their GitHub login" },
  chat: { type: "string", value: "id", about: "add, set: their account in Discord, Teams or another chat service" },
  "quiet-hours": { type: "string", value: "hours", about: "add, set: when they get no messages, like 22:00-07:00" },
  ntfy: { type: "string", value: "topic", about: "add, set: an ntfy topic of their own" },
  channel: {
    type: "string",
    multiple: true,
    value: "channel",
    about: "add, set: a channel that they prefer; repeat it in their order of preference",
  },
  mute: {
    type: "string",
    multiple: true,
    value: "channel",
    about: "add, set: a channel in which they are not told; can be repeated",
  },
  language: { type: "string", value: "en|de", about: "add, set: the language of messages to them" },
  digest: { type: "string", value: "span", about: "add, set: after a message, others are collected for this long" },
  interruptions: { type: "string", value: "count", about: "add, set: interruptions an hour; beyond it, one digest" },
  yes: { type: "boolean", about: "remove: also release or revoke what they hold" },
  "hand-over": { type: "string", value: "id", about: "remove: the new owner of the tokens they made for others" },
  group: { type: "string", multiple: true, value: "group", about: "add, set: a group of theirs; can be repeated" },
} as const satisfies Flags;
type FlagValues = Values<typeof flags>;
/** The flags by which people say themselves where, when and how they are told. */
const PREFERENCE_FLAGS: ReadonlySet<string> = new Set([
  "quiet-hours",
  "digest",
  "interruptions",
  "channel",
  "mute",
  "language",
]);

export const command: Command<typeof flags> = {
  usage: "user list|show|add|set|remove [<id>]",
  flags,
  isLooking: isListOrShow,
  fields: [...FIELDS, ...REMOVAL_FIELDS],
  examples: [
    "askd user add lena --email lena@example.com --slack U024BE7LH --group ops",
    "askd user set lena --group ops --group oncall",
    "askd user set lena --channel telegram --channel ntfy --mute desktop",
    'askd user set lena --quiet-hours "22:00-07:00 Europe/Berlin"',
    "askd user set lena --digest 15m --interruptions 6",
    "askd user remove lena --yes --hand-over mika",
  ],
  async run(args, context) {
    const [what, ...rest] = args.positionals;
    const engine = await context.engine();
    if (what === undefined || (what === "list" && rest.length === 0)) return list(engine, context);
    if (what === "show") return show(await getPerson(engine, requireOneArgument(rest, command.usage)), context);
    if (what === "add" || what === "set")
      return put(what, requireOneArgument(rest, command.usage), args.flags, engine, context);
    if (what === "remove") {
      return remove(await getPerson(engine, requireOneArgument(rest, command.usage)), args.flags, engine, context);
    }
    throw unknownVerb(args.positionals, command.usage);
  },
};

async function list(engine: Engine, context: Context) {
  const people = (await engine.listPeople()).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  printResult(context, FIELDS, {
    page: () => (people.length === 0 ? sayNobody(context) : renderPeople(people)),
    json: () => people.map(viewPerson),
  });
  return 0;
}

function sayNobody({ program }: Context) {
  return `No people yet. Add one: ${program} user add <id> --email <address>\n`;
}

async function show(person: Person, context: Context) {
  printResult(context, FIELDS, { page: () => renderPeople([person]), json: () => viewPerson(person) });
  return 0;
}

async function put(what: "add" | "set", id: string, given: FlagValues, engine: Engine, context: Context) {
  const people = await engine.listPeople();
  const before = people.find((person) => person.id === id);
  if (before && what === "add") {
    throw new Refusal("bad_input", `${oneLine(id)} already exists`, { hint: `Change them: askd user set ${id} …` });
  }
  if (!before && what === "set") throw noPerson(id, people);
  const {
    group,
    channel,
    mute,
    interruptions,
    yes: _yes,
    "hand-over": _handOver,
    "quiet-hours": quiet,
    ...said
  } = given;
  if (said.email && !ADDRESS.test(said.email)) {
    throw new Refusal("bad_input", `"${oneLine(said.email)}" is not an address`, {
      hint: "Write --email lena@example.com",
    });
  }
  const parsed = Person.safeParse({
    version: 0,
    groups: [],
    ...before,
    id,
    ...Object.fromEntries(
      ["name", "email", "slack", "github", "chat", "ntfy", "language", "digest"].flatMap((field) =>
        wordOf(field, said),
      ),
    ),
    // An address that is set anew counts again.
    ...(said.email !== undefined && { bounced: undefined }),
    ...(quiet !== undefined && { quiet: quiet === "" ? undefined : inZone(quiet, machineZone()) }),
    ...(interruptions !== undefined && {
      interruptionsPerHour: interruptions === "" ? undefined : Number(interruptions),
    }),
    ...(group && { groups: listOf(group).map(plainName) }),
    ...(channel && { channels: listOf(channel) }),
    ...(mute && { muted: listOf(mute) }),
  });
  if (!parsed.success) throw badPerson(id, parsed.error.issues[0]?.path[0]);
  const by = await whoManages(engine, context);
  // People change how they are told themselves; for anything else they need an admin.
  const isOwnBusiness =
    what === "set" && Object.entries(given).every(([flag, value]) => value === undefined || PREFERENCE_FLAGS.has(flag));
  const done = isOwnBusiness
    ? await engine.setPreferences(id, Preferences.parse(parsed.data), by)
    : await engine.putPerson(parsed.data, by);
  printResult(context, FIELDS, {
    page: () =>
      context.isQuiet ? "" : `✓ ${oneLine(done.id)} is ${before ? "changed" : "added"}\n${renderPeople([done])}`,
    json: () => viewPerson(done),
  });
  return 0;
}

/** Removes a person and what they hold; shows it first and needs --yes if there is any. */
async function remove({ id }: Person, given: FlagValues, engine: Engine, context: Context) {
  const by = await whoManages(engine, context);
  const handOverTo = given["hand-over"];
  const trial = await engine.removePerson(id, { handOverTo, isTrial: true }, by);
  const isGoing = given.yes === true || !hasHoldings(trial);
  const removal = isGoing ? await engine.removePerson(id, { handOverTo }, by) : trial;
  printResult(context, REMOVAL_FIELDS, {
    page: () => (context.isQuiet && isGoing ? "" : renderRemoval(removal, context.ahead)),
    json: () => viewRemoval(removal),
  });
  if (isGoing) return 0;
  throw new Refusal("needs_confirmation", `${oneLine(id)} is not removed: they still hold the items above`, {
    hint: `Remove them anyway: askd user remove ${id} --yes`,
  });
}

/** The words of a repeated flag; an empty one leaves an empty list. */
function listOf(words: readonly string[]) {
  return words
    .flatMap((each) => each.split(","))
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/** An empty value removes a field. */
function wordOf(field: string, said: Readonly<Record<string, unknown>>) {
  const value = said[field];
  return value === undefined ? [] : [[field, value === "" ? undefined : value]];
}

async function getPerson(engine: Engine, id: string) {
  const people = await engine.listPeople();
  const found = people.find((person) => person.id === id);
  if (found) return found;
  throw noPerson(id, people);
}

function noPerson(id: string, people: readonly Person[]) {
  const meant = findNearest(
    id,
    people.map((person) => person.id),
  );
  return new Refusal("not_found", `There is no person "${oneLine(id)}"`, {
    hint: meant ? `Did you mean ${meant}?` : "List them: askd user list",
  });
}

function badPerson(id: string, field: PropertyKey | undefined) {
  if (field === "quiet") {
    return new Refusal("bad_input", "--quiet-hours is not a part of the day", {
      hint: 'Write --quiet-hours 22:00-07:00 or --quiet-hours "22:00-07:00 Europe/Berlin"',
    });
  }
  if (field === "digest")
    return new Refusal("bad_input", "--digest is not a time up to a day", {
      hint: "Write --digest 15m, or 0s for none",
    });
  if (field === "interruptionsPerHour") {
    return new Refusal("bad_input", "--interruptions is not a number from 1 to 1000", {
      hint: "Write --interruptions 6",
    });
  }
  if (field === "language")
    return new Refusal("bad_input", "--language is not a language of askd", { hint: "Write --language en or de" });
  if (field !== "id") return new Refusal("bad_input", `--${String(field ?? "name")} is too long or not valid`);
  return new Refusal("bad_input", `"${oneLine(id).slice(0, 80)}" is not a valid id of a person`, {
    hint: "Use letters, digits, - and _, at most 64",
  });
}

/** The output of `askd user list`: a line per person, with their addresses on channels. */
function renderPeople(people: readonly Person[]) {
  const rows = people.map((person) => [
    oneLine(person.id),
    oneLine(person.name ?? ""),
    person.groups.map(oneLine).join(", "),
    reachOf(person),
  ]);
  const columns = [0, 1, 2].map((column) => Math.max(...rows.map((row) => cellsOf(row[column] ?? ""))));
  const lines = rows.map((row) => {
    const left = columns.flatMap((cells, column) => (cells === 0 ? [] : [padCells(row[column] ?? "", cells)]));
    return [...left, row[3] ?? ""].join("  ").trimEnd();
  });
  return `${lines.join("\n")}\n`;
}

function reachOf({ email, slack, github, quiet, ntfy, channels = [], muted = [], away, language, ...more }: Person) {
  const ways = [
    ...(email === undefined ? [] : [email]),
    ...(more.bounced === undefined ? [] : [`(${more.bounced.why})`]),
    ...(slack === undefined ? [] : [`Slack ${slack}`]),
    ...(github === undefined ? [] : [`GitHub ${github}`]),
    ...(more.chat === undefined ? [] : [`chat ${more.chat}`]),
    ...(ntfy === undefined ? [] : [`ntfy ${ntfy}`]),
    ...(channels.length === 0 ? [] : [`prefers ${channels.join(", ")}`]),
    ...(muted.length === 0 ? [] : [`not in ${muted.join(", ")}`]),
    ...(quiet === undefined ? [] : [`quiet ${quiet}`]),
    ...(away === undefined ? [] : [sayAway(away)]),
    ...(language === undefined ? [] : [language]),
    ...(more.digest === undefined ? [] : [`digest ${more.digest}`]),
    ...(more.interruptionsPerHour === undefined ? [] : [`at most ${more.interruptionsPerHour} interruptions an hour`]),
  ];
  return ways.map(oneLine).join(", ");
}

function sayAway({ until, delegate }: NonNullable<Person["away"]>) {
  const end = until === undefined ? "" : ` until ${until.slice(0, 10)}`;
  return `away${end}${delegate === undefined ? "" : ` (${delegate})`}`;
}

/** Everything that a removed person holds, one line each with what happens to it. */
function renderRemoval(removal: Removal, ahead: ClockOffset) {
  const { claims, assignments, votes, approvals, tokens } = removal;
  const is = removal.isRemoved ? "is" : "would be";
  const about = ({ id, title }: { id: string; title: string }) => `${shortId(id)} ${oneLine(title)}`;
  const lines = [
    ...claims.map((held) => `claim on ${about(held)}: ${is} released`),
    ...assignments.map(
      (held) => `assigned ${about(held)}: ${is} for ${held.to.map(oneLine).join(", ") || "everybody"}`,
    ),
    ...votes.map(
      (held) => `vote on ${about(held)}: ${removal.isRemoved ? "no longer counts" : "would no longer count"}`,
    ),
    ...approvals.map(
      (held) =>
        `approval ${about(held)}: needs ${held.need}, ${held.left} left; waits for its deadline${sayDue(held.dueAt, ahead)}`,
    ),
    ...tokens.map((token) => {
      const name = token.name === undefined ? "" : ` "${oneLine(token.name)}"`;
      const then = token.handedTo === undefined ? "revoked" : `handed over to ${oneLine(token.handedTo)}`;
      return `${token.scope} token ${token.id.slice(0, SHOWN_ID_CHARS)}${name} of ${oneLine(token.subject)}: ${is} ${then}`;
    }),
  ];
  const head = removal.isRemoved ? `✓ ${oneLine(removal.person)} is removed` : `${oneLine(removal.person)} holds:`;
  return `${[head, ...lines.map((line) => `  ${line}`)].join("\n")}\n`;
}

function sayDue(dueAt: string | undefined, ahead: ClockOffset) {
  const due = Instant.safeParse(dueAt);
  return due.success ? ` (${sayMoment(due.data, ahead)})` : "; it has no deadline: cancel it";
}
