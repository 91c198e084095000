import { z } from "zod";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../core/instant.ts";
import { TimeoutPolicy } from "../core/question/timeout-policy.ts";
import { Channels } from "./channel-schema.ts";
import {
  absoluteFile,
  address,
  count,
  duration,
  flag,
  hours,
  oneOf,
  fraction,
  secretFile,
  text,
  variable,
  commandWords,
} from "./value.ts";

const YEAR_MS = 366 * DAY_MS;
const MOST_UNDO_MS = 10 * MINUTE_MS;
const MOST_BYTES = 16 * 1024 * 1024;
const MOST = 1_000_000;
const NAME = /^[A-Za-z0-9][\w-]{0,63}$/;

const undoWindow = () => duration(0, MOST_UNDO_MS, "5s").optional();
const bytes = () => count(1, MOST_BYTES).optional();
const many = () => count(1, MOST).optional();

const Questions = z.object({
  live_window: duration(0, DAY_MS, "3m").optional().describe("How long a question waits with the agent alive"),
  timeout: duration(SECOND_MS, YEAR_MS, "24h").optional().describe("How long a question can be answered"),
  on_timeout: oneOf(TimeoutPolicy.options).optional().describe("What happens to a question that nobody answers"),
  max_per_run: count(0, MOST).optional().describe("How many questions a run may ask"),
  remind_at: z
    .array(fraction(), { error: "write a list of numbers from 0 to 1, such as [0.5, 0.9]" })
    .max(10, { error: "write at most 10 numbers" })
    .optional()
    .describe("Parts of the time left at which people are reminded"),
  confidence: z
    .object(
      { act: fraction().optional().describe("An agent this sure goes on with what it recommends") },
      { error: "write { act = 0.8 }" },
    )
    .optional()
    .describe("How sure an agent must be to go on without asking"),
});

const Answers = z.object({
  undo_window: z
    .object(
      { web: undoWindow(), slack: undoWindow(), cli: undoWindow(), api: undoWindow() },
      {
        error: 'write a table, such as { web = "5s", cli = "0s" }',
      },
    )
    .optional()
    .describe("How long an answer can be taken back, by where it was given"),
});

const Notifications = z.object({
  terminal_bell: flag().optional().describe("Ring the terminal's bell when something waits for you"),
  macos_notification: flag().optional().describe("Show a notification of macOS"),
  webhook_url: address().optional().describe("Where questions are posted"),
  quiet_hours: hours().optional().describe("When nothing rings, by the clock of this machine"),
});

