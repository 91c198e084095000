import { pluralize } from "../core/text/plural.ts";
import { formatDuration } from "../core/text/duration.ts";
import type { MeasuredLimits } from "../core/door/measured-limits.ts";
import { DAY_MS, SECOND_MS } from "../core/instant.ts";
import { type ClientSurroundings, type Client, SCOPES } from "../agents/wiring.ts";
import { findOne } from "../setup/clients.ts";
import { type Findings, inspect, inspectScope, readSetting } from "../setup/inspect.ts";
import { checkClientServer } from "./client-server.ts";
import type { Finding } from "./finding.ts";
import type { ServerStart, Handshake } from "./mcp-handshake.ts";

/** Time between our reply and the moment when the client gives up. */
const MARGIN_MS = 15 * SECOND_MS;
/** Progress comes every 15 s; a client that waits no longer than that may miss one. */
const PROGRESS_MS = 30 * SECOND_MS;
const FEW_DAYS = 7;

/** Everything needed to check a client and to change its settings. */
export interface ClientAt {
  around: ClientSurroundings;
  /** How long questions may wait, with which sessions have to be kept. */
  timeoutMs: number;
  version: string;
  /** Starts a server and greets it. */
  greet(start: ServerStart): Promise<Handshake>;
  /** The measured limits of the agent on this machine. */
  measured(agent: string): MeasuredLimits | undefined;
  /** Makes the settings of a client in one scope say what they should. */
  wire(client: Client, scope: Findings["scope"]): Promise<void>;
}

/** Whether a client that is in use here can ask, and is not cut off while it waits. */
export async function checkClient(client: Client, at: ClientAt): Promise<Finding[]> {
  const found = await findOne(client, at.around);
  if (!found) return [];
  const about = { area: "agents", subject: client.name } as const;
  const version = found.version ?? (found.program === undefined ? "in use" : "of unknown version");
  const scopes = await inspect(client, at.around);
  if (scopes.length === 0) {
    return [{ ...about, code: "client_unwired", level: "off", text: `${version}, not wired; askd init does so` }];
  }
  const findings: Finding[] = [{ ...about, code: "client", level: "ok", text: version }];
  const once = { ...at, wire: wireOnce(at) };
  for (const seen of scopes) findings.push(...(await checkScope(client, seen, once)));
  if (scopes.every(({ problems }) => problems.length === 0)) findings.push(...(await checkLeave(client, scopes, once)));
  if (found.version !== undefined && at.measured(client.name)?.version === found.version) {
    findings.push({ ...about, code: "measured", level: "ok", text: "limits measured" });
  }
  if (client.sessionDays) findings.push(...(await checkSessions(client, client.sessionDays, at)));
  return findings;
}

/** Several findings are put right by the same change. */
function wireOnce({ wire }: ClientAt): ClientAt["wire"] {
  const wired = new Map<string, Promise<void>>();
  return (client, scope) => {
    const done = wired.get(scope) ?? wire(client, scope);
    wired.set(scope, done);
    return done;
  };
}

/** Checks the server and the hooks of one scope. */
async function checkScope(client: Client, seen: Findings, at: ClientAt): Promise<Finding[]> {
  const about = { area: "agents", subject: client.name } as const;
  const repair = (): Promise<void> => at.wire(client, seen.scope);
  const findings: Finding[] = seen.problems.map(({ file, why }) => ({
    ...about,
    code: "client_settings",
    level: "problem",
    text: `${file} cannot be used: ${why}`,
    fix: `put it right by hand, then askd init --client ${client.name}`,
  }));
  if (seen.alwaysLoad === false && seen.serverUrl === undefined) {
    findings.push({
      ...about,
      code: "always_load",
      level: "warning",
      repair,
      text: "alwaysLoad is not set: the model must search for ask_human before it can use it",
      fix: `"alwaysLoad": true in ${seen.file}`,
    });
  }
  findings.push(...checkTimeout(client, seen, at).map((finding) => ({ ...finding, repair })));
  for (const hook of seen.hooks) {
    if (hook.exists && !isShort(hook.timeoutMs, at)) continue;
    findings.push({
      ...about,
      code: hook.exists ? "hook_timeout" : "hook_moved",
      level: "problem",
      repair,
      text: hook.exists
        ? `the ${hook.event} hook is given ${formatDuration(hook.timeoutMs ?? 0)}, live window is ${formatDuration(at.around.liveWindowMs)}: questions would be lost`
        : `the ${hook.event} hook in ${hook.file} starts a program that is not there: ${hook.command}`,
    });
  }
  findings.push(...(await checkClientServer(client, seen, { ...at, repair })));
  return findings;
}

