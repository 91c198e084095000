import { z } from "zod";
import { Actor, Strength } from "../people/actor.ts";
import type { QuestionSnapshot } from "../changes.ts";
import { Content } from "../question/content.ts";
import { Event, type KeptEvent } from "../trail/event.ts";
import { shortId } from "../id.ts";
import { Instant } from "../instant.ts";
import { linkPath } from "../question/link.ts";
import { Machine } from "../run/machine.ts";
import { Person } from "../people/person.ts";
import { Question } from "../question/question.ts";
import { Removal, RemovalView, viewRemoval } from "../people/removal.ts";
import { Run } from "../run/run.ts";
import { Troubles, TroublesView, viewTroubles } from "../run/failing-job.ts";
import { Token } from "../people/token.ts";
import { RunUsage, UsageView, viewUsage } from "../run/usage.ts";
import {
  MachineView,
  MaybeInstant,
  MaybeText,
  QuestionView,
  RunView,
  viewMachine,
  viewQuestion,
  viewRun,
} from "./view.ts";
import { toSnakeCase } from "./snake-case.ts";
import type { Reply } from "./route.ts";

const ReadRows = z.object({ run: Run, question: Question, content: Content });
const KeptEventRows = z.object({ event: Event, n: z.int(), hash: z.string(), cursor: z.string(), body: z.string() });

/** One event as programs see it. */
export const EventView = z.object({
  cursor: z.string(),
  n: z.int(),
  type: z.string(),
  at: Instant,
  run_id: z.string(),
  question_id: MaybeText,
  by: z.object({
    scope: z.string(),
    id: z.string(),
    channel: z.string(),
    strength: Strength,
    on_behalf_of: MaybeText,
  }),
  from: MaybeText,
  to: z.string(),
  version: z.int(),
  detail: z.record(z.string(), z.unknown()).nullable(),
  hash: z.string(),
});
export type EventView = z.infer<typeof EventView>;

const TokenView = z.object({
  id: z.string(),
  scope: z.string(),
  subject: z.string(),
  run_id: MaybeText,
  question_id: MaybeText,
  on_behalf: z.boolean(),
  name: MaybeText,
  maker: MaybeText,
  created_at: Instant,
  used_at: MaybeInstant,
  expires_at: MaybeInstant,
  revoked_at: MaybeInstant,
});
const PersonView = z.object({
  id: z.string(),
  name: MaybeText,
  email: MaybeText,
  slack: MaybeText,
  github: MaybeText,
  chat: MaybeText,
  groups: z.array(z.string()),
  quiet: MaybeText,
  ntfy: MaybeText,
  channels: z.array(z.string()),
  muted: z.array(z.string()),
  away: z.object({ until: MaybeInstant, delegate: MaybeText }).nullable(),
  language: MaybeText,
  digest: MaybeText,
  interruptions_per_hour: z.int().nullable(),
  bounced: z.object({ why: z.string(), at: Instant }).nullable(),
});
const VerifiedView = z.object({ runs: z.int(), events: z.int(), seals: z.int(), problems: z.array(z.string()) });

/** A page of a list, and from where the next one goes on. */
interface Page<Row> {
  rows: Row[];
  next?: string;
}