const Limits = z.object({
  question_bytes: bytes().describe("Text of one question"),
  context_bytes: bytes().describe("Context of one ask"),
  answer_bytes: bytes().describe("Text of one answer"),
  items: count(1, 100).optional().describe("Questions in one ask"),
  options: count(1, 1_000).optional().describe("Options of one question"),
  header_chars: count(1, 200).optional().describe("Characters of a header"),
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

const Alerts = z.object({
  pending_questions_threshold: count(0, MOST).optional().describe("Warn when more questions than this wait"),
  timeout_rate_threshold: fraction().optional().describe("Warn when a larger part than this timed out"),
  window: duration(MINUTE_MS, 30 * DAY_MS, "24h")
    .optional()
    .describe("How far back the part is counted"),
});

const Redact = z.object({
  patterns: z
    .array(
      z
        .string({ error: "write a regular expression in quotes" })
        .max(500, { error: "write at most 500 characters" })
        .refine(isPattern, { error: "write a regular expression that JavaScript knows and that matches some text" }),
      { error: "write a list of regular expressions" },
    )
    .max(50, { error: "write at most 50 patterns" })
    .optional()
    .describe("What is taken out before anything goes to a channel, besides the usual forms of secrets"),
});

const Server = z.object({
  port: count(0, 65_535).optional().describe("Where the server listens; 0 picks a port"),
  host: text("an address of this machine").optional().describe("The address to listen on, behind a proxy"),
  names: z
    .array(text("a host name"), { error: 'write a list of names, such as ["askd.example.com"]' })
    .max(20, { error: "write at most 20 names" })
    .optional()
    .describe("Names that the server answers to, besides this machine's own"),
  behind_proxy: flag().optional().describe("A proxy with TLS stands before the server"),
});

const Store = z
  .object(
    {
      url: z
        .string({ error: 'write "sqlite:/<path>" or "postgres://<user>@<host>/<database>"' })
        .regex(/^(sqlite:(\/\/)?(\/|[A-Za-z]:)|postgres(ql)?:\/\/)/, {
          error: 'write "sqlite:/<absolute path>" or "postgres://<user>@<host>/<database>"',
        })
        .refine((url) => !/:\/\/[^/@]*:[^/@]*@/.test(url), {
          error: "write it without the password, or name a variable that holds all of it with url_env",
        })
        .optional()
        .describe("Where questions are kept"),
      url_env: variable().optional().describe("The variable that holds the address of the store"),
      url_file: secretFile().optional().describe("The file that holds the address of the store"),
    },
    { error: "write a table" },
  )
  .refine((store) => Object.keys(store).length <= 1, { error: "write only one of url, url_env and url_file" });

const Callbacks = z.object({
  allow_loopback: flag().optional().describe("Callbacks may go to programs on this machine, without TLS"),
});

const Audit = z
  .object(
    {
      anchor_file: absoluteFile("a file that every seal is appended to")
        .optional()
        .describe("The file that every seal of the trail is appended to"),
      anchor_git: flag().optional().describe("Commit that file in its git repository"),
      anchor_url: address().optional().describe("Where every seal is posted as a signed webhook"),
      anchor_secret_env: variable().optional().describe("The variable that holds the secret that signs these posts"),
      anchor_secret_file: secretFile().optional().describe("The file that holds that secret"),
    },
    { error: "write a table" },
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

const AgentSection = z.object({
  argv: commandWords('["my-agent", "--headless"]')
    .optional()
    .describe("The program and its first words, for run --agent"),
  resume: commandWords('["my-agent", "--resume", "{session}"]')
    .optional()
    .describe("How it is started again with an answer"),
  live_window: duration(SECOND_MS, DAY_MS, "3m").optional().describe("How long its questions wait with it alive"),
  max_turns: many().describe("How many turns it may take"),
  budget: z
    .number({ error: "write an amount in dollars, such as 2.5" })
    .positive({ error: "write an amount above 0" })
    .optional()
    .describe("What it may cost, in dollars"),
});

const Profile = z
  .object(
    {
      url: address().optional().describe("The server to use"),
      token_env: variable().optional().describe("The variable that holds the token for it"),
      token_file: secretFile().optional().describe("The file that holds the token for it"),
      store: Store.shape.url.describe("The store to use instead of a server"),
    },
    { error: "write a table" },
  )
  .refine(({ url, store }) => (url === undefined) !== (store === undefined), {
    error: "write either a url or a store",
  });

const named = <Section extends z.ZodType>(section: Section) =>
  z.record(z.string().regex(NAME, { error: "write a name of letters, digits, - and _" }), section);

/** The schema of all settings, used by files, commands, the docs page and editors. */
export const Values = z.object({
  profile: text("the name of a profile").optional().describe("The profile to use when nothing else is said"),
  questions: Questions.optional(),
  answers: Answers.optional(),
  notifications: Notifications.optional(),
  channels: Channels.optional(),
  limits: Limits.optional(),
  alerts: Alerts.optional(),
  redact: Redact.optional(),
  server: Server.optional(),
  store: Store.optional(),
  callbacks: Callbacks.optional(),
  audit: Audit.optional(),
  agents: named(AgentSection).optional(),
  profiles: named(Profile).optional(),
});
export type Values = z.infer<typeof Values>;

/** The defaults that `config list` shows; a test compares them with the rules of the product. */
export const DEFAULTS = {
  questions: { live_window: "3m", timeout: "24h", on_timeout: "fail", max_per_run: 100, remind_at: [0.5, 0.9] },
  answers: { undo_window: { web: "5s", slack: "5s", cli: "0s", api: "0s" } },
  notifications: { terminal_bell: true },
  limits: {
    question_bytes: 16_384,
    context_bytes: 65_536,
    answer_bytes: 65_536,
    items: 10,
    options: 50,
    header_chars: 30,
    asks_per_run: 100,
    asks_per_minute: 10,
    pending: 10_000,
    replies_per_minute: 10,
    comments: 200,
    requests_per_minute: 6_000,
    anonymous_per_minute: 3_000,
    streams: 256,
    streams_per_token: 64,
    holds: 20_000,
    holds_per_token: 10_000,
  },
  alerts: { pending_questions_threshold: 10, timeout_rate_threshold: 0.3, window: "24h" },
  redact: { patterns: [] },
  server: { port: 4319, names: [], behind_proxy: false },
  callbacks: { allow_loopback: false },
  audit: { anchor_git: false },
} satisfies Values;

/** Says whether this is a usable pattern; one that matches the empty text would mask every position. */
function isPattern(source: string): boolean {
  try {
    return !new RegExp(source, "u").test("");
  } catch {
    return false; // not a regular expression
  }
}
