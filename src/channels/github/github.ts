import { z } from "zod";
import type { Channel, ChannelResult, MarkedIssue, Reply, WireMessage } from "../../core/channel/channel.ts";
import type { GithubSettings } from "../../core/channel/channel-settings.ts";
import type { IssueEffects } from "../../core/channel/issue-effects.ts";
import type { QuestionMessage } from "../../core/channel/message.ts";
import { Refusal } from "../../core/refusal.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { answerText } from "../email/reply-answer.ts";
import type { Outbound } from "../outbound.ts";
import { type GithubCall, attempt, githubCaller, judgeReply } from "./api.ts";
import { Comment, commentIdOf, issueOf, outsideRef, parseRef, reactionOf, ticksOf } from "./comment.ts";
import { senderConfirmer } from "./editor.ts";
import { applyEffects } from "./effects.ts";
import { readHook } from "./hook.ts";
import {
  type CommentOptions,
  markedQuestion,
  noteComment,
  pairOf,
  questionComment,
  tickedKeys,
} from "./issue-comment.ts";
import { listen } from "./listen.ts";
import { foreignMarkdown } from "./markdown.ts";
import { permissionReader, verifyTeams } from "./permission.ts";
import { tokenSource } from "./token.ts";

/** How long an edit waits for a tick that nobody has read yet. */
const TICK_MS = 30_000;
const TICK_RETRY_MS = 5_000;
/** How far back a comment is looked for that may have been sent. */
const SEARCHED_PAGES = 3;

const Wire = z.object({
  repo: z.string().optional(),
  issue: z.int().optional(),
  body: z.string(),
  question: z.string(),
});
const Repository = z.object({ permissions: z.object({ push: z.boolean() }).partial().optional() });

/**
 * Asks questions as comments of the issue or pull request that they belong to. Replies, ticked boxes and reactions are
 * found by looking, so nothing of askd has to be reachable; a webhook only makes it faster.
 */
export function githubChannel(settings: GithubSettings, outbound: Outbound): Channel {
  const call = githubCaller(settings, outbound, tokenSource(settings, outbound));
  const mayWrite = permissionReader(call, settings.teams, () => outbound.nowMs());
  const takenTicks = new Set<string>();
  const options: CommentOptions = settings;
  return {
    name: "github",
    strength: "person",
    build: (message) => buildWire(message, settings),
    showsAll: (message) => questionComment(message, options).isWhole,
    send: (wire) => send(call, wire, settings),
    edit: (outside, wire) => edit(call, outside, wire, { takenTicks, nowMs: outbound.nowMs() }),
    markIssue: (place, effects) => markIssue(call, place, effects, settings),
    remind: async (_outside, wire, text) => {
      const { repo, issue } = Wire.parse(wire);
      const posted = await post(call, repo, issue, noteComment(foreignMarkdown(text)), settings);
      return posted.ok ? { ok: true } : posted;
    },
    respond: (respondTo, text) => respond(call, respondTo, text, settings),
    extract,
    find: (wire) => find(call, Wire.parse(wire)),
    shows: async (wire) => {
      const found = await findComment(call, Wire.parse(wire));
      return found?.body?.replaceAll("\r\n", "\n") === Wire.parse(wire).body;
    },
    places: {
      of: (outside) => outside.slice(0, outside.lastIndexOf(":")),
      isAfter: (reply, outside) => commentIdOf(reply) > parseRef(outside).id,
    },
    mayAnswer: (reply) => mayWrite(reply.respondTo.split("#")[0] ?? "", reply.from ?? ""),
    confirmSender: senderConfirmer(call, () => outbound.nowMs()),
    verify: () => verify(call, settings),
    listen: (cursor, signal, listOpen = () => Promise.resolve([])) =>
      listen({ call, settings, takenTicks, nowMs: () => outbound.nowMs() }, { cursor, signal, listOpen }),
    readHook: (hook) => readHook(hook, settings, takenTicks),
  };
}

function buildWire(message: QuestionMessage, settings: GithubSettings): WireMessage {
  const { issue, onIssue } = message;
  const place = issue === undefined ? settings.fallback : { repo: onIssue?.repo ?? settings.repos[0], number: issue };
  const { body } = questionComment(message, settings);
  return { repo: place?.repo, issue: place?.number, body, question: message.questionId };
}

/** Agents name issues too: only repositories of the settings get comments. */
function requirePlace(
  repo: string | undefined,
  issue: number | undefined,
  { repos }: GithubSettings,
): ChannelResult | undefined {
  if (repo === undefined || issue === undefined)
    return { ok: false, why: "the question belongs to no issue", isFinal: true, isMisaddressed: true };
  if (repos.some((each) => each.toLowerCase() === repo.toLowerCase())) return undefined;
  const why = `channels.github.repos does not name ${makeVisible(repo).slice(0, 100)}`;
  return { ok: false, why, isFinal: true, isMisaddressed: true };
}

