import type { DeliveryStatus } from "../../core/channel/delivery/delivery-status.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import type { Event } from "../../core/trail/event.ts";
import type { AwayMachine } from "../../core/run/machine.ts";
import type { Run } from "../../core/run/run.ts";
import type { SimilarQuestion } from "../../core/answer/similar.ts";
import type { UsageRow } from "../../core/run/usage.ts";
import type { FormDraft } from "../parts/form-draft.ts";
import type { LogPart } from "../parts/log.tsx";
import type { PageReader } from "../parts/page-reader.ts";

/** Changes in an agent's working tree. */
export interface WorkSummary {
  /** Output of `git diff --stat`. */
  stat: string;
  diff: string;
  untracked: readonly string[];
}

/** Facts about a run that only its own machine knows. */
export interface AtHand {
  /** Changes in the working tree; undefined if it is not on this machine. */
  work(run: Run): Promise<WorkSummary | undefined>;
  /** The command that continues the agent's own session. */
  takeover(run: Run): Promise<string | undefined>;
  /** The end of the agent's log, or its continuation after `from`; undefined if it is not on this machine. */
  log?(run: Run, from?: string): Promise<LogPart | undefined>;
}

/** All data that the card of a question shows. */
export interface CardView {
  reader: PageReader;
  read: QuestionSnapshot;
  /** Events of the question, and of its run since it was asked. */
  events: readonly Event[];
  usage: UsageRow | undefined;
  /** The machine that the run needs to resume, if it is away. */
  away?: AwayMachine | undefined;
  /** Other people who have the question open. */
  viewers: readonly string[];
  /** Values to fill the form with: as submitted, or as prefilled by a link. */
  draft: FormDraft;
  /** Why the form was rejected. */
  problem?: string;
  /** The typed field with the problem; empty if the answer is a single value. */
  wrong?: string;
  /** The reader's unsent text, if somebody else answered first. */
  lost?: string;
  /** Preview of the message to the agent. */
  preview?: string;
  /** The same question from other runs. */
  same: readonly QuestionSnapshot[];
  takeover: string | undefined;
  /** The run has a working tree on this machine. */
  hasWork: boolean;
  similar: readonly SimilarQuestion[];
  /** Other questions of the run, newest first. */
  history: readonly QuestionSnapshot[];
  /** The messages about it. */
  deliveries: readonly DeliveryStatus[];
  /** Names of the templates that fit. */
  templates: readonly string[];
}
