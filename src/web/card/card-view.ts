import type { Read } from "../../core/changes.ts";
import type { Event } from "../../core/trail/event.ts";
import type { AwayMachine } from "../../core/run/machine.ts";
import type { Run } from "../../core/run/run.ts";
import type { Similar } from "../../core/answer/similar.ts";
import type { UsageRow } from "../../core/run/usage.ts";
import type { Draft } from "../parts/form-draft.ts";
import type { LogPart } from "../parts/log.tsx";
import type { Reader } from "../parts/reader.ts";

/** What an agent has changed so far. */
export interface Work {
  /** Which files, and how much. */
  stat: string;
  diff: string;
  untracked: readonly string[];
}

/** What is known on this machine about a run beyond what is stored. */
export interface AtHand {
  /** What differs in the working tree; undefined where it cannot be seen from here. */
  work(run: Run): Promise<Work | undefined>;
  /** What to type to go on in the agent's own session. */
  takeover(run: Run): Promise<string | undefined>;
  /** The end of what its agent did, or what it did since then; undefined where that cannot be seen from here. */
  log?(run: Run, from?: string): Promise<LogPart | undefined>;
}

/** Everything that the card of a question shows. */
export interface CardView {
  reader: Reader;
  read: Read;
  /** What happened to the question and, since then, to its run. */
  events: readonly Event[];
  usage: UsageRow | undefined;
  /** The machine that the run waits for, or will once the answer counts, and that is away. */
  away?: AwayMachine | undefined;
  /** Who else has it open. */
  looking: readonly string[];
  /** What the form was filled with when it was sent, or what a link chose. */
  draft: Draft;
  /** Why the form was not taken. */
  problem?: string;
  /** The typed field that it is about; empty where the answer has one only. */
  wrong?: string;
  /** What was written, where somebody else was faster. */
  lost?: string;
  /** What the agent would be told. */
  preview?: string;
  /** Questions of other runs that ask the same. */
  same: readonly Read[];
  takeover: string | undefined;
  /** There is a working tree to look at. */
  hasWork: boolean;
  similar: readonly Similar[];
  /** What the same run asked besides, newest first. */
  history: readonly Read[];
  /** Names of canned answers that fit. */
  templates: readonly string[];
}
