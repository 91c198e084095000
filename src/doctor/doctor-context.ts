import type { Config } from "../config/load.ts";
import type { Rules } from "../core/rules.ts";
import type { Engine } from "../engine/engine.ts";
import type { Around, Client, Scope } from "../setup/client.ts";

/** Where questions are kept, as far as it matters here. */
export type StoreAt =
  | { kind: "sqlite"; file: string }
  | { kind: "postgres"; url: string }
  | { kind: "server"; url: string; token: string | undefined };

/** What is looked at: one user's askd on one machine. */
export interface Patient {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  homeDir: string;
  platform: NodeJS.Platform;
  host: string;
  store: StoreAt;
  stateDir: string;
  runtimeDir: string;
  rules: Rules;
  /** What the files of settings say, and what is wrong with them. */
  config: Config;
  /** The version of this askd, and of the Node that runs it. */
  version: string;
  nodeVersion: string;
  /** How this very program is started. */
  self: readonly string[];
  /** Where a server listens unless it is told otherwise. */
  port: number;
  /** What the clients on this machine should know of askd. */
  around: Around;
  /** Makes the settings of a client in one scope say what they should. */
  wire(client: Client, scope: Scope): Promise<void>;
  /** This machine's clock. */
  nowMs(): number;
  /** Says whether the process of a worker of this store is on this machine, whether or not it does anything. */
  isWorkerLocked(): Promise<boolean>;
  /** The engine of the server that keeps the questions, where one does. */
  openRemote(): Promise<Pick<Engine, "listQuestions" | "countQuestions" | "listRuns" | "listMachines" | "now">>;
  /** Does what has fallen due, in this process. */
  doDue(): Promise<void>;
  /** Has a worker run in the background; says no where nothing may. */
  startWorker(): Promise<boolean>;
}
