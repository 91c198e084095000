import { AsyncLocalStorage } from "node:async_hooks";
import type { ActionEvent, Adapter, ChatInstance, Logger, Message, StateAdapter } from "chat";
import { z } from "zod";
import type { InboundHook, Reply } from "../../core/channel/channel.ts";
import type { ChatSettings } from "../../core/channel/channel-settings.ts";
import { type References, replyAdapter } from "./discord-gateway.ts";
import { type ReportedFailure, readReport, sayError } from "./failure.ts";
import { loadAdapter } from "./load-adapter.ts";
import { PLATFORMS, type Platform } from "./platform.ts";
import { type Incoming, readAction, readMessage } from "./incoming.ts";

const BOT_NAME = "askd";
const TIMEOUT_MS = 20_000;
/** A thing that an adapter remembers of people and conversations; nothing that may not be lost. */
const MOST_REMEMBERED = 10_000;

const Create = z.custom<(options: object) => Adapter>((value) => typeof value === "function");
type DiscordClass = Parameters<typeof replyAdapter>[0];
const DiscordModule = z.object({
  DiscordAdapter: z.custom<DiscordClass>((value) => typeof value === "function"),
});

/** The results of one call of an adapter: replies of people, and the failure that it reported. */
interface Collected {
  replies: Reply[];
  reported?: ReportedFailure | undefined;
}

/** The response of an adapter to a request of its service. */
interface HookReply extends Pick<Collected, "replies"> {
  status: number;
  text: string;
}

/**
 * One adapter of the Chat SDK, without the SDK's own loop: that one drops what comes while something else is handled, and
 * knows what it has seen for minutes only. Here everything that comes is handed on, and the store decides what counts.
 */
export class ChatBridge {
  readonly platform: Platform;
  readonly adapter: Adapter;
  readonly #collecting = new AsyncLocalStorage<Collected>();
  readonly #references: References;
  readonly #state = memoryState();
  /** Takes replies that come over a connection of ours. */
  onReply: (reply: Reply) => void = () => undefined;
  lastProblem: string | undefined;

  static async open(settings: ChatSettings): Promise<ChatBridge> {
    const platform = PLATFORMS[settings.platform];
    const loaded = loadAdapter(settings.platform);
    const bridge = new ChatBridge(settings, platform, loaded);
    await bridge.adapter.initialize(bridge.#chat());
    return bridge;
  }

  private constructor(settings: ChatSettings, platform: Platform, loaded: Record<string, unknown>) {
    this.platform = platform;
    this.#references = new Map();
    const options = {
      ...platform.options(settings),
      userName: BOT_NAME,
      logger: this.#logger(),
      ...settings.adapterOptions,
    };
    // Only Discord's adapter needs to be changed.
    this.adapter =
      settings.platform === "discord"
        ? replyAdapter(DiscordModule.parse(loaded).DiscordAdapter, options, this.#references)
        : Create.parse(loaded[platform.create])(options);
  }

  /** Calls the adapter; what it reports of a failure comes with the error. */
  async call<Value>(act: (adapter: Adapter) => Promise<Value>): Promise<Value> {
    const collected: Collected = { replies: [] };
    try {
      return await this.#collecting.run(collected, () => withinTime(act(this.adapter)));
    } catch (error) {
      throw new AdapterFailure(error, collected.reported);
    }
  }

  /** Gives a request of the service to the adapter, which checks where it comes from. */
  async receive({ header, body, query }: InboundHook): Promise<HookReply> {
    const collected: Collected = { replies: [] };
    const tasks: Promise<unknown>[] = [];
    const names = ["content-type", ...this.platform.headers];
    const headers = names.flatMap((name): [string, string][] => {
      const value = header(name);
      return value === undefined ? [] : [[name, value]];
    });
    const isQuery = query !== undefined;
    const request = new Request(`http://localhost/hooks/chat${isQuery ? query : ""}`, {
      method: isQuery ? "GET" : "POST",
      headers,
      ...(isQuery ? {} : { body }),
    });
    const response = await this.#collecting.run(collected, async () => {
      const replied = await this.adapter.handleWebhook(request, { waitUntil: (task) => void tasks.push(task) });
      await Promise.all(tasks);
      return replied;
    });
    return { status: response.status, text: await response.text(), replies: collected.replies };
  }

