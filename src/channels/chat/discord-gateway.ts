import type { DiscordAdapter, DiscordAdapterConfig } from "@chat-adapter/discord";
import { Refusal } from "../../core/refusal.ts";

/** The adapter ends a connection after a time that a timer can hold; then a new one is opened. */
const CONNECTION_MS = 20 * 24 * 60 * 60 * 1000;

/** Replies of people name the message that they answer; the adapter forgets it. */
export type References = Map<string, string>;

interface GatewayState {
  /** Aborted when the connection is lost for good. */
  lost: AbortController;
  /** Called when the connection is there, and when it cannot be made, with the reason. */
  onState: (trouble: string | undefined) => void;
}

/**
 * Discord's adapter with what a bot that only reads replies needs: the message that a reply answers is kept, a reply does
 * not open a thread, and a connection that is lost for good ends the listening.
 */
export function replyAdapter(
  Adapter: typeof DiscordAdapter,
  options: DiscordAdapterConfig,
  references: References,
): DiscordAdapter & GatewayState {
  class ReplyAdapter extends Adapter implements GatewayState {
    lost = new AbortController();
    onState: GatewayState["onState"] = () => undefined;

    protected override async handleGatewayMessage(
      message: Parameters<DiscordAdapter["handleGatewayMessage"]>[0],
    ): Promise<void> {
      const reference = message.reference?.messageId;
      if (reference !== undefined) references.set(message.id, reference);
      // A reply mentions the bot, unless its writer turns that off; for a mention the adapter would open a thread.
      await super.handleGatewayMessage(message, false);
      references.delete(message.id);
    }

    protected override setupLegacyGatewayHandlers(
      ...[client, isShuttingDown]: Parameters<DiscordAdapter["setupLegacyGatewayHandlers"]>
    ): void {
      super.setupLegacyGatewayHandlers(client, isShuttingDown);
      // The adapter's own requests go to this address, but its connection would not.
      if (options.apiUrl !== undefined) client.rest.options.api = options.apiUrl.replace(/\/v\d+$/, "");
      client.on("shardReady", () => this.onState(undefined));
      client.on("shardResume", () => this.onState(undefined));
      client.on("shardError", ({ message }) => this.onState(message));
      client.once("shardDisconnect", ({ code }) => this.lost.abort(`the connection ended with code ${code}`));
    }
  }
  return new ReplyAdapter(options);
}

/** Keeps a connection to Discord until aborted; throws when it is lost for good, a refusal if a person has to act. */
export async function keepConnected(
  adapter: ReturnType<typeof replyAdapter>,
  signal: AbortSignal,
  lastProblem: () => string | undefined,
): Promise<void> {
  adapter.lost = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const until = AbortSignal.any([signal, adapter.lost.signal]);
  const keep = (task: Promise<unknown>) => void (running = task);
  await adapter.startGatewayListener({ waitUntil: keep }, CONNECTION_MS, until);
  await running;
  if (signal.aborted) return;
  const why = String(adapter.lost.signal.reason ?? lastProblem() ?? "it ended");
  if (/token|4004/i.test(why)) {
    throw new Refusal("sign_in", `Discord refuses the token (${why})`, { hint: "Make a new one: askd setup chat" });
  }
  if (/intent|4014/i.test(why)) {
    throw new Refusal("sign_in", "The bot may not read messages", {
      hint: "In Discord's developer portal, under Bot, turn on Message Content Intent",
    });
  }
  throw new Error(`Discord cannot be listened to: ${why}`);
}
