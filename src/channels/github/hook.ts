import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { HookBatch, InboundHook } from "../../core/channel/channel.ts";
import type { GithubSettings } from "../../core/channel/channel-settings.ts";
import { Refusal } from "../../core/refusal.ts";
import { Comment, hasTicks, readComment, tickReply } from "./comment.ts";
import { tickedKeys } from "./issue-comment.ts";

/** An `issue_comment` event, as far as it is read here. */
const CommentEvent = z.object({
  action: z.string(),
  comment: Comment,
  changes: z.object({ body: z.object({ from: z.string() }).optional() }).optional(),
  repository: z.object({ full_name: z.string() }),
  sender: z.object({ login: z.string(), type: z.string() }),
});

/** An `issues` event, as far as it is read here. */
const LabelEvent = z.object({
  action: z.literal("labeled"),
  label: z.object({ name: z.string() }),
  repository: z.object({ full_name: z.string() }),
});

/**
 * Reads an event that GitHub posted; undefined if its signature is wrong. Nothing but the body is signed, so nothing else
 * decides. The same comment read by looking has the same key: both together are one reply.
 */
export function readHook(
  { header, body }: InboundHook,
  { repos, readHookSecret }: GithubSettings,
  takenTicks: Set<string>,
): HookBatch | undefined {
  const secret = readHookSecret();
  if (!secret) throw new Refusal("not_found", "There is nothing at this address");
  if (!isSigned(body, header("x-hub-signature-256"), secret)) return undefined;
  const raw = parseBody(body);
  const parsed = CommentEvent.safeParse(raw);
  // GitHub is asked for the author of the label and their rights: the event only says when to look.
  if (!parsed.success) return { replies: [], hasLabels: LabelEvent.safeParse(raw).success };
  const { action, comment, changes, repository, sender } = parsed.data;
  const repo = repos.find((each) => each.toLowerCase() === repository.full_name.toLowerCase());
  if (repo === undefined || (action !== "created" && action !== "edited")) return { replies: [] };
  if (!hasTicks(comment)) {
    // People with write access can edit the comment of another: the author did not say that.
    const reply = sender.login === comment.user?.login ? readComment(repo, comment) : undefined;
    return { replies: reply ? [reply] : [] };
  }
  const before = changes?.body?.from;
  if (action !== "edited" || before === undefined || sender.type !== "User") return { replies: [] };
  // Ticks that were there before are somebody else's, and so may be those that stay when one is taken away: looking at
  // the edits of the comment tells whose.
  const known = tickedKeys(before);
  const keys = tickedKeys(comment.body ?? "").filter((key) => !known.includes(key));
  if (keys.length === 0) return { replies: [] };
  takenTicks.add(`${comment.id} ${comment.updated_at}`);
  return { replies: [tickReply(repo, comment, { keys, login: sender.login, at: comment.updated_at })] };
}

/** Says whether GitHub signed these bytes with the secret. */
export function isSigned(body: string, signature: string | undefined, secret: string): boolean {
  const [, given] = /^sha256=([0-9a-f]{64})$/.exec(signature ?? "") ?? [];
  if (given === undefined) return false;
  const expected = createHmac("sha256", secret).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(given, "hex"));
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // signed, but no event
  }
}
