import { LANGUAGES } from "../core/text/language.ts";
import { z } from "zod";
import { toSnakeCase } from "../core/api/snake-case.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../core/instant.ts";
import { Risk } from "../core/question/risk.ts";
import { TimeoutPolicy } from "../core/question/timeout-policy.ts";
import { DEFAULT_LIMITS } from "../core/rules.ts";
import { Channels, topic } from "./channel-schema.ts";
import {
  absoluteFile,
  address,
  count,
  duration,
  flag,
  hours,
  oneOf,
  origin,
  fraction,
  secretFile,
  section,
  text,
  variable,
  commandWords,
} from "./setting-type.ts";

const YEAR_MS = 366 * DAY_MS;
const MOST_UNDO_MS = 10 * MINUTE_MS;
const MOST_BYTES = 16 * 1024 * 1024;
const MOST = 1_000_000;
const NAME = /^[A-Za-z0-9][\w-]{0,63}$/;

const undoWindow = () => duration(0, MOST_UNDO_MS, "5s");
const bytes = () => count(1, MOST_BYTES);
const many = () => count(1, MOST);

const Questions = section({
  live_window: duration(0, DAY_MS, "3m").describe("How long a question waits with the agent alive"),
  timeout: duration(SECOND_MS, YEAR_MS, "24h").describe("How long a question can be answered"),
  on_timeout: oneOf(TimeoutPolicy.options).describe("What happens to a question that nobody answers"),
  max_per_run: count(0, MOST).describe("How many questions a run may ask"),
  remind_at: z
    .array(fraction(), "write a list of numbers from 0 to 1, such as [0.5, 0.9]")
    .max(10, "write at most 10 numbers")
    .describe("Parts of the time left at which people are reminded"),
  confidence: section(
    {
      act: fraction().describe("An agent at least this sure goes on with what it recommends"),
      ask: fraction().describe("An agent less sure than this is not asked about, by below"),
      below: oneOf(["ask", "skip", "block"]).describe("What happens to the run of an agent that is less sure than ask"),
    },
    "write { act = 0.85, ask = 0.5 }",
  )
    .refine(({ act = 1, ask = 0 }) => ask <= act, "write a number for ask that is not above act")
    .describe("How sure an agent must be to go on without asking, and to be asked about"),
});

const STEPS = 'write a list, such as [{ after = "30m", to = ["lena"] }]';
const stepNames = () => z.array(z.string(STEPS).min(1, STEPS), STEPS).max(50, STEPS);
const Escalation = section({
  steps: z
    .array(
      z
        .strictObject(
          { after: duration(SECOND_MS, YEAR_MS, "30m"), to: stepNames().optional(), channels: stepNames().optional() },
          STEPS,
        )
        .refine(({ to = [], channels = [] }) => to.length + channels.length > 0, STEPS),
      STEPS,
    )
    .min(1, STEPS)
    .max(10, "write at most 10 steps")
    .describe("Whom an escalated question goes to, one after the other, and how long each has"),
  then: oneOf(TimeoutPolicy.exclude(["escalate"]).options).describe("What happens after the last step"),
});

/** The names of all channels that tell people, configured or not; the terminal only rings for who looks at it. */
const CHANNEL_NAMES = Object.keys(Channels.shape).filter((name) => name !== "terminal");
const CHANNELS = `write a list of channels, such as ["telegram"]: ${CHANNEL_NAMES.join(", ")}`;
const channelNames = () =>
  z
    .array(
      z.string(CHANNELS).refine((name) => CHANNEL_NAMES.includes(name), CHANNELS),
      CHANNELS,
    )
    .max(20, CHANNELS);

const PEOPLE = 'write a list of people and groups, such as ["lena", "@ops"]';
const peopleNames = () => z.array(z.string(PEOPLE).regex(/^@?[A-Za-z0-9][\w-]{0,63}$/, PEOPLE), PEOPLE).max(50, PEOPLE);

