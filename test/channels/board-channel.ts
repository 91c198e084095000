import type { Channel, ChannelResult, OpenChannel, WireMessage } from "../../src/core/channel/channel.ts";
import { countCharacters, choicesOf, fitText, sayHowToReply } from "../../src/core/channel/message.ts";

/** A message on the board as people see it. */
export interface BoardMessage {
  text: string;
  buttons: string[];
  token: string;
  /** The address that it went to, if it is not the configured one. */
  to?: string | undefined;
}

/** A channel in memory: a board whose messages people can look at, and that can be told to fail. */
export class Board implements Channel {
  readonly name: string;
  readonly strength = "person";
  readonly messages = new Map<string, BoardMessage>();
  readonly reminders: string[] = [];
  readonly calls: string[] = [];
  /** Results of the next calls; after them everything works. */
  readonly failures: Array<Extract<ChannelResult, { ok: false }>> = [];
  /** Called in the middle of a request. */
  during: (() => Promise<void>) | undefined;
  /** Set while the board is away: the result of every call. */
  refuse: ((wire: WireMessage) => ChannelResult) | undefined;
  /** Set where the board can be asked for a message. */
  find: Channel["find"];
  #count = 0;

  constructor(name = "board") {
    this.name = name;
  }

  readonly open: OpenChannel = () => Promise.resolve(this);

  showsAll = (): boolean => true;

  build: Channel["build"] = (message, { address: to }) => {
    const foreign = (text: string) => text;
    const how = sayHowToReply(message);
    const fit = { limit: 4_000, count: countCharacters, foreign, hasContext: true, hasTitle: true, how };
    const { text, isWhole } = fitText(message, fit);
    const buttons = choicesOf(message, { isWhole, strength: this.strength }).map(({ key, label }) => `${key} ${label}`);
    return { text, buttons, token: message.token, to };
  };

  send = (wire: WireMessage): Promise<ChannelResult> =>
    this.#do("send", wire, () => {
      const outside = `m${(this.#count += 1)}`;
      this.messages.set(outside, wire as unknown as BoardMessage); // as built above
      return { ok: true, outside };
    });

  edit = (outside: string, wire: WireMessage): Promise<ChannelResult> =>
    this.#do("edit", wire, () => {
      if (!this.messages.has(outside)) return { ok: false, why: "message not found", isGone: true };
      this.messages.set(outside, wire as unknown as BoardMessage); // as built above
      return { ok: true };
    });

  remind = (_outside: string | undefined, wire: WireMessage, text: string): Promise<ChannelResult> =>
    this.#do("remind", wire, () => {
      this.reminders.push(text);
      return { ok: true };
    });

  note = (text: string): WireMessage => ({ text, buttons: [], token: "" });

  verify = (): Promise<string> => Promise.resolve("a board in memory");

  get only(): BoardMessage {
    const [message, ...others] = this.messages.values();
    if (!message || others.length > 0) throw new Error(`there are ${this.messages.size} messages`);
    return message;
  }

  async #do(call: string, wire: WireMessage, act: () => ChannelResult): Promise<ChannelResult> {
    this.calls.push(call);
    const { during } = this;
    this.during = undefined;
    await during?.();
    return this.refuse?.(wire) ?? this.failures.shift() ?? act();
  }
}