async function post(
  call: GithubCall,
  repo: string | undefined,
  issue: number | undefined,
  body: string,
  settings: GithubSettings,
): Promise<ChannelResult> {
  const refused = requirePlace(repo, issue, settings);
  if (refused) return refused;
  const path = `/repos/${repo}/issues/${issue}/comments`;
  const done = await attempt(
    () => call(path, { json: { body } }),
    (said) => ({ ok: true, outside: outsideRef(repo ?? "", issue ?? 0, Comment.parse(said).id) }),
  );
  const isMissing = !done.ok && done.isGone;
  return isMissing
    ? {
        ok: false,
        why: `there is no ${repo}#${issue}, or the token cannot see it`,
        isFinal: true,
        isMisaddressed: true,
      }
    : done;
}

function send(call: GithubCall, wire: WireMessage, settings: GithubSettings): Promise<ChannelResult> {
  const { repo, issue, body } = Wire.parse(wire);
  return post(call, repo, issue, body, settings);
}

/** Reads before it writes: a box that somebody has just ticked must not be lost. */
async function edit(
  call: GithubCall,
  outside: string,
  wire: WireMessage,
  { takenTicks, nowMs }: { takenTicks: ReadonlySet<string>; nowMs: number },
): Promise<ChannelResult> {
  const { repo, id } = parseRef(outside);
  const path = `/repos/${repo}/issues/comments/${id}`;
  const { body } = Wire.parse(wire);
  return attempt(async () => {
    const found = await call(path);
    if (found.status !== 200) return found;
    const now = Comment.parse(found.body);
    const isUnread = tickedKeys(now.body ?? "").length > 0 && !takenTicks.has(`${id} ${now.updated_at}`);
    if (isUnread && nowMs - Date.parse(now.updated_at) < TICK_MS) {
      return {
        ...found,
        status: 429,
        body: { message: "somebody has just ticked a box there" },
        waitMs: TICK_RETRY_MS,
      };
    }
    return call(path, { method: "PATCH", json: { body } });
  });
}

async function markIssue(
  call: GithubCall,
  { repo: named, number, question }: MarkedIssue,
  effects: IssueEffects,
  settings: GithubSettings,
): Promise<ChannelResult> {
  const repo = named ?? settings.repos[0];
  const refused = requirePlace(repo, number, settings);
  if (refused) return refused;
  return attempt(() => applyEffects(call, { repo: repo ?? "", issue: number, question }, effects));
}

/** The person who replied is mentioned, so that they hear of it. */
function respond(call: GithubCall, respondTo: string, text: string, settings: GithubSettings): Promise<ChannelResult> {
  const [, repo, issue, login] = /^([^#\s]+)#(\d+)(?: ([\w-]+))?$/.exec(respondTo) ?? [];
  const name = login === undefined ? "" : `@${login} `;
  return post(call, repo, Number(issue), noteComment(`${name}${foreignMarkdown(text)}`), settings);
}

/** The answer in a reply. */
function extract(reply: Reply, message: QuestionMessage): string | undefined {
  const ticks = ticksOf(reply);
  if (ticks && ticks.length > 1) throw new Refusal("ambiguous_answer", "Several boxes are ticked; tick one");
  if (ticks) return ticks[0];
  const reaction = reactionOf(reply);
  if (reaction !== undefined) return pairOf(message)?.[reaction === "+1" ? 0 : 1];
  return reply.question === undefined ? answerText(reply.text, message) : reply.text;
}

async function find(call: GithubCall, wire: z.infer<typeof Wire>): Promise<string | undefined> {
  const found = await findComment(call, wire);
  return found && outsideRef(wire.repo ?? "", issueOf(found), found.id);
}

/** The comment of a question, by its hidden mark; nobody can know the mark before the comment is there. */
async function findComment(
  call: GithubCall,
  { repo, issue, body }: z.infer<typeof Wire>,
): Promise<Comment | undefined> {
  const mark = markedQuestion(body);
  if (repo === undefined || mark === undefined) return undefined;
  let next: string | undefined = `/repos/${repo}/issues/comments?sort=created&direction=desc&per_page=100`;
  for (let page = 0; next !== undefined && page < SEARCHED_PAGES; page += 1) {
    const reply = await call(next);
    if (reply.status !== 200) throw new Error(judgeReply(reply).why);
    const comments = z.array(Comment).parse(reply.body);
    const found = comments.find((each) => issueOf(each) === issue && markedQuestion(each.body ?? "") === mark);
    if (found) return found;
    next = reply.next;
  }
  return undefined;
}

async function verify(call: GithubCall, { repos, teams }: GithubSettings): Promise<string> {
  if (repos.length === 0) throw new Error("channels.github.repos names no repository");
  for (const repo of repos) {
    const reply = await call(`/repos/${repo}`);
    if (reply.status === 404) throw new Error(`there is no repository ${repo}, or the token cannot see it`);
    if (reply.status !== 200) throw new Error(judgeReply(reply).why);
    Repository.parse(reply.body);
  }
  await verifyTeams(call, teams);
  return `comments in ${repos.join(", ")}`;
}