const PersonSection = section(
  {
    name: text("their name").describe("Their name"),
    email: text("their address").describe("Their e-mail address"),
    slack: text("their Slack id").describe("Their Slack id"),
    github: text("their GitHub name").describe("Their GitHub name"),
    chat: text("their account in the chat service").describe("Their account in the chat service of channels.chat"),
    telegram: text("the id of their Telegram account").describe("The id of their Telegram account"),
    ntfy: topic().describe("An ntfy topic of their own"),
    channels: channelNames().describe("The channels that they prefer; they are told in the first that reaches them"),
    muted: channelNames().describe("The channels in which they are not told"),
    language: oneOf(LANGUAGES).describe("The language of messages to them"),
    quiet_hours: hours().describe("When no message is sent to them, unless the risk is high"),
    digest: duration(0, DAY_MS, "15m").describe("After a message to them, others are collected for this long"),
    interruptions_per_hour: count(1, 1_000).describe("How often they may be interrupted; beyond it one digest"),
  },
  "write a table, such as [people.lena]",
);

const ROUTE = 'write tables such as [[routes]] repo = "acme/*" people = ["lena"]';
const names = (example: string) => {
  const error = `write a name or a list of names, such as "${example}"`;
  const one = z.string(error).min(1, error).max(200, error);
  return z.union([one, z.array(one, error).min(1, error).max(50, error)], error).optional();
};
const someOf = <const Names extends readonly string[]>(known: Names) => {
  const error = `write one or a list of: ${known.map((name) => `"${name}"`).join(", ")}`;
  const one = z.enum(known, error);
  return z.union([one, z.array(one, error).min(1, error)], error).optional();
};
const Route = z
  .strictObject(
    {
      name: text("a name for this rule").optional(),
      repo: names("acme/*"),
      agent: names("claude"),
      label: names("payments"),
      kind: someOf(["question", "approval"]),
      risk: someOf(Risk.options),
      people: peopleNames().optional(),
      channels: channelNames().optional(),
    },
    { error: sayRouteKeys },
  )
  .refine(
    ({ people = [], channels = [] }) => people.length + channels.length > 0,
    'name people = ["lena"] or channels = ["telegram"] in it',
  );

const Answers = section({
  undo_window: section(
    { web: undoWindow(), slack: undoWindow(), cli: undoWindow(), api: undoWindow() },
    'write a table, such as { web = "5s", cli = "0s" }',
  ).describe("How long an answer can be taken back, by where it was given"),
});

const Notifications = section({
  terminal_bell: flag().describe("Short for channels.terminal.bell"),
  macos_notification: flag().describe("Short for channels.desktop.enabled, on macOS alone"),
  webhook_url: address().describe("Short for channels.webhook.url"),
  language: oneOf(LANGUAGES).describe("The language of messages to people who chose none"),
  quiet_hours: hours().describe(
    "When nothing rings and no message is sent, by the clock of this machine unless it names a time zone",
  ),
  digest: duration(0, DAY_MS, "15m").describe("After a message to a person, others are collected for this long"),
  interruptions_per_hour: count(1, 1_000).describe("How often a person may be interrupted; beyond it one digest"),
});

const Limits = section({
  question_bytes: bytes().describe("Text of one question"),
  context_bytes: bytes().describe("Context of one ask"),
  answer_bytes: bytes().describe("Text of one answer"),
  items: count(1, 100).describe("Questions in one ask"),
  options: count(1, 1_000).describe("Options of one question"),
  header_chars: count(1, 200).describe("Characters of a header"),
  asks_per_run: many().describe("Asks of one run"),
  asks_per_minute: many().describe("Asks of one run within a minute"),
  pending: many().describe("Questions that wait at a time"),
  replies_per_minute: many().describe("Replies of one person to one question within a minute"),
  comments: many().describe("Comments on one question"),
  requests_per_minute: many().describe("Requests of one token to a server within a minute"),
  anonymous_per_minute: many().describe("Requests from one address without a token within a minute"),
  streams: many().describe("Readers of a server's live events at a time"),
  streams_per_token: many().describe("Readers of live events with one token at a time"),
  holds: many().describe("Requests that a server holds open at a time"),
  holds_per_token: many().describe("Requests of one token that a server holds open at a time"),
});

