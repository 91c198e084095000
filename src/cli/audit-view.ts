import type { Event, KeptEvent } from "../core/event.ts";
import { shortId } from "../core/id.ts";
import type { Verified } from "../engine/engine.ts";
import { oneLine } from "./sanitise.ts";
import { sayBy } from "./wording.ts";
import { type Ahead, sayMoment } from "./when.ts";

const DETAIL_CHARS = 200;

/** The page of `askd audit`: one line for each event, in the order of the trail. */
export function renderAudit(events: readonly KeptEvent[], ahead: Ahead): string {
  if (events.length === 0) return "Nothing has happened yet.\n";
  const types = Math.max(...events.map(({ event }) => event.type.length));
  return `${events.map(({ event }) => eventLine(event, types, ahead)).join("\n")}\n`;
}

/** What `askd audit --verify` found. */
export function renderVerified(verified: Verified): string {
  const counts = `${verified.runs} runs, ${verified.events} events, ${verified.seals} seals`;
  if (verified.problems.length === 0) return `✓ ${counts}: nothing is missing and nothing was changed\n`;
  return [
    `✗ ${counts}: the trail and what is kept disagree`,
    ...verified.problems.map((problem) => `  ${oneLine(problem)}`),
    "",
  ].join("\n");
}

function eventLine(event: Event, typeChars: number, ahead: Ahead): string {
  const about = event.questionId ? shortId(event.questionId) : shortId(event.runId);
  const change = event.from === undefined || event.from === event.to ? event.to : `${event.from} → ${event.to}`;
  const detail = event.detail ? `  ${oneLine(JSON.stringify(event.detail)).slice(0, DETAIL_CHARS)}` : "";
  const left = `${sayMoment(event.at, ahead)}  ${about}  ${event.type.padEnd(typeChars)}`;
  return `${left}  ${sayBy(event.by)}  ${oneLine(change)}${detail}`;
}
