import type { Argv } from "./command-line.ts";
import type { Wish } from "./desired-config.ts";

/** For you in this project, for everybody in it, or for you everywhere. */
export const SCOPES = ["local", "project", "user"] as const;
export type Scope = (typeof SCOPES)[number];

/** What is known of this machine, and what is wanted of every client on it. */
export interface Around {
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

export type Format = "json" | "toml" | "yaml";

/** A file of a client's settings, and what it should say. */
export interface Target {
  file: string;
  format: Format;
  wishes: readonly Wish[];
  /** What a person should know of this file before it is changed. */
  note?: string;
}

/** One client: how it is recognised, where its settings are, what they should say. It reads and writes nothing. */
export interface Client {
  /** What it is called on the command line. */
  name: string;
  title: string;
  /** What its program is called, best first. */
  programs: readonly string[];
  /** Folders that are there when it is in use. */
  homes(around: Around): string[];
  /** The files of a scope. A client that does not know the scope is wired in the one that comes nearest to it. */
  targets(scope: Scope, around: Around): Target[];
}
