import type { Strength } from "../people/actor.ts";
import type { QuestionMessage } from "./message.ts";

/** The data that leaves for a channel; `--dry-run` shows exactly this. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** The recipient of a message. */
export interface Recipient {
  /** The person's own address, for a channel that sends to people. */
  address: string | undefined;
  person?: string | undefined;
}

/** Names one message in the channel, in the channel's own words. */
export type OutsideRef = string;

/** The result of a request to a channel. `isGone`: the message to change is no longer there. */
export type ChannelResult =
  | { ok: true; outside?: OutsideRef | undefined }
  | {
      ok: false;
      why: string;
      /** A retry is useless. */
      isFinal?: boolean;
      isGone?: boolean;
      /** No reply came, so the service may have taken it all the same. */
      mayBeThere?: boolean;
      /** The channel refused our credential: a person has to act. */
      isRefused?: boolean;
      retryAfterMs?: number | undefined;
    };

/** A reply of a person, as a channel brought it: with the token of a button, or to a message. */
export interface Reply {
  /** Identifies the act of the person; the same act again has the same key. */
  key: string;
  /** The account it came from, if the channel knows one. */
  from: string | undefined;
  /** The token that the message's buttons carry. */
  token?: string | undefined;
  /** The message it answers. */
  outside?: OutsideRef | undefined;
  text: string;
  /** The sender's own name for themselves; it proves nothing. */
  name?: string | undefined;
  /** How well this reply proves its sender, where that differs from one reply to the next. */
  strength?: Strength | undefined;
  /** The names of attached files; the files themselves are not taken. */
  attached?: readonly string[] | undefined;
  /** Where a response goes. */
  respondTo: string;
  /** The sender waits for a response, as after pressing a button. */
  expectsResponse?: boolean | undefined;
}

/** A person asks the channel to pair their account, with a code that askd gave them. */
export interface PairingRequest {
  key: string;
  from: string;
  code: string;
  respondTo: string;
}

/** A message of ours came back: its recipient does not have it. */
export interface MessageFailure {
  /** The token that the message carried. */
  token: string;
  why: string;
}

/** Replies, pairing requests and returned messages since the last cursor. */
export interface InboundBatch {
  /** Where to go on after this batch. */
  cursor: string;
  replies: readonly Reply[];
  pairings: readonly PairingRequest[];
  failures?: readonly MessageFailure[] | undefined;
}

/**
 * A way to reach people: builds messages, sends and edits them, checks its settings, and reads replies. It keeps
 * nothing; everything it must not forget is in the delivery row.
 */
export interface Channel {
  readonly name: string;
  /** How well a reply proves who sent it; undefined for a channel that nobody can reply to. */
  readonly strength: Strength | undefined;
  /** Builds what is sent: the same question gives the same message. */
  build(message: QuestionMessage, to: Recipient): WireMessage;
  /** Says whether the message shows everything that decides an approval: neither cut nor redacted. */
  showsAll(message: QuestionMessage): boolean;
  /** The part of a message whose change is worth telling; all of it, unless the channel cannot edit. */
  face?(message: QuestionMessage, to: Recipient): unknown;
  send(wire: WireMessage): Promise<ChannelResult>;
  /** Replaces a message; without it, a changed question is sent as a new message. */
  edit?(outside: OutsideRef, wire: WireMessage): Promise<ChannelResult>;
  /** Sends a reminder of a message. */
  remind(outside: OutsideRef | undefined, wire: WireMessage, text: string): Promise<ChannelResult>;
  /** Builds a note that is about no question, for `send`. */
  note?(text: string, to: Recipient): WireMessage;
  /** Responds to a reply, where it was given. */
  respond?(respondTo: string, text: string): Promise<ChannelResult>;
  /** Finds the person's own words in a reply that also quotes the message. */
  extract?(reply: Reply, message: QuestionMessage): string;
  /** Finds a message that an attempt may have sent before its process died, or before the service could reply. */
  find?(wire: WireMessage): Promise<OutsideRef | undefined>;
  /** Says whether the message of this question, as it is there now, shows this already. */
  shows?(wire: WireMessage): Promise<boolean>;
  /** Checks settings and credentials with the service; returns where messages go, or throws why not. */
  verify(): Promise<string>;
  /**
   * Says whether a reply to this message still reaches a process. A channel that has it tells only the process that
   * showed a message of the replies to it: every process listens for its own, and shows anew what another left behind.
   */
  isHeard?(outside: OutsideRef): Promise<boolean>;
  /** Brings replies until aborted, from a cursor on. */
  listen?(cursor: string | undefined, signal: AbortSignal): AsyncIterable<InboundBatch>;
}

/** Opens the configured channel of that name; refuses if its settings are incomplete. */
export type OpenChannel = (name: string) => Promise<Channel>;
