import type { QuestionSnapshot } from "../core/changes.ts";
import type { HookCall, HookClient, HookReply } from "../core/door/hook.ts";
import type { QuestionId } from "../core/id.ts";
import type { Instant } from "../core/instant.ts";

/** A call that an agent's server made to us, its client. */
export interface BridgedCall {
  client: HookClient;
  call: HookCall;
  /** When the agent made the call; it may have waited for others of the same agent. */
  calledAt: Instant;
  /** Aborts when nobody waits for the reply any more. */
  signal: AbortSignal;
}

/** The parts of its process that a bridge may use. */
export interface BridgeHost {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The version of askd, by which it presents itself. */
  version: string;
  stdout: { write(text: string): void };
  readPrompt(limitBytes: number): Promise<string>;
  now(): Instant;
  /** Aborts when the bridge is told to end. */
  interrupt(): AbortSignal;
  /** Asks people, holds the call as long as the plan allows, and says what becomes of it. */
  decide(asked: BridgedCall): Promise<{ reply: HookReply; handed?: QuestionSnapshot }>;
  /** Records that the agent has the outcome of a question. */
  given(id: QuestionId): Promise<void>;
  /** Reports a problem on stderr and returns it in one printable line. */
  complain(message: string): string;
}

/** Is the client of an agent's own server until its turn ends, and returns the exit code. */
export type Bridge = (plan: string, host: BridgeHost) => Promise<number>;