const Alerts = section({
  pending_questions_threshold: count(0, MOST).describe("Warn when more questions than this wait"),
  timeout_rate_threshold: fraction().describe("Warn when a larger part than this timed out"),
  window: duration(MINUTE_MS, 30 * DAY_MS, "24h").describe("How far back the part is counted"),
  to: z.array(z.string().max(64)).max(50).describe("The people and groups who are told of alerts; everybody if empty"),
});

const Redact = section({
  patterns: z
    .array(
      z
        .string("write a regular expression in quotes")
        .max(500, "write at most 500 characters")
        .refine(isPattern, "write a regular expression that JavaScript knows and that matches some text"),
      "write a list of regular expressions",
    )
    .max(50, "write at most 50 patterns")
    .describe("What is taken out before anything goes to a channel, besides the usual forms of secrets"),
});

const Server = section({
  port: count(0, 65_535).describe("Where the server listens; 0 picks a port"),
  host: text("an address of this machine").describe("The address to listen on, behind a proxy"),
  names: z
    .array(text("a host name"), 'write a list of names, such as ["askd.example.com"]')
    .max(20, "write at most 20 names")
    .describe("Names that the server answers to, besides this machine's own"),
  behind_proxy: flag().describe("A proxy with TLS stands before the server"),
  public_url: origin().describe("The address under which people reach the server; messages link to it"),
});

const Store = section(
  {
    url: z
      .string('write "sqlite:/<path>" or "postgres://<user>@<host>/<database>"')
      .regex(
        /^(sqlite:(\/\/)?(\/|[A-Za-z]:)|postgres(ql)?:\/\/)/,
        'write "sqlite:/<absolute path>" or "postgres://<user>@<host>/<database>"',
      )
      .refine(
        (url) => !/:\/\/[^/@]*:[^/@]*@/.test(url),
        "write it without the password, or name a variable that holds all of it with url_env",
      )
      .describe("Where questions are kept"),
    url_env: variable().describe("The variable that holds the address of the store"),
    url_file: secretFile().describe("The file that holds the address of the store"),
  },
  "write a table",
).refine((store) => Object.keys(store).length <= 1, "write only one of url, url_env and url_file");

const Callbacks = section({
  allow_loopback: flag().describe("Callbacks may go to programs on this machine, without TLS"),
});

const Audit = section(
  {
    archive_after: duration(0, YEAR_MS, "24h").describe("How old questions and their trail must be to be compressed"),
    anchor_file: absoluteFile("a file that every seal is appended to").describe(
      "The file that every seal of the trail is appended to",
    ),
    anchor_git: flag().describe("Commit that file in its git repository"),
    anchor_url: address().describe("Where every seal is posted as a signed webhook"),
    anchor_secret_env: variable().describe("The variable that holds the secret that signs these posts"),
    anchor_secret_file: secretFile().describe("The file that holds that secret"),
  },
  "write a table",
)
  .refine(({ anchor_git: isGit, anchor_file: file }) => isGit !== true || file !== undefined, {
    path: ["anchor_git"],
    error: "write anchor_file first: anchor_git commits that file",
  })
  .refine(({ anchor_secret_env: name, anchor_secret_file: file }) => name === undefined || file === undefined, {
    path: ["anchor_secret_file"],
    error: "write only one of anchor_secret_env and anchor_secret_file",
  })
  .refine(
    ({ anchor_url: url, anchor_secret_env: name, anchor_secret_file: file }) =>
      url === undefined || name !== undefined || file !== undefined,
    {
      path: ["anchor_url"],
      error: "write anchor_secret_env or anchor_secret_file first: they name the secret that signs these posts",
    },
  );

const AgentSection = section({
  argv: commandWords('["my-agent", "--headless"]').describe("The program and its first words, for run --agent"),
  resume: commandWords('["my-agent", "--resume", "{session}"]').describe("How it is started again with an answer"),
  live_window: duration(SECOND_MS, DAY_MS, "3m").describe("How long its questions wait with it alive"),
  max_turns: many().describe("How many turns it may take"),
  budget: z
    .number("write an amount in dollars, such as 2.5")
    .positive("write an amount above 0")
    .describe("What it may cost, in dollars"),
});