  #take(incoming: Incoming | undefined): void {
    if (!incoming) return;
    const collected = this.#collecting.getStore();
    if (collected) collected.replies.push(incoming);
    else this.onReply(incoming);
  }

  #chat(): ChatInstance {
    const ignore = () => Promise.resolve();
    const takeMessage = async (_adapter: Adapter, threadId: string, given: Message | (() => Promise<Message>)) => {
      const message = typeof given === "function" ? await given() : given;
      const reference = this.#references.get(message.id);
      this.#take(readMessage({ message, threadId, reference }, this.adapter, this.platform));
    };
    const chat: Partial<ChatInstance> = {
      getLogger: () => this.#logger(),
      getState: () => this.#state,
      getUserName: () => BOT_NAME,
      handleIncomingMessage: takeMessage,
      processMessage: (adapter, threadId, message, options) => {
        const task = takeMessage(adapter, threadId, message);
        options?.waitUntil?.(task);
        return task;
      },
      processAction: (event: Omit<ActionEvent, "thread" | "openModal">) => {
        this.#take(readAction(event, this.adapter, this.platform));
        return Promise.resolve();
      },
      // Adapters also report these; nobody answers a question by them.
      processReaction: ignore,
      processSlashCommand: ignore,
      processMessageUpdated: ignore,
      processMessageDeleted: ignore,
      processModalSubmit: () => Promise.resolve(undefined),
      processInstalled: () => undefined,
      processUninstalled: () => undefined,
      processMemberJoinedChannel: () => undefined,
    };
    // The interface also has parts that no adapter of ours calls.
    return chat as ChatInstance;
  }

  /** Adapters write to the console unless they have a logger; what they report of failures is kept. */
  #logger(): Logger {
    const keep = (_text: string, details?: unknown) => {
      const collected = this.#collecting.getStore();
      const reported = readReport(details);
      if (collected && reported) collected.reported = reported;
      else if (!collected) this.lastProblem = sayProblem(details) ?? this.lastProblem;
    };
    const silent = () => undefined;
    const logger: Logger = { debug: silent, info: silent, warn: silent, error: keep, child: () => logger };
    return logger;
  }
}

/** An error of an adapter, with what it reported of the request. */
export class AdapterFailure extends Error {
  readonly reported: ReportedFailure | undefined;

  constructor(cause: unknown, reported: ReportedFailure | undefined) {
    super(sayError(cause), { cause });
    this.reported = reported;
  }
}

function sayProblem(details: unknown): string | undefined {
  const parsed = z.looseObject({ error: z.unknown() }).safeParse(details);
  return parsed.success && parsed.data.error !== undefined ? sayError(parsed.data.error) : undefined;
}

/** Adapters wait for a reply for ever. */
async function withinTime<Value>(work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error("no reply in time");
    error.name = "TimeoutError";
    timer = setTimeout(reject, TIMEOUT_MS, error);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Keeps what an adapter remembers for itself, such as the name of a person. */
function memoryState(): StateAdapter {
  const kept = new Map<string, unknown>();
  const set = (key: string, value: unknown) => {
    if (kept.size >= MOST_REMEMBERED) kept.clear();
    kept.set(key, value);
    return Promise.resolve();
  };
  const state: Partial<StateAdapter> = {
    // A value is what the adapter itself put there.
    get: <Value>(key: string) => Promise.resolve((kept.get(key) ?? null) as Value | null),
    set,
    setIfNotExists: async (key, value) => !kept.has(key) && (await set(key, value), true),
    delete: (key) => Promise.resolve(void kept.delete(key)),
  };
  return state as StateAdapter; // adapters use no more of it
}