function isShort(timeoutMs: number | undefined, { around }: ClientAt): boolean {
  return timeoutMs !== undefined && timeoutMs < around.liveWindowMs + MARGIN_MS;
}

/** A limit of one call that the user has set, and that ends before the hold does. */
function checkTimeout(client: Client, seen: Findings, at: ClientAt): Finding[] {
  const { timeoutMs, isTimeoutSet } = seen;
  if (timeoutMs === undefined || !isTimeoutSet) return [];
  const neededMs = seen.isTimeoutExtended ? PROGRESS_MS : at.around.liveWindowMs + MARGIN_MS;
  if (timeoutMs >= neededMs) return [];
  const window = Math.round(at.around.liveWindowMs / SECOND_MS);
  const fits = Math.max(1, Math.floor((timeoutMs - MARGIN_MS) / SECOND_MS));
  return [
    {
      code: "client_timeout",
      area: "agents",
      subject: client.name,
      level: "problem",
      text: `${seen.timeoutField ?? "timeout"} is ${Math.round(timeoutMs / SECOND_MS)} s, live window is ${window} s: questions would be cut off`,
      fix: `live_window = "${fits}s" in askd.toml`,
    },
  ];
}

/** Leave to call our tools, and hooks: each may stand in any scope. */
async function checkLeave(client: Client, scopes: readonly Findings[], at: ClientAt): Promise<Finding[]> {
  const about = { area: "agents", subject: client.name } as const;
  const all = await Promise.all(SCOPES.map((scope) => inspectScope(client, scope, at.around)));
  const scope = scopes[0]?.scope ?? "user";
  const repair = (): Promise<void> => at.wire(client, scope);
  const isEverywhere = (pick: (seen: Findings) => readonly string[], name: string): boolean =>
    all.every((seen) => pick(seen).includes(name));
  const rules = (all[0]?.allowRules.wanted ?? []).filter((rule) =>
    isEverywhere(({ allowRules }) => allowRules.missing, rule),
  );
  const events = (all[0]?.missingHooks ?? []).filter((event) =>
    isEverywhere(({ missingHooks }) => missingHooks, event),
  );
  const hasHooks = all.some(({ hooks }) => hooks.length > 0);
  return [
    ...(rules.length === 0
      ? []
      : [
          {
            ...about,
            code: "allow_missing",
            repair,
            level: rules.some((rule) => rule.endsWith("ask_human")) ? ("problem" as const) : ("warning" as const),
            text: `no rule allows ${rules.join(", ")}: without one it is refused where nobody sits`,
          },
        ]),
    ...(events.length === 0
      ? []
      : [
          {
            ...about,
            code: "hook_missing",
            level: "warning" as const,
            repair,
            text: `the ${events.join(" and ")} hook is missing: questions of its own tool are not kept`,
          },
        ]),
    ...(hasHooks && events.length === 0
      ? [{ ...about, code: "hook", level: "ok" as const, text: "hook present" }]
      : []),
  ];
}

/** How long a client keeps what a parked run is resumed from. */
async function checkSessions(
  client: Client,
  { field, defaultDays }: NonNullable<Client["sessionDays"]>,
  at: ClientAt,
): Promise<Finding[]> {
  const about = { area: "agents", subject: client.name } as const;
  const files = SCOPES.flatMap((scope) => client.targets(scope, at.around));
  const days = await Promise.all(files.map(({ file, format }) => readSetting(file, format, field)));
  const kept = Math.min(...days.filter((count) => typeof count === "number"), defaultDays);
  if (kept >= FEW_DAYS && kept * DAY_MS >= at.timeoutMs) {
    return [{ ...about, code: "sessions", level: "ok", text: "sessions kept" }];
  }
  return [
    {
      ...about,
      code: "sessions_short",
      level: "warning",
      text: `it deletes sessions after ${pluralize(kept, "day")} (${field}): a run that is answered later begins anew`,
      fix: `set "${field}": ${defaultDays} in its settings`,
    },
  ];
}
