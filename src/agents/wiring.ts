import { join } from "node:path";
import type { Format } from "../edit/editor.ts";
import type { ClientProfile } from "../core/door/client-profile.ts";
import { SECOND_MS } from "../core/instant.ts";
import type { Env } from "./agent.ts";
import { SERVER } from "./mcp-config.ts";

/** The words of a command line. */
export type Argv = readonly string[];

/** For you in this project, for everybody in it, or for you everywhere. */
export const SCOPES = ["local", "project", "user"] as const;
export type Scope = (typeof SCOPES)[number];

/** The facts of this machine, and the settings that every client on it should have. */
export interface ClientSurroundings {
  env: Env;
  homeDir: string;
  platform: NodeJS.Platform;
  /** The top folder of the project. */
  dir: string;
  /** How this askd is started, and how everybody can start it who shares a file. */
  askd: { own: Argv; shared: Argv };
  /** How long a question is held with its agent alive. */
  liveWindowMs: number;
}

/**
 * When a field is written. `fresh`: only into a new entry. `absent`: where it is missing. `at_least`: where it is
 * missing or lower. `raise`: where it is lower; a missing one is fine.
 */
export type FieldRule = "fresh" | "absent" | "at_least" | "raise";

/** One field of an entry of ours. */
export interface DesiredField {
  value: unknown;
  when: FieldRule;
}

/** Our MCP server among a client's servers. */
export interface DesiredServer {
  is: "server";
  path: readonly string[];
  argv: Argv;
  /** The field that holds the program, and the one for its arguments; without that one the first holds all words. */
  line: { command: string; args?: string };
  fields: Readonly<Record<string, DesiredField>>;
  /** Where the limit of one call stands, and what it is when nothing stands there. */
  timeout?: {
    field: string;
    unitMs: number;
    defaultMs: number | undefined;
    /** Progress of a call extends the limit that stands there. */
    isExtended?: true;
  };
}

/** Leave to use a tool of ours without being asked: a text in a list. */
export interface DesiredPermission {
  is: "allow";
  path: readonly string[];
  text: string;
}

/** A hook of ours in a list of hooks by matcher. */
export interface DesiredHook {
  is: "hook";
  path: readonly string[];
  matcher: string;
  argv: Argv;
  /** In the client's own unit, which is that many milliseconds. */
  timeout?: { value: number; unitMs: number };
}

/** Something of ours that a file of a client's settings should say. */
export type DesiredConfig = DesiredServer | DesiredPermission | DesiredHook;

/** A file of a client's settings, and what it should say. */
export interface Target {
  file: string;
  format: Format;
  wishes: readonly DesiredConfig[];
  /** A warning to show before this file is changed. */
  note?: string;
}

/** One client: how it is recognised, where its settings are, what they should say. It reads and writes nothing. */
export interface Client {
  /** Its name on the command line. */
  name: string;
  title: string;
  /** The names of its program, best first. */
  programs: readonly string[];
  /** Folders that are there when it is in use. */
  homes(around: ClientSurroundings): string[];
  /** The files of a scope. A client that does not know the scope is wired in the one that comes nearest to it. */
  targets(scope: Scope, around: ClientSurroundings): Target[];
  /** The variables of its own environment that its servers inherit, if not all. */
  inherited?: readonly string[];
  /** The setting for how many days it keeps sessions, which parked runs are resumed from. */
  sessionDays?: { field: string; defaultDays: number };
}

/** How much longer a client should wait for a call, or for a hook, than it is held. */
const CALL_SPARE_S = 60;
const HOOK_SPARE_S = 30;

/** How a file of this scope starts askd: what others share names nothing of this machine. */
export function startFor(scope: Scope, { askd }: ClientSurroundings): Argv {
  return scope === "project" ? askd.shared : askd.own;
}

/** Differences between the entries of our server in the settings of the clients. */
export type ServerShape = Partial<Pick<DesiredServer, "line" | "fields" | "timeout">>;

/** Our server below that path; most clients have one field for the program and one for its arguments. */
export function serverWish(
  path: readonly string[],
  scope: Scope,
  around: ClientSurroundings,
  shape: ServerShape = {},
): DesiredServer {
  const line = { command: "command", args: "args" };
  const argv = [...startFor(scope, around), "mcp"];
  return { is: "server", path: [...path, SERVER], argv, line, fields: {}, ...shape };
}

interface OneFileClient extends Omit<Client, "targets"> {
  file(scope: Scope, around: ClientSurroundings): string;
  format?: Format;
  /** The table of its servers. */
  key: string;
  shape?(around: ClientSurroundings): ServerShape;
  /** It knows no settings for one person in one project: those hold for all projects. */
  isLocalGlobal?: true;
}

/** A client that has one file of settings in each scope, with our server among others. */
export function oneFileClient(settings: OneFileClient): Client {
  const { file, format = "json", key, shape, isLocalGlobal, ...client } = settings;
  return {
    ...client,
    targets: (scope, around) => [
      {
        file: file(scope, around),
        format,
        wishes: [serverWish([key], scope, around, shape?.(around))],
        note: isLocalGlobal && scope === "local" ? "all projects" : undefined,
      },
    ],
  };
}

/** How long a client should wait for one call: never less than askd believes that it does. */
export function callTimeoutMs({ limits: { stdio } }: ClientProfile, { liveWindowMs }: ClientSurroundings): number {
  const wanted = (Math.ceil(liveWindowMs / SECOND_MS) + CALL_SPARE_S) * SECOND_MS;
  return stdio.progressExtends ? wanted : Math.max(stdio.limitMs, wanted);
}

/** How long a hook may take that holds a question for the whole window. */
export function hookTimeoutS({ liveWindowMs }: ClientSurroundings): number {
  return Math.ceil(liveWindowMs / SECOND_MS) + HOOK_SPARE_S;
}

/** The folder of settings that follows XDG. */
export function configDir({ env, homeDir }: ClientSurroundings): string {
  return env["XDG_CONFIG_HOME"] || join(homeDir, ".config");
}
