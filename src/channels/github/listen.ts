import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import type { InboundBatch, OutsideRef, Reply } from "../../core/channel/channel.ts";
import type { GithubSettings } from "../../core/channel/channel-settings.ts";
import type { GithubCall, GithubReply } from "./api.ts";
import { CommentFeed, type FeedResult } from "./comment-feed.ts";
import { Comment, hasTicks, parseRef, reactionReply, readComment, tickReply, ticksOf, unconfirmed } from "./comment.ts";
import { GithubLimit, findTickAct } from "./editor.ts";
import { offersPair } from "./issue-comment.ts";

/** Without a place to go on from, comments of this time are read: nobody answers older questions. */
const BACK_MS = 7 * 24 * 60 * 60 * 1000;
const LONGEST_WAIT_MS = 60 * 60 * 1000;
const PAGE_SIZE = 100;
const ANSWERING: ReadonlySet<string> = new Set(["+1", "-1"]);

const Cursor = z.record(z.string(), z.string());
const Reaction = z.object({
  id: z.int(),
  content: z.string(),
  user: z.object({ login: z.string(), type: z.string() }).nullish(),
});

export interface ListenDeps {
  call: GithubCall;
  settings: GithubSettings;
  /** Ticks that were read: the comment may be written anew. */
  takenTicks: Set<string>;
  nowMs: () => number;
}

interface ListenPlace {
  cursor: string | undefined;
  signal: AbortSignal;
  listOpen: () => Promise<readonly OutsideRef[]>;
}

/** Looks for new and changed comments and reactions, as often as the settings and GitHub say. */
export async function* listen(deps: ListenDeps, place: ListenPlace): AsyncIterable<InboundBatch> {
  const { call, settings, nowMs } = deps;
  const { signal } = place;
  const from = Cursor.catch({}).parse(JSON.parse(place.cursor ?? "{}"));
  const first = `${new Date(nowMs() - BACK_MS).toISOString().slice(0, 19)}Z`;
  const feeds = settings.repos.map((repo) => new CommentFeed(call, repo, from[repo] ?? first));
  const reactions = new ReactionWatch(deps);
  let said: string | undefined;
  while (!signal.aborted) {
    const looks: RepositoryLook[] = [];
    for (const feed of feeds) looks.push(await lookAt(deps, feed, signal));
    const failures = looks.flatMap(({ failure }) => failure ?? []);
    const [failure] = failures;
    if (failure && failures.length === feeds.length) throw failure.error;
    // A repository that cannot be read does not keep the others from being read.
    const trouble = failure && failures.map(sayFailure).join("; ");
    const open = (await place.listOpen()).filter((outside) =>
      failures.every(({ repo }) => repo !== parseRef(outside).repo),
    );
    const reacted = await reactions.look(open, signal);
    const replies = [...looks, reacted].flatMap((look) => look.replies);
    const cursor = JSON.stringify(Object.fromEntries(feeds.map(({ repo, since }) => [repo, since])));
    // The first batch is there even if it is empty: comments can be read. One with trouble says so each time.
    const state = `${cursor} ${trouble}`;
    const isNews = trouble !== undefined || (looks.some(({ isRead }) => isRead) && state !== said);
    if (replies.length > 0 || isNews) {
      yield { cursor, replies, pairings: [], trouble };
      said = state;
    }
    const waitMs = Math.max(settings.pollMs, reacted.waitMs, ...looks.map((look) => look.waitMs));
    await setTimeout(Math.min(waitMs, LONGEST_WAIT_MS), undefined, { signal }).catch(() => undefined); // aborted
  }
}

interface RepositoryLook extends Pick<FeedResult, "waitMs" | "isRead"> {
  replies: Reply[];
  failure?: { repo: string; error: Error };
}

function sayFailure({ repo, error: { message } }: NonNullable<RepositoryLook["failure"]>) {
  return message.includes(repo) ? message : `${repo}: ${message}`;
}

