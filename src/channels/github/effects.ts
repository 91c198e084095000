import { z } from "zod";
import type { IssueEffects } from "../../core/channel/issue-effects.ts";
import { type GithubCall, type GithubReply } from "./api.ts";
import { Comment } from "./comment.ts";
import { foreignMarkdown } from "./markdown.ts";

const LABEL_CHARS = 50;
/** How many pages of an issue are searched for a comment that an earlier attempt may have left. */
const SEARCHED_PAGES = 20;
const LOGIN = /^[A-Za-z\d](?:[A-Za-z\d-]{0,38})$/;

/** Labels, assigns and comments an issue. Everything is there once, however often this is repeated. */
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
    ...(logins.length === 0 ? [] : [() => call(`${path}/assignees`, { json: { assignees: logins } })]),
    ...(comment === undefined ? [] : [() => commentOnce(call, place, comment)]),
  ];
  let reply: GithubReply = { status: 200, body: undefined, etag: undefined, next: undefined, waitMs: undefined };
  for (const request of requests) {
    reply = await request();
    if (reply.status >= 300) return reply;
  }
  return reply;
}

async function commentOnce(
  call: GithubCall,
  { repo, issue, question }: { repo: string; issue: number; question: string },
  text: string,
): Promise<GithubReply> {
  const mark = `<!-- askd v1 timeout=${question} -->`;
  let next: string | undefined = `/repos/${repo}/issues/${issue}/comments?per_page=100`;
  for (let page = 0; next !== undefined && page < SEARCHED_PAGES; page += 1) {
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
