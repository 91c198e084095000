import type { Format } from "../edit/editor.ts";

/** The words of a command line. */
export type Argv = readonly string[];

/** For you in this project, for everybody in it, or for you everywhere. */
export const SCOPES = ["local", "project", "user"] as const;
export type Scope = (typeof SCOPES)[number];

/** The facts of this machine, and the settings that every client on it should have. */
export interface ClientSurroundings {
  env: Readonly<Record<string, string | undefined>>;
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