/** Reads what is new in a repository. Nothing of it is passed over: after a failure or a limit all of it comes again. */
async function lookAt(deps: ListenDeps, feed: CommentFeed, signal: AbortSignal): Promise<RepositoryLook> {
  const nothing = { replies: [], waitMs: 0, isRead: false };
  try {
    const result = await feed.poll(signal);
    const replies: Reply[] = [];
    const ticked: Comment[] = [];
    for (const comment of result.comments) {
      const found = await readReplies(deps, feed.repo, comment, signal);
      replies.push(...found);
      if (found.some((reply) => ticksOf(reply) !== undefined)) ticked.push(comment);
    }
    if (result.isRead) feed.accept(result);
    for (const { id, updated_at: at } of ticked) deps.takenTicks.add(`${id} ${at}`);
    return { ...result, replies };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    if (error instanceof GithubLimit) return { ...nothing, waitMs: error.waitMs };
    return { ...nothing, failure: { repo: feed.repo, error } };
  }
}

async function readReplies(deps: ListenDeps, repo: string, comment: Comment, signal: AbortSignal): Promise<Reply[]> {
  if (hasTicks(comment)) {
    const act = await findTickAct(deps.call, { repo, comment, signal });
    // The next look brings the comment as it is by now.
    return act === "changed" ? [] : [tickReply(repo, comment, act)];
  }
  // People with write access can edit the comment of another, who did not say that.
  const reply = readComment(repo, comment);
  return reply ? [unconfirmed(reply, repo, comment)] : [];
}

/**
 * Reactions to comments of ours whose questions wait and where a thumb can answer. A reaction changes no comment, so each
 * is asked for.
 */
class ReactionWatch {
  readonly #deps: ListenDeps;
  /** Where to go on with each comment: new reactions are on the last page. */
  readonly #pages = new Map<OutsideRef, { path: string; etag?: string | undefined }>();
  /** Comments that offer two options; what was asked stays the same. */
  readonly #pairs = new Map<OutsideRef, boolean>();

  constructor(deps: ListenDeps) {
    this.#deps = deps;
  }

  async look(open: readonly OutsideRef[], signal: AbortSignal): Promise<{ replies: Reply[]; waitMs: number }> {
    const replies: Reply[] = [];
    let waitMs = 0;
    for (const known of [this.#pages, this.#pairs])
      for (const outside of known.keys()) if (!open.includes(outside)) known.delete(outside);
    for (const outside of open) {
      for (let isLast = false; !isLast;) {
        const reply = await this.#ask(outside, signal);
        waitMs = Math.max(waitMs, reply?.waitMs ?? 0, reply?.pauseMs ?? 0);
        if (reply?.waitMs !== undefined) return { replies, waitMs };
        if (reply?.status !== 200) break; // unchanged, or the comment is gone
        const reactions = z.array(Reaction).parse(reply.body);
        replies.push(...reactions.flatMap((reaction) => readReaction(outside, reaction)));
        this.#turnPage(outside, reply, reactions.length);
        isLast = reply.next === undefined;
      }
    }
    return { replies, waitMs };
  }

  #turnPage(outside: OutsideRef, { etag, next }: GithubReply, count: number) {
    const page = this.#pages.get(outside);
    if (next !== undefined) this.#pages.set(outside, { path: next });
    // Reactions were taken back until this page was empty.
    else if (count === 0) this.#pages.delete(outside);
    // A full page stays the same when the next one begins.
    else if (page) this.#pages.set(outside, { path: page.path, etag: count < PAGE_SIZE ? etag : undefined });
  }

  /** Asks for the reactions to a comment; undefined where they cannot answer. */
  async #ask(outside: OutsideRef, signal: AbortSignal): Promise<GithubReply | undefined> {
    const { repo, id } = parseRef(outside);
    const path = `/repos/${repo}/issues/comments/${id}`;
    if (!this.#pairs.has(outside)) {
      const found = await this.#deps.call(path, { signal });
      if (found.status !== 200) return found.waitMs === undefined ? undefined : found;
      this.#pairs.set(outside, offersPair(Comment.parse(found.body).body ?? ""));
    }
    if (!this.#pairs.get(outside)) return undefined;
    const page = this.#pages.get(outside) ?? { path: `${path}/reactions?per_page=${PAGE_SIZE}` };
    this.#pages.set(outside, page);
    return this.#deps.call(page.path, { etag: page.etag, signal });
  }
}

function readReaction(outside: OutsideRef, { id, content, user }: z.infer<typeof Reaction>): Reply[] {
  if (user?.type !== "User" || !ANSWERING.has(content)) return [];
  return [reactionReply(outside, { id, content, login: user.login })];
}