const Profile = section(
  {
    url: address().describe("The server to use"),
    token_env: variable().describe("The variable that holds the token for it"),
    token_file: secretFile().describe("The file that holds the token for it"),
    store: Store.shape.url.describe("The store to use instead of a server"),
  },
  "write a table",
).refine(({ url, store }) => (url === undefined) !== (store === undefined), "write either a url or a store");

const MEMBERS = 'write a list of people, such as ["lena", "mika"]; a group lists people, not groups';

const Hook = section(
  {
    secret_env: variable().describe("The variable that holds the secret of the program's messages"),
    secret_file: secretFile().describe("Or the file, readable by you only"),
    on_behalf: flag().describe("The program may say who answered"),
    starts_workflows: flag().describe(
      "Its messages start workflows that wait for a webhook of this name, and answer nothing",
    ),
  },
  "write a table, such as [hooks.pager]",
);

const McpServer = section(
  {
    command: commandWords('["node", "server.mjs"]').describe("The program that serves the tools, and its arguments"),
    url: address().describe("Or the address of the server"),
    token_env: variable().describe("The variable that holds the token for that address"),
  },
  "write a table, such as [mcp_servers.code]",
).refine(({ command, url }) => (command === undefined) !== (url === undefined), "write either a command or a url");

const Workflows = section({
  secrets: z
    .array(variable(), 'write a list of variables, such as ["DEPLOY_KEY"]')
    .max(50, "write at most 50 variables")
    .describe("The variables that steps can use as secrets.<name>, in shell, http and MCP tools"),
});

const named = <Entry extends z.ZodType>(entry: Entry) =>
  z.record(z.string().regex(NAME, "write a name of letters, digits, - and _"), entry);

/** The schema of all settings, used by files, commands, the docs page and editors. */
export const Values = section({
  profile: text("the name of a profile").describe("The profile to use when nothing else is said"),
  questions: Questions,
  escalation: Escalation,
  people: named(PersonSection),
  groups: named(
    z.array(z.string(MEMBERS).regex(NAME, MEMBERS), MEMBERS).max(500, MEMBERS).describe("The people of a group"),
  ),
  routes: z
    .array(Route, ROUTE)
    .max(100, "write at most 100 routes")
    .describe("Whom questions go to and where, by repository, agent, label, kind and risk; the first match counts"),
  answers: Answers,
  notifications: Notifications,
  channels: Channels,
  hooks: named(Hook),
  limits: Limits,
  alerts: Alerts,
  redact: Redact,
  server: Server,
  store: Store,
  callbacks: Callbacks,
  audit: Audit,
  agents: named(AgentSection),
  mcp_servers: named(McpServer),
  workflows: Workflows,
  profiles: named(Profile),
});
export type Values = z.infer<typeof Values>;

/** The defaults that `config list` shows; a test compares them with the rules of the product. */
export const DEFAULTS = {
  questions: {
    live_window: "3m",
    timeout: "24h",
    on_timeout: "fail",
    max_per_run: 100,
    remind_at: [0.5, 0.9],
    confidence: { ask: 0.5, below: "ask" },
  },
  answers: { undo_window: { web: "5s", slack: "5s", cli: "0s", api: "0s" } },
  notifications: { terminal_bell: true, interruptions_per_hour: 20 },
  limits: Limits.parse(toSnakeCase(DEFAULT_LIMITS)),
  alerts: { pending_questions_threshold: 10, timeout_rate_threshold: 0.3, window: "24h", to: [] },
  redact: { patterns: [] },
  server: { port: 4319, names: [], behind_proxy: false },
  callbacks: { allow_loopback: false },
  audit: { archive_after: "24h", anchor_git: false },
} satisfies Values;

/** Says whether this is a usable pattern; one that matches the empty text would mask every position. */
function isPattern(source: string) {
  try {
    return !new RegExp(source, "u").test("");
  } catch {
    return false; // not a regular expression
  }
}

function sayRouteKeys(issue: { code?: string; keys?: unknown }) {
  const unknown = Array.isArray(issue.keys) ? `there is no "${String(issue.keys[0])}" in a route; ` : "";
  return `${unknown}write repo, agent, label, kind or risk, and people or channels`;
}
