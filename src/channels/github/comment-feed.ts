import { z } from "zod";
import { type GithubCall, type GithubReply, MOVED, isMoved } from "./api.ts";
import { Comment } from "./comment.ts";

/** How many comments are read at once. */
const MOST_COMMENTS = 5_000;

/** The changes of a repository, and how long GitHub wants to be left alone. */
export interface FeedResult {
  comments: Comment[];
  waitMs: number;
  /** Not refused by a limit. */
  isRead: boolean;
  /** The version of the list that they are from. */
  etag?: string | undefined;
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

  /** Reads the changes since the last ones that were accepted. */
  async poll(signal: AbortSignal): Promise<FeedResult> {
    const query = `sort=updated&direction=desc&per_page=100&since=${encodeURIComponent(this.#since)}`;
    let next: string | undefined = `/repos/${this.repo}/issues/comments?${query}`;
    let etag = this.#etag;
    const fresh: Comment[] = [];
    let waitMs = 0;
    for (let listed = 0; next !== undefined && listed < MOST_COMMENTS;) {
      const isFirst = listed === 0;
      const reply: GithubReply = await this.#call(next, { etag: isFirst ? this.#etag : undefined, signal });
      waitMs = Math.max(waitMs, reply.pauseMs ?? 0, reply.waitMs ?? 0);
      const isLimited = reply.waitMs !== undefined;
      if (reply.status === 304 || isLimited) {
        return { comments: [], waitMs, isRead: !isLimited, etag: this.#etag };
      }
      if (reply.status !== 200) throw new Error(sayStatus(this.repo, reply));
      if (isFirst) ({ etag } = reply);
      const comments = z.array(Comment).parse(reply.body);
      const found = comments.filter((comment) => this.#isNew(comment));
      fresh.push(...found);
      listed += comments.length;
      next = found.length === 0 ? undefined : reply.next;
    }
    return { comments: fresh.toReversed(), waitMs, isRead: true, etag };
  }

  /** Goes on after these changes: they need not come again. */
  accept({ comments, etag }: FeedResult): void {
    this.#etag = etag;
    for (const { id, updated_at: at, body } of comments) this.#seen.set(id, { at, body: body ?? "" });
    const newest = comments.reduce((latest, { updated_at: at }) => (at > latest ? at : latest), this.#since);
    if (newest === this.#since) return;
    this.#since = newest;
    this.#etag = undefined;
    for (const [id, { at }] of this.#seen) if (at < newest) this.#seen.delete(id);
  }

  #isNew({ id, updated_at: at, body }: Comment) {
    const known = this.#seen.get(id);
    return known?.at !== at || known.body !== (body ?? "");
  }
}

function sayStatus(repo: string, reply: GithubReply) {
  const { status } = reply;
  if (status === 401) return "GitHub refuses the token";
  if (isMoved(reply)) return `the comments of ${repo} cannot be read: ${MOVED}`;
  return `the comments of ${repo} cannot be read: status ${status}`;
}
