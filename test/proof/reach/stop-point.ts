import type { Channel, OpenChannel } from "../../../src/core/channel/channel.ts";
import { parseDelivery } from "../../../src/core/channel/delivery/delivery.ts";
import type { Changes, Entry } from "../../../src/core/changes.ts";
import type { Store } from "../../../src/store/store.ts";
import { overriding } from "../overriding.ts";

/**
 * Where a process can die while it brings a message or reads a reply. `claiming`: before the attempt is written down;
 * `claimed`: after that, before anything leaves; `taken`: the service has it, and the store does not know; `committed`:
 * the store knows. `answering` and `answered`: before and after the commit of an answer; `remembered`: the reply is
 * written down and not yet responded to; `responded`: it is; `saving` and `saved`: before and after the listener's
 * cursor is past it.
 */
export const MESSAGE_POINTS = ["claiming", "claimed", "taken", "committed"] as const;
export const REPLY_POINTS = ["answering", "answered", "remembered", "responded", "saving", "saved"] as const;
/**
 * Where it can die in mail besides. `addressed`: before the text of a mail is handed to the server; `written`: the
 * server has the whole mail, and its reply has not come; `fetched`: a reply is here, and nobody has looked into it;
 * `parsed`: it was read, and nothing was done.
 */
export const MAIL_POINTS = ["addressed", "written", "fetched", "parsed"] as const;
export type StopPoint = (typeof MESSAGE_POINTS | typeof REPLY_POINTS | typeof MAIL_POINTS)[number];

export type Stop = (point: StopPoint) => void;

/** The same store, which says before and after which commit it is. */
export function stoppingStore(store: Store, stop: Stop): Store {
  return overriding(store, {
    commit: async (changes) => {
      const about = await describeCommit(store, changes);
      if (about === "claim") stop("claiming");
      if (about === "result") stop("taken");
      if (about === "answer") stop("answering");
      if (about === "cursor") stop("saving");
      const committed = await store.commit(changes);
      if (!committed.ok) return committed;
      if (about === "claim") stop("claimed");
      if (about === "result") stop("committed");
      if (about === "answer") stop("answered");
      if (about === "reply") stop("remembered");
      if (about === "cursor") stop("saved");
      return committed;
    },
  });
}

/** The same channels, which say when a reply was read and when a response was given. */
export function stoppingChannels(open: OpenChannel, stop: Stop): OpenChannel {
  return async (name) => {
    const channel = await open(name);
    const { respond, listen } = channel;
    const responding: Channel["respond"] = async (...args) => {
      const result = (await respond?.(...args)) ?? { ok: true };
      stop("responded");
      return result;
    };
    const listening: Channel["listen"] = async function* (...args) {
      for await (const batch of listen?.(...args) ?? []) {
        if (batch.replies.length > 0) stop("parsed");
        yield batch;
      }
    };
    return { ...channel, ...(respond && { respond: responding }), ...(listen && { listen: listening }) };
  };
}

type CommitKind = "claim" | "result" | "answer" | "reply" | "cursor" | "other";

async function describeCommit(store: Store, { entries = [], events = [] }: Changes): Promise<CommitKind> {
  if (events.some(({ type }) => type === "question.answered")) return "answer";
  if (events.some(({ type }) => type === "question.notified")) return "result";
  if (events.length > 0) return "other";
  const delivery = entries.find(({ kind }) => kind === "delivery");
  if (delivery) return describeDelivery(store, delivery);
  const listener = entries.find(({ kind }) => kind === "listener");
  if (!listener) return "other";
  const before = await store.findEntry("listener", listener.id);
  return before?.body["cursor"] === listener.body["cursor"] ? "other" : "cursor";
}

async function describeDelivery(store: Store, entry: Entry): Promise<CommitKind> {
  const now = parseDelivery(entry);
  const found = await store.findEntry("delivery", entry.id);
  const before = found && parseDelivery(found);
  if ((before?.handled.length ?? 0) < now.handled.length) return "reply";
  return now.sending !== undefined && now.sending.until !== before?.sending?.until ? "claim" : "other";
}
