import { z } from "zod";
import type { IssueEffects } from "../../core/channel/issue-effects.ts";
import { COMMENT_PAGES, type GithubCall, type GithubReply, isDone, judgeReply } from "./api.ts";
import { Comment } from "./comment.ts";
import { foreignMarkdown } from "./markdown.ts";

const LABEL_CHARS = 50;
const LOGIN = /^[A-Za-z\d](?:[A-Za-z\d-]{0,38})$/;

/** Labels, comments and assigns an issue. Everything is there once, however often this is repeated. */
export async function applyEffects(
  call: GithubCall,
  place: { repo: string; issue: number; question: string },
  { labels, comment, assign }: IssueEffects,
): Promise<GithubReply> {
  const path = `/repos/${place.repo}/issues/${place.issue}`;
  const names = labels.map((label) => label.replace(/\s+/g, " ").trim().slice(0, LABEL_CHARS)).filter(Boolean);
  const logins = assign.filter((name) => LOGIN.test(name));
  const requests = [
    ...(names.length === 0 ? [] : [() => call(`${path}/labels`, { json: { labels: names } })]),
    ...(comment === undefined ? [] : [() => commentOnce(call, place, comment)]),
    ...(logins.length === 0 ? [] : [() => call(`${path}/assignees`, { json: { assignees: logins } })]),
  ];
  let failure: GithubReply | undefined;
  let reply: GithubReply = { status: 200, body: undefined, etag: undefined, next: undefined, waitMs: undefined };
  for (const request of requests) {
    reply = await request();
    if (reply.waitMs !== undefined) return reply;
    // One that is refused, such as an account that cannot be assigned, does not keep the others from being there. What
    // another attempt can get through counts first.
    if (!isDone(reply) && (!failure || isForGood(failure))) failure = reply;
  }
  return failure ?? reply;
}

function isForGood(reply: GithubReply) {
  const { isFinal, isGone } = judgeReply(reply);
  return isFinal === true || isGone === true;
}

async function commentOnce(
  call: GithubCall,
  { repo, issue, question }: { repo: string; issue: number; question: string },
  text: string,
): Promise<GithubReply> {
  const mark = `<!-- askd v1 timeout=${question} -->`;
  let next: string | undefined = `/repos/${repo}/issues/${issue}/comments?per_page=100`;
  for (let page = 0; next !== undefined && page < COMMENT_PAGES; page += 1) {
    const found = await call(next);
    if (found.status !== 200) return found;
    if (
      z
        .array(Comment)
        .parse(found.body)
        .some((each) => each.body?.includes(mark))
    )
      return found;
    next = found.next;
  }
  return call(`/repos/${repo}/issues/${issue}/comments`, { json: { body: `${foreignMarkdown(text)}\n\n${mark}` } });
}
