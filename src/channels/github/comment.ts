import { z } from "zod";
import type { Reply } from "../../core/channel/channel.ts";
import { hashText } from "../../core/question/content.ts";
import { isOurs, markedQuestion, tickedKeys, withoutMarks } from "./issue-comment.ts";

/** A comment of an issue or pull request, as far as it is read here. */
export const Comment = z.object({
  id: z.int(),
  node_id: z.string(),
  issue_url: z.string(),
  user: z.object({ login: z.string(), type: z.string() }).nullish(),
  created_at: z.string(),
  updated_at: z.string(),
  body: z.string().nullish(),
  // Older servers of GitHub leave it out.
  performed_via_github_app: z.unknown().optional(),
});
export type Comment = z.infer<typeof Comment>;

const COMMAND = /^\/answer(?:[ \t]+(q[-_][0-9a-z]+))?(?=\s|$)[ \t]*([\s\S]*)$/i;
/** Ticks in a comment, and the person who set them; without one, nobody is known to have set them. */
export interface TickAct {
  keys: readonly string[];
  login: string | undefined;
  /** The time of the edit that set them. */
  at: string;
}

/** Marks replies that have no words: `extract` reads them. */
const TICK = "/tick ";
const REACT = "/react ";

/** Names a comment of ours: repository, issue and id. */
export function outsideRef(repo: string, issue: number, id: number): string {
  return `${repo}#${issue}:${id}`;
}

/** The place of a comment of ours, and its id. */
export function parseRef(outside: string): { repo: string; issue: number; id: number } {
  const [, repo = "", issue, id] = /^([^#]+)#(\d+):(\d+)$/.exec(outside) ?? [];
  return { repo, issue: Number(issue), id: Number(id) };
}

/** The id of the comment that a reply is. */
export function commentIdOf({ key }: Reply): number {
  return Number(key.split(":")[1]);
}

/** The issue of a comment. */
export function issueOf({ issue_url: url }: Pick<Comment, "issue_url">): number {
  return Number(/\/(\d+)$/.exec(url)?.[1]);
}

/**
 * The reply that a comment is; undefined if a program wrote it. A comment that was made through an app in a person's name
 * may be an agent's.
 */
export function readComment(repo: string, comment: Comment): Reply | undefined {
  const { id, user, body, updated_at: updatedAt, created_at: createdAt } = comment;
  const isPerson = user?.type === "User" && user.login !== "ghost" && !user.login.endsWith("[bot]");
  if (!user || !isPerson || (comment.performed_via_github_app ?? null) !== null || isOurs(body ?? "")) return undefined;
  const said = withoutQuotes(withoutMarks(body ?? ""));
  // A comment that begins with a name is for that person.
  if (said === "" || said.startsWith("@")) return undefined;
  const [, names, command] = COMMAND.exec(said) ?? [];
  const place = `${repo}#${issueOf(comment)}`;
  return {
    key: `comment:${id}:${hashText(`${updatedAt} ${body ?? ""}`).slice(0, 16)}`,
    from: user.login,
    place,
    question: names?.toLowerCase(),
    isEdited: updatedAt !== createdAt,
    text: (command ?? said).trim(),
    respondTo: `${place} ${user.login}`,
  };
}

/** The lookup that confirms the author of a comment: the list of comments does not show every edit. */
export function unconfirmed(reply: Reply, repo: string, { node_id: node, body }: Comment): Reply {
  return { ...reply, unconfirmed: { repo, node, body: body ?? "" } };
}

/** Says whether this is a comment of ours with ticked boxes. */
export function hasTicks({ body }: Comment): boolean {
  return markedQuestion(body ?? "") !== undefined && tickedKeys(body ?? "").length > 0;
}

/** The reply that ticked boxes are, by the person who ticked them. */
export function tickReply(repo: string, comment: Comment, { keys, login, at }: TickAct): Reply {
  const { id } = comment;
  const issue = issueOf(comment);
  return {
    key: `tick:${id}:${at}:${keys.join(",")}`,
    from: login,
    outside: outsideRef(repo, issue, id),
    text: `${TICK}${keys.join(",")}`,
    respondTo: `${repo}#${issue} ${login ?? ""}`.trim(),
  };
}

/** The reply that a thumb up or down is. */
export function reactionReply(outside: string, reaction: { id: number; content: string; login: string }): Reply {
  const { repo, issue } = parseRef(outside);
  return {
    key: `reaction:${reaction.id}`,
    from: reaction.login,
    outside,
    text: `${REACT}${reaction.content}`,
    respondTo: `${repo}#${issue} ${reaction.login}`,
  };
}

/** The boxes that a reply ticked. */
export function ticksOf({ text, outside }: Reply): string[] | undefined {
  return outside !== undefined && text.startsWith(TICK) ? text.slice(TICK.length).split(",") : undefined;
}

/** The reaction that a reply is. */
export function reactionOf({ text, outside }: Reply): string | undefined {
  return outside !== undefined && text.startsWith(REACT) ? text.slice(REACT.length) : undefined;
}

/** A comment without the lines that it quotes. */
function withoutQuotes(body: string) {
  return body
    .replaceAll("\r\n", "\n")
    .split("\n")
    .filter((line) => !/^ {0,3}>/.test(line))
    .join("\n")
    .trim();
}
