import type { Strength } from "../people/actor.ts";
import type { AnswerInput } from "../answer/answer-input.ts";
import type { IssueEffects } from "./issue-effects.ts";
import type { QuestionMessage } from "./message.ts";

/** The data that leaves for a channel; `--dry-run` shows exactly this. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** The recipient of a message. */
export interface Recipient {
  /** The person's own address, or the shared ones that the question names, separated by commas. */
  address: string | undefined;
  person?: string | undefined;
  /** At a shared address, the accounts of the people that the question is meant for. */
  mention?: readonly string[] | undefined;
  /** For news of a run, the last message there about one of its questions. */
  thread?: OutsideRef | undefined;
  /** The recipient has this message in an earlier form. */
  isChange?: boolean | undefined;
  /** The number of this change among those of the message; the same when it is tried again. */
  change?: number | undefined;
}

/** Names one message in the channel, in the channel's own words. */
export type OutsideRef = string;

/** The result of a request to a channel. `isGone`: the message to change is no longer there. */
export type ChannelResult =
  | {
      ok: true;
      /** The message of the question from now on; without it, the one that was there. */
      outside?: OutsideRef | undefined;
      /** A message beside it, such as a reminder: a reply to it is about the same question. */
      beside?: OutsideRef | undefined;
    }
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
      /** The place that the asker names is not one for us: the channel itself works. */
      isMisaddressed?: boolean;
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
  /** Where it was said, such as an issue: if it names no message of ours, it may be about any message there. */
  place?: string | undefined;
  /** The person changed what they said before. */
  isEdited?: boolean | undefined;
  /** Others can change what the sender said, and perhaps did: all that the channel needs to find out. */
  unconfirmed?: Readonly<Record<string, string>> | undefined;
  /** The question that the sender names, as in `/answer q-456 A`; the text is what follows. */
  question?: string | undefined;
  text: string;
  /** The answers of a form, by item; they count in place of the text. */
  items?: AnswerInput["items"];
  /** The sender asks for the form of this question: to answer it, or to ask the agent back. */
  form?: "answer" | "clarify" | undefined;
  /** The sender's own name for themselves; it proves nothing. */
  name?: string | undefined;
  /** How well this reply proves its sender, where that differs from one reply to the next. */
  strength?: Strength | undefined;
  /** The service says that it does not come from the account that it names: it is recorded, and never taken. */
  isForged?: boolean | undefined;
  /** The subject of a mail, where it is one that automatic replies have. */
  automaticSubject?: string | undefined;
  /** The names of attached files; the files themselves are not taken. */
  attached?: readonly string[] | undefined;
  /** Where a response goes. */
  respondTo: string;
  /** The sender waits for a response, as after pressing a button. */
  expectsResponse?: boolean | undefined;
}

/** A person asks the channel to pair their account, with a code that askd gave them, or only begins to talk. */
export interface PairingRequest {
  key: string;
  from: string;
  code: string | undefined;
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
  /** Why nothing can be read for now, from a channel that connects again by itself. */
  trouble?: string | undefined;
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
  /** Labels, assigns and comments an issue; everything is there once, however often this is repeated. */
  markIssue?(place: MarkedIssue, effects: IssueEffects): Promise<ChannelResult>;
  /** Sends a reminder of a message. It names itself as `outside` only if it takes the place of that message. */
  remind(outside: OutsideRef | undefined, wire: WireMessage, text: string): Promise<ChannelResult>;
  /** Builds a note that is about no question, for `send`. */
  note?(text: string, to: Recipient): WireMessage;
  /** Opens the form that a reply asks for, to the person who sent it. */
  openForm?(reply: Reply, message: QuestionMessage): Promise<ChannelResult>;
  /** A response is a message of its own: only a reply that was unclear or late gets one. */
  readonly isQuiet?: boolean;
  /** Responds to a reply, where it was given. */
  respond?(respondTo: string, text: string): Promise<ChannelResult>;
  /** Takes note of an act without words, for a sender whose program waits for a response. */
  acknowledge?(respondTo: string): Promise<ChannelResult>;
  /** Finds the person's own words in a reply that also quotes the message; undefined if it is no answer at all. */
  extract?(reply: Reply, message: QuestionMessage): string | undefined;
  /** Says whether a program wrote a reply, where only the message that it is about tells. */
  isAutomatic?(reply: Reply, message: QuestionMessage): boolean;
  /** For a channel in which replies name a place and no message. */
  readonly places?: ReplyPlaces;
  /** Says whether an account that belongs to nobody on the list of people may answer. */
  mayAnswer?(reply: Reply): Promise<boolean>;
  /** Finds out whether the sender of an unconfirmed reply said it so; `changed` if they or others say something else by now. */
  confirmSender?(reply: Reply): Promise<"same" | "other" | "changed">;
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
  listen?(
    cursor: string | undefined,
    signal: AbortSignal,
    listOpen?: () => Promise<readonly OutsideRef[]>,
  ): AsyncIterable<InboundBatch>;
  /** Reads a request that the service posted to us; undefined if its signature is wrong. */
  readHook?(hook: InboundHook): HookBatch | undefined | Promise<HookBatch | undefined>;
}

/** The issue of a question; without a repository, in the first one of the settings. */
export interface MarkedIssue {
  repo: string | undefined;
  number: number;
  question: string;
}

/** Tells which messages a reply can be about. */
export interface ReplyPlaces {
  /** Only askd and one person are there: all that is said is meant for askd. */
  readonly isPrivate?: boolean;
  /** The place of a message. */
  of(outside: OutsideRef): string;
  /** Says whether the reply came after the message. */
  isAfter(reply: Reply, outside: OutsideRef): boolean;
}

/** A request of a service to our own address. */
export interface InboundHook {
  header(name: string): string | undefined;
  /** The body as it came: the signature is over its bytes. */
  body: string;
  /** The query of a service that only asks whether the address is ours, such as `?hub.mode=subscribe`. */
  query?: string | undefined;
}

/** The replies in a request of a service, and the body of our response; an empty one unless given. */
export interface HookBatch extends Pick<InboundBatch, "replies"> {
  /** An issue got a label: workflows that start by labels look for it now. */
  hasLabels?: boolean;
  response?: Readonly<Record<string, unknown>> | undefined;
  /** The response in plain words, to a service that asks whether the address is ours. */
  text?: string | undefined;
}

/** Opens the configured channel of that name; refuses if its settings are incomplete. */
export type OpenChannel = (name: string) => Promise<Channel>;
