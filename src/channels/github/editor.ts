import { z } from "zod";
import type { Channel } from "../../core/channel/channel.ts";
import { ServiceFailure } from "../../core/channel/service-failure.ts";
import { type GithubCall, LIMIT_MS } from "./api.ts";
import type { Comment, TickAct } from "./comment.ts";
import { tickedKeys } from "./issue-comment.ts";

/** How many edits of a comment are read. */
const MOST_EDITS = 20;

/** REST does not say who edited a comment. */
export const EDITOR_QUERY = `query($id: ID!) {
  node(id: $id) {
    ... on IssueComment {
      body
      lastEditedAt
      userContentEdits(first: ${MOST_EDITS}) { nodes { editedAt diff editor { login kind: __typename } } }
    }
  }
}`;

const Edit = z.object({
  editedAt: z.string(),
  diff: z.string().nullish(),
  editor: z.object({ login: z.string(), kind: z.string() }).nullish(),
});
type Edit = z.infer<typeof Edit>;
const Edited = z.object({
  data: z.object({
    node: z
      .object({
        body: z.string(),
        lastEditedAt: z.string().nullable(),
        userContentEdits: z.object({ nodes: z.array(Edit.nullable()) }).nullable(),
      })
      .nullable(),
  }),
});

const Problems = z.object({ errors: z.array(z.object({ type: z.string().optional(), message: z.string() })) });

interface CommentPlace {
  repo: string;
  comment: Pick<Comment, "node_id" | "body">;
  signal: AbortSignal | undefined;
}

/** The edits of a comment from its present text on, newest first. */
interface CommentEdits {
  edits: Edit[];
  /** The comment is as it was written. */
  isUnedited: boolean;
  /** No older edits were left out. */
  isWhole: boolean;
}

/** GitHub wants to be left alone for this time. */
export class GithubLimit extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super("GitHub's limit is reached");
    this.waitMs = waitMs;
  }
}

/**
 * Asks GitHub whether the author of a comment saved it as it is now. An edit in the second in which the comment was
 * written leaves no other trace. While GitHub's limit lasts, it is not asked.
 */
export function senderConfirmer(call: GithubCall, nowMs: () => number): NonNullable<Channel["confirmSender"]> {
  let limitedUntilMs = 0;
  return async ({ from, unconfirmed: { repo = "", node = "", body = "" } = {} }) => {
    const fail = (why: string, error?: unknown) => new ServiceFailure(why, { cause: error });
    if (limitedUntilMs > nowMs()) throw fail("who edited a comment cannot be read: GitHub's limit is reached");
    try {
      const read = await readEdits(call, { repo, comment: { node_id: node, body }, signal: undefined });
      if (read === "changed") return read;
      return read.isUnedited || personOf(read.edits[0]) === from ? "same" : "other";
    } catch (error) {
      if (error instanceof GithubLimit) limitedUntilMs = nowMs() + error.waitMs;
      throw fail(error instanceof Error ? error.message : "who edited a comment cannot be read", error);
    }
  };
}

/** The ticks that the last change of ticks in a comment set, and whose they are. */
export async function findTickAct(
  call: GithubCall,
  place: CommentPlace & { comment: Comment },
): Promise<TickAct | "changed"> {
  const read = await readEdits(call, place);
  if (read === "changed") return read;
  const { comment } = place;
  const now = tickedKeys(comment.body ?? "");
  const nobodys = { keys: now, login: undefined, at: comment.updated_at };
  const [last] = read.edits;
  const change = findBringer(read, (keys) => keys.join() === now.join());
  if (!last || !change) return nobodys;
  const at = change === last ? comment.updated_at : change.editedAt;
  const login = personOf(change);
  const bringers = now.map((key) => findBringer(read, (keys) => keys.includes(key)));
  const keys = now.filter((_key, index) => bringers[index] === change);
  if (keys.length > 0) return { keys, login, at };
  // The last act took a tick away: those that are left count if the same person had set them.
  return bringers.every((edit) => edit && personOf(edit) === login) ? { keys: now, login, at } : nobodys;
}

async function readEdits(call: GithubCall, { repo, comment, signal }: CommentPlace): Promise<CommentEdits | "changed"> {
  const json = { query: EDITOR_QUERY, variables: { id: comment.node_id } };
  const reply = await call("/graphql", { method: "POST", json, repo, signal });
  // GraphQL reports its own limit with status 200.
  const problem = Problems.safeParse(reply.body).data?.errors[0];
  const isLimited = reply.waitMs !== undefined || problem?.type === "RATE_LIMITED";
  if (isLimited) throw new GithubLimit(reply.waitMs ?? reply.pauseMs ?? LIMIT_MS);
  const parsed = Edited.safeParse(reply.body);
  if (reply.status !== 200 || !parsed.success) {
    const why = problem ? problem.message.slice(0, 200) : `status ${reply.status}`;
    throw new Error(`who edited a comment cannot be read: ${why}`);
  }
  const { node } = parsed.data.data;
  // A comment that GraphQL does not show is there all the same: it came in the list.
  if (!node) return { edits: [], isUnedited: false, isWhole: false };
  if (node.body !== (comment.body ?? "")) return "changed";
  const edits = (node.userContentEdits?.nodes ?? []).filter((edit) => edit !== null);
  const newestFirst = edits.toSorted((one, other) => other.editedAt.localeCompare(one.editedAt));
  // Edits of the same second are told apart by what they left behind.
  const last = newestFirst.findIndex(
    ({ editedAt, diff }) => editedAt === newestFirst[0]?.editedAt && diff === comment.body,
  );
  return {
    edits: newestFirst.slice(Math.max(0, last)),
    isUnedited: node.lastEditedAt === null && edits.length === 0,
    isWhole: edits.length < MOST_EDITS,
  };
}

/**
 * The edit since which the ticks of a comment fit. Undefined if an edit that may have brought them is not shown: people
 * can take the text of an edit out of the history.
 */
function findBringer({ edits, isWhole }: CommentEdits, fits: (keys: readonly string[]) => boolean): Edit | undefined {
  for (const [index, edit] of edits.entries()) {
    const before = edits[index + 1];
    // Nothing is ticked in the comment as it was sent.
    if (!before) return isWhole ? edit : undefined;
    if (typeof before.diff !== "string") return undefined;
    if (!fits(tickedKeys(before.diff))) return edit;
  }
  return undefined;
}

function personOf(edit: Edit | undefined): string | undefined {
  return edit?.editor?.kind === "User" ? edit.editor.login : undefined;
}
