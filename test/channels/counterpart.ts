import type { Channel } from "../../src/core/channel/channel.ts";
import type { Person } from "../../src/core/people/person.ts";
import type { ReachChannel } from "../../src/core/rules.ts";

/** A message as a person sees it in a channel. */
export interface ShownMessage {
  text: string;
  buttons: Array<{ label: string; press(): Promise<void> }>;
}

/** A planned failure of the next request. */
export interface PlannedFailure {
  status: number;
  retryAfterS?: number;
}

/** Everything that came to a service, and how it fails. */
export interface Traffic {
  /** Everything that left for the service, as text. */
  everythingSent(): string;
  /** The number of requests that carried a message. */
  requests(): number;
  /** Requests that the real service would refuse; empty in the end. */
  problems: string[];
  fail(failure: PlannedFailure, times?: number): void;
  /** Ends the planned failures. */
  recover(): void;
}

/** The service on the other side of a channel, on loopback; it rejects what the real one would. */
export interface Counterpart {
  channel: Channel;
  reach: ReachChannel;
  /** Where the channel reaches the person of the tests. */
  person?: Partial<Person>;
  traffic: Traffic;
  /** The messages about questions that are there now, oldest first. */
  shown(): ShownMessage[];
  /** The words that people got in response to a reply. */
  responses(): string[];
  /** Replies in the person's own words, where the channel has that. */
  say?(text: string): Promise<void>;
  /** Brings the last act of the person again. */
  repeat?(): Promise<void>;
  /** Brings an act that nobody's message asked for. */
  forge?(): Promise<void>;
  /** A person deletes the messages, where the service tells of that. */
  deleteMessages?(): void;
  /** The channel with a token that the service does not know, where it has tokens. */
  withBadToken?(): Channel;
  close(): Promise<void>;
}