export const questionReply: Reply<QuestionSnapshot> = { rows: ReadRows, schema: QuestionView, view: viewQuestion };
export const doneReply: Reply<QuestionSnapshot & { isNew: boolean }> = {
  rows: ReadRows.extend({ isNew: z.boolean() }),
  schema: QuestionView,
  view: viewQuestion,
};
export const questionsReply: Reply<Page<QuestionSnapshot>> = {
  rows: pageOf(ReadRows),
  schema: z.object({ questions: z.array(QuestionView), next_cursor: MaybeText }),
  view: ({ rows, next }, machines) => ({
    questions: rows.map((read) => viewQuestion(read, machines)),
    next_cursor: next ?? null,
  }),
};
export const troublesReply: Reply<Troubles> = { rows: Troubles, schema: TroublesView, view: viewTroubles };
export const runReply: Reply<Run> = { rows: Run, schema: RunView, view: viewRun };
export const runsReply: Reply<Page<Run>> = {
  rows: pageOf(Run),
  schema: z.object({ runs: z.array(RunView), next_cursor: MaybeText }),
  view: ({ rows, next }, machines) => ({
    runs: rows.map((run) => viewRun(run, machines)),
    next_cursor: next ?? null,
  }),
};
export const usageReply: Reply<RunUsage[]> = {
  rows: z.array(RunUsage),
  schema: z.object({ usage: z.array(UsageView.extend({ run_id: z.string() })) }),
  view: (usage) => ({ usage: usage.map((one) => ({ run_id: one.runId, ...viewUsage(one) })) }),
};
export const machinesReply: Reply<Machine[]> = {
  rows: z.array(Machine),
  schema: z.object({ machines: z.array(MachineView) }),
  view: (machines) => ({ machines: machines.map(({ id, heardAt }) => viewMachine({ id, heardAt })) }),
};
export const eventsReply: Reply<Page<KeptEvent>> = {
  rows: pageOf(KeptEventRows),
  schema: z.object({ events: z.array(EventView), next_cursor: MaybeText }),
  view: ({ rows, next }) => ({ events: rows.map(viewEvent), next_cursor: next ?? null }),
};
export const foundReply: Reply<{ runs: Run[]; questions: Question[] }> = {
  rows: z.object({ runs: z.array(Run), questions: z.array(Question) }),
  schema: z.object({
    runs: z.array(RunView),
    questions: z.array(QuestionView.pick({ id: true, short_id: true, run_id: true, title: true, status: true })),
  }),
  view: ({ runs, questions }, machines) => ({
    runs: runs.map((run) => viewRun(run, machines)),
    questions: questions.map(({ id, runId, title, status }) => {
      return { id, short_id: shortId(id), run_id: runId, title, status };
    }),
  }),
};
export const tokensReply: Reply<Token[]> = {
  rows: z.array(Token),
  schema: z.object({ tokens: z.array(TokenView) }),
  view: (tokens) => ({ tokens: tokens.map(viewToken) }),
};
export const tokenReply: Reply<Token> = { rows: Token, schema: TokenView, view: viewToken };
export const issuedReply: Reply<{ text: string; token: Token }> = {
  rows: z.object({ text: z.string(), token: Token }),
  schema: TokenView.extend({ text: z.string().describe("Shown this once and kept nowhere") }),
  view: ({ text, token }) => ({ ...viewToken(token), text }),
};
export const linkReply: Reply<{ text: string; token: Token }> = {
  rows: issuedReply.rows,
  schema: TokenView.extend({
    path: z.string().describe("Where that person answers; shown this once and kept nowhere"),
  }),
  view: ({ text, token }) => ({ ...viewToken(token), path: linkPath(text) }),
};
export const meReply: Reply<{ actor: Actor; token: Token }> = {
  rows: z.object({ actor: Actor, token: Token }),
  schema: z.object({ id: z.string(), scope: z.string(), token: TokenView }),
  view: ({ actor, token }) => ({ id: actor.id, scope: actor.scope, token: viewToken(token) }),
};
export const personReply: Reply<Person> = { rows: Person, schema: PersonView, view: viewPerson };
export const peopleReply: Reply<Person[]> = {
  rows: z.array(Person),
  schema: z.object({ people: z.array(PersonView) }),
  view: (people) => ({ people: people.map(viewPerson) }),
};
export const removalReply: Reply<Removal> = {
  rows: Removal,
  schema: RemovalView,
  view: (removal) => viewRemoval(removal),
};
export const verifiedReply: Reply<z.infer<typeof VerifiedView>> = same(VerifiedView);
export const countReply: Reply<{ count: number }> = same(z.object({ count: z.int() }));
export const doneCountReply: Reply<{ done: number }> = same(z.object({ done: z.int() }));
export const nowReply: Reply<{ now: Instant }> = same(z.object({ now: Instant }));
export const cursorReply: Reply<{ cursor: string }> = same(z.object({ cursor: z.string() }));
export const textReply: Reply<{ text: string }> = same(z.object({ text: z.string() }));

export function viewEvent({ event, n, hash, cursor }: KeptEvent): EventView {
  const { scope, id, channel, strength, onBehalfOf } = event.by;
  return {
    cursor,
    n,
    type: event.type,
    at: event.at,
    run_id: event.runId,
    question_id: event.questionId ?? null,
    by: { scope, id, channel, strength, on_behalf_of: onBehalfOf ?? null },
    from: event.from ?? null,
    to: event.to,
    version: event.version,
    detail: event.detail ? EventView.shape.detail.parse(toSnakeCase(event.detail)) : null,
    hash,
  };
}

function pageOf<Row>(row: z.ZodType<Row>): z.ZodType<Page<Row>> {
  return z.object({ rows: z.array(row), next: z.string().optional() });
}

function same<Rows>(schema: z.ZodType<Rows>): Reply<Rows> {
  return { rows: schema, schema, view: (rows) => rows };
}

function viewToken(token: Token): z.infer<typeof TokenView> {
  return {
    id: token.id,
    scope: token.scope,
    subject: token.subject,
    run_id: token.runId ?? null,
    question_id: token.questionId ?? null,
    on_behalf: token.onBehalf,
    name: token.name ?? null,
    maker: token.maker ?? null,
    created_at: token.createdAt,
    used_at: token.usedAt ?? null,
    expires_at: token.expiresAt ?? null,
    revoked_at: token.revokedAt ?? null,
  };
}

export function viewPerson(person: Person): z.infer<typeof PersonView> {
  return {
    id: person.id,
    name: person.name ?? null,
    email: person.email ?? null,
    slack: person.slack ?? null,
    github: person.github ?? null,
    chat: person.chat ?? null,
    groups: person.groups,
    quiet: person.quiet ?? null,
    ntfy: person.ntfy ?? null,
    channels: person.channels ?? [],
    muted: person.muted ?? [],
    away: person.away ? { until: person.away.until ?? null, delegate: person.away.delegate ?? null } : null,
    language: person.language ?? null,
    digest: person.digest ?? null,
    interruptions_per_hour: person.interruptionsPerHour ?? null,
    bounced: person.bounced ? { why: person.bounced.why, at: person.bounced.at } : null,
  };
}
