import type { AgentRegistry } from "../agents/registry.ts";
import type { Config } from "../config/load.ts";
import type { Rules } from "../core/rules.ts";
import type { Engine } from "../engine/engine.ts";
import type { ClientSurroundings, Client, Scope } from "../agents/wiring.ts";

/** The store that is checked. */
export type DoctorStore =
  | { kind: "sqlite"; file: string; isReadOnly?: boolean }
  | { kind: "postgres"; url: string; isReadOnly?: boolean }
  | { kind: "server"; url: string; token: string | undefined };

/** The environment of the checks: one user's askd on one machine. */
export interface DoctorContext {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  homeDir: string;
  platform: NodeJS.Platform;
  host: string;
  store: DoctorStore;
  stateDir: string;
  runtimeDir: string;
  rules: Rules;
  /** The loaded configuration and its problems. */
  config: Config;
  /** The version of this askd, and of the Node that runs it. */
  version: string;
  nodeVersion: string;
  /** The command that starts this program. */
  self: readonly string[];
  /** The default port of a server. */
  port: number;
  /** The agents that can be started. */
  agents: AgentRegistry;
  /** The settings that clients on this machine should have. */
  around: ClientSurroundings;
  /** Writes the desired settings of a client in one scope. */
  wire(client: Client, scope: Scope): Promise<void>;
  /** Tells the person of something that a repair does besides. */
  note(text: string): void;
  /** This machine's clock. */
  nowMs(): number;
  /** Says whether a worker process of this store exists on this machine, active or not. */
  isWorkerLocked(): Promise<boolean>;
  /** The engine of the remote server, if one is used. */
  openRemote(): Promise<Pick<Engine, "listQuestions" | "countQuestions" | "listRuns" | "listMachines" | "now">>;
  /** Does due jobs in this process. */
  doDue(): Promise<void>;
  /** Starts a background worker; false where that is not allowed. */
  startWorker(): Promise<boolean>;
}
