import { z } from "zod";
import type { GithubCall, GithubReply } from "./api.ts";
import { Comment } from "./comment.ts";

const MOST_PAGES = 50;

/** The changes of a repository, and how long GitHub wants to be left alone. */
export interface FeedResult {
  comments: Comment[];
  waitMs: number;
  /** Not refused by a limit. */
  isRead: boolean;
}

/**
 * New and changed comments of one repository, each once. `since` stays as it is while nothing is new, because only an
 * address that stays the same can get a 304, which costs nothing. Newest first: a change then always changes the first
 * page and its ETag.
 */
export class CommentFeed {
  readonly repo: string;
  readonly #call: GithubCall;
  #since: string;
  #etag: string | undefined;
  /** Whole seconds tell nothing about order: comments are told apart by their content too. */
  readonly #seen = new Map<number, { at: string; body: string }>();

  constructor(call: GithubCall, repo: string, since: string) {
    this.#call = call;
    this.repo = repo;
    this.#since = since;
  }

  get since(): string {
    return this.#since;
  }

  async poll(signal: AbortSignal): Promise<FeedResult> {
    const query = `sort=updated&direction=desc&per_page=100&since=${encodeURIComponent(this.#since)}`;
    let next: string | undefined = `/repos/${this.repo}/issues/comments?${query}`;
    let etag = this.#etag;
    const fresh: Comment[] = [];
    let waitMs = 0;
    for (let page = 0; next !== undefined && page < MOST_PAGES; page += 1) {
      const reply: GithubReply = await this.#call(next, { etag: page === 0 ? this.#etag : undefined, signal });
      waitMs = Math.max(waitMs, reply.pauseMs ?? 0, reply.waitMs ?? 0);
      const isLimited = reply.waitMs !== undefined;
      if (reply.status === 304 || isLimited) return { comments: [], waitMs, isRead: !isLimited };
      if (reply.status !== 200) throw new Error(sayStatus(this.repo, reply));
      if (page === 0) ({ etag } = reply);
      const found = z
        .array(Comment)
        .parse(reply.body)
        .filter((comment) => this.#isNew(comment));
      fresh.push(...found);
      next = found.length === 0 ? undefined : reply.next;
    }
    this.#etag = etag;
    this.#advance(fresh);
    return { comments: fresh.toReversed(), waitMs, isRead: true };
  }

  #isNew({ id, updated_at: at, body }: Comment) {
    const known = this.#seen.get(id);
    return known?.at !== at || known.body !== (body ?? "");
  }

  #advance(fresh: readonly Comment[]) {
    for (const { id, updated_at: at, body } of fresh) this.#seen.set(id, { at, body: body ?? "" });
    const newest = fresh.reduce((latest, { updated_at: at }) => (at > latest ? at : latest), this.#since);
    if (newest === this.#since) return;
    this.#since = newest;
    this.#etag = undefined;
    for (const [id, { at }] of this.#seen) if (at < newest) this.#seen.delete(id);
  }
}

function sayStatus(repo: string, { status }: GithubReply) {
  if (status === 401) return "GitHub refuses the token";
  return `the comments of ${repo} cannot be read: status ${status}`;
}
