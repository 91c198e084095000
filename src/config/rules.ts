import type { Route } from "../core/channel/route.ts";
import { plainName } from "../core/people/person.ts";
import { parseDuration } from "../core/text/duration.ts";
import { parseQuietHours } from "../core/people/quiet-hours.ts";
import { snakeCase } from "../core/api/snake-case.ts";
import { DEFAULT_LIMITS, DEFAULT_RULES, type Limits, type Rules } from "../core/rules.ts";
import { addressesOf, reachOf } from "./reach.ts";
import type { Values } from "./schema.ts";

/** Derives the rules from the configured values. */
export function rulesOf(values: Values, user?: string): Rules {
  const { questions = {}, callbacks = {}, redact = {} } = values;
  const base = DEFAULT_RULES;
  return {
    ...base,
    liveWindowMs: ms(questions.live_window, base.liveWindowMs),
    timeoutMs: ms(questions.timeout, base.timeoutMs),
    onTimeout: questions.on_timeout ?? base.onTimeout,
    escalation: escalationOf(values),
    remindAt: questions.remind_at ?? base.remindAt,
    addresses: addressesOf(values),
    language: values.notifications?.language ?? base.language,
    reach: reachOf(values, { platform: process.platform, user }),
    quietHours: quietHoursOf(values),
    attention: attentionOf(values),
    routes: routesOf(values),
    directory: directoryOf(values),
    publicUrl: values.server?.public_url,
    personChannel: provesPeople(values),
    confidence: confidenceOf(values),
    undoMs: undoOf(values),
    redact: (redact.patterns ?? []).map((source) => new RegExp(source, "gu")),
    callbackLoopback: callbacks.allow_loopback ?? base.callbackLoopback,
    archiveAfterMs: ms(values.audit?.archive_after, base.archiveAfterMs),
    alerts: alertsOf(values),
    limits: limitsOf(values),
  };
}

/**
 * Says whether a channel with personal accounts is configured. It counts even while it is down or its secret is
 * missing: an outage must not lower the required strength.
 */
function provesPeople({ channels = {} }: Values) {
  const { slack, github, email, telegram, chat } = channels;
  const accounts = [slack, github, telegram, chat, email?.authserv];
  return accounts.some((each) => each !== undefined);
}

function confidenceOf({ questions = {} }: Values): Rules["confidence"] {
  const base = DEFAULT_RULES.confidence;
  const { act = base.act, ask = base.ask, below = base.below } = questions.confidence ?? {};
  return { act, ask, below };
}

function escalationOf({ escalation }: Values): Rules["escalation"] {
  if (!escalation?.steps) return undefined;
  const steps = escalation.steps.map(({ after, to = [], channels = [] }) => ({
    afterMs: parseDuration(after),
    to: to.map(plainName),
    channels,
  }));
  return { steps, then: escalation.then };
}

/** The configured quiet hours; those without a time zone are by the clock of this machine. */
function quietHoursOf({ notifications = {}, people = {} }: Values): Rules["quietHours"] {
  const parse = (text: string | undefined) => {
    const parsed = text === undefined ? undefined : parseQuietHours(text);
    return parsed && { ...parsed, zone: parsed.zone ?? machineZone() };
  };
  const own = Object.entries(people).flatMap(([id, { quiet_hours: text }]) => {
    const hours = parse(text);
    return hours ? [[id, hours] as const] : [];
  });
  return { general: parse(notifications.quiet_hours), people: Object.fromEntries(own) };
}

function attentionOf({ notifications = {} }: Values): Rules["attention"] {
  const { digest, interruptions_per_hour: perHour } = notifications;
  const base = DEFAULT_RULES.attention;
  return {
    perMinute: base.perMinute,
    perHour: perHour ?? base.perHour,
    digestMs: digest === undefined ? undefined : ms(digest, 0),
  };
}

/** The time zone of this machine. */
export function machineZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function directoryOf({ people = {}, groups = {} }: Values): Rules["directory"] {
  const described = Object.entries(people).map(
    ([id, { quiet_hours: _hours, interruptions_per_hour: interruptionsPerHour, ...person }]) =>
      [id, interruptionsPerHour === undefined ? person : { ...person, interruptionsPerHour }] as const,
  );
  return { people: Object.fromEntries(described), groups };
}

function routesOf({ routes = [] }: Values): Route[] {
  return routes.map(({ name, repo, agent, label, kind, risk, people = [], channels = [] }, index) => ({
    name: name ?? `route ${index + 1}`,
    repo: listOf(repo),
    agent: listOf(agent),
    label: listOf(label),
    kind: listOf(kind),
    risk: listOf(risk),
    people: people.map(plainName),
    channels,
  }));
}

function listOf<Name extends string>(given: Name | Name[] | undefined): Name[] | undefined {
  return typeof given === "string" ? [given] : given;
}

function undoOf({ answers = {} }: Values): Rules["undoMs"] {
  const { web, slack, cli, api } = answers.undo_window ?? {};
  const base = DEFAULT_RULES.undoMs;
  return { web: ms(web, base.web), slack: ms(slack, base.slack), cli: ms(cli, base.cli), api: ms(api, base.api) };
}

function alertsOf({ alerts = {} }: Values): Rules["alerts"] {
  const base = DEFAULT_RULES.alerts;
  return {
    pendingQuestions: alerts.pending_questions_threshold ?? base.pendingQuestions,
    timeoutRate: alerts.timeout_rate_threshold ?? base.timeoutRate,
    windowMs: ms(alerts.window, base.windowMs),
    to: alerts.to ?? base.to,
  };
}

/** The limits; `max_per_run` can only lower the number of asks per run. */
function limitsOf({ limits = {}, questions = {} }: Values): Limits {
  const given: Readonly<Record<string, number | undefined>> = limits;
  const set = { ...DEFAULT_LIMITS };
  for (const name of LIMIT_NAMES) set[name] = given[snakeCase(name)] ?? set[name];
  return { ...set, asksPerRun: Math.min(questions.max_per_run ?? set.asksPerRun, set.asksPerRun) };
}

const LIMIT_NAMES = Object.keys(DEFAULT_LIMITS) as (keyof Limits)[]; // the keys of the table

function ms(duration: string | undefined, base: number) {
  return duration === undefined ? base : parseDuration(duration);
}
