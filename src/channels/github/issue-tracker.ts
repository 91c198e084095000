import { z } from "zod";
import type { GithubSettings } from "../../core/channel/channel-settings.ts";
import { Refusal } from "../../core/refusal.ts";
import type {
  IssueChange,
  IssuePlace,
  IssueTracker,
  LabelAdded,
  PullInput,
  TrackedIssue,
} from "../../core/workflow/issue-tracker.ts";
import { isSameLabel } from "../../core/workflow/trigger/match-trigger.ts";
import type { Outbound } from "../outbound.ts";
import { COMMENT_PAGES, type GithubCall, type GithubReply, githubCaller, isDone, judgeReply } from "./api.ts";
import { foreignMarkdown } from "./markdown.ts";
import { permissionReader } from "./permission.ts";
import { tokenSource } from "./token.ts";

const LABEL_CHARS = 50;
const LOGIN = /^[A-Za-z\d](?:[A-Za-z\d-]{0,38})$/;
/** How many pages of a list are read. */
const MOST_PAGES = 20;

const IssueView = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  user: z.object({ login: z.string() }).nullish(),
  labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])),
  html_url: z.string(),
  updated_at: z.string(),
  pull_request: z.unknown().optional(),
});
const IssueEvent = z.object({
  event: z.string(),
  created_at: z.string(),
  actor: z.object({ login: z.string() }).nullish(),
  label: z.object({ name: z.string() }).nullish(),
});
const CommentView = z.object({ html_url: z.string(), body: z.string().nullish() });
const PullView = z.object({ number: z.int(), html_url: z.string(), state: z.string() });
const RepositoryView = z.object({ default_branch: z.string() });

/** The issues and pull requests of the repositories that the settings name. */
export function githubTracker(settings: GithubSettings, outbound: Pick<Outbound, "fetch" | "nowMs">): IssueTracker {
  const { repos, teams } = settings;
  const call = githubCaller(settings, outbound, tokenSource(settings, outbound));
  const named = (repo: string) => requireRepo(repo, repos);
  return {
    repos,
    readIssue: async ({ repo, number }) =>
      toIssue(repo, IssueView.parse(await getIssue(call, { repo: named(repo), number }))),
    comment: ({ repo, number }, key, text) => commentOnce(call, { repo: named(repo), number }, key, text),
    changeIssue: ({ repo, number }, key, change) => changeIssue(call, { repo: named(repo), number }, key, change),
    openPull: (input) => openPull(call, { ...input, repo: named(input.repo) }),
    listLabelled: (repo, label) => listLabelled(call, named(repo), label),
    findLabelAdded: ({ repo, number }, label) => findLabelAdded(call, { repo: named(repo), number }, label),
    mayWrite: permissionReader(call, teams, () => outbound.nowMs()),
  };
}

/** Workflows name repositories too: only those of the settings are touched. */
function requireRepo(repo: string, repos: readonly string[]): string {
  const known = repos.find((each) => each.toLowerCase() === repo.toLowerCase());
  if (known !== undefined) return known;
  throw new Refusal("not_permitted", `channels.github.repos does not name ${repo.slice(0, 100)}`, {
    hint: "Add it to the repositories of the settings: askd setup github",
  });
}

/** An issue that is not there, or that the token may not read, is refused: trying again does not help. */
async function getIssue(call: GithubCall, { repo, number }: IssuePlace): Promise<unknown> {
  const reply = await call(`/repos/${repo}/issues/${number}`);
  if (reply.status >= 200 && reply.status < 300) return reply.body;
  const { why, isGone, isRefused } = judgeReply(reply);
  const what = `The issue ${repo}#${number} cannot be read: ${why}`;
  if (isGone) throw new Refusal("not_found", what, { hint: "Name another one with --issue" });
  if (isRefused && reply.status === 403) throw new Refusal("not_permitted", what);
  throw new Error(what);
}

async function get(call: GithubCall, path: string): Promise<unknown> {
  return requireDone(await call(path)).body;
}

function requireDone(reply: GithubReply): GithubReply {
  if (isDone(reply)) return reply;
  throw new Error(`GitHub: ${judgeReply(reply).why}`);
}

/** All items of a list, page by page. */
async function* listAll(call: GithubCall, path: string, mostPages = MOST_PAGES): AsyncGenerator {
  let next: string | undefined = path;
  for (let page = 0; next !== undefined && page < mostPages; page += 1) {
    const reply = requireDone(await call(next));
    yield* z.array(z.unknown()).parse(reply.body);
    next = reply.next;
  }
}

/** The items of a list that GitHub begins with the oldest, newest first. */
async function* listFromEnd(call: GithubCall, path: string): AsyncGenerator {
  const first = requireDone(await call(path));
  let reply = first.last === undefined ? first : requireDone(await call(first.last));
  for (let page = 0; page < MOST_PAGES; page += 1) {
    yield* z.array(z.unknown()).parse(reply.body).toReversed();
    if (reply.previous === undefined) return;
    reply = requireDone(await call(reply.previous));
  }
}

function toIssue(repo: string, view: z.infer<typeof IssueView>): TrackedIssue {
  const { number, title, body, user, labels, html_url: url, updated_at: updatedAt } = view;
  const names = labels.flatMap((label) => (typeof label === "string" ? label : (label.name ?? [])));
  return { repo, number, title, body: body ?? "", author: user?.login ?? "ghost", labels: names, url, updatedAt };
}

/** A comment carries the mark of its step, which nobody else can know before it is there. */
function stepMark(key: string) {
  return `<!-- askd v1 step=${key} -->`;
}

async function commentOnce(call: GithubCall, { repo, number }: IssuePlace, key: string, text: string) {
  const mark = stepMark(key);
  const path = `/repos/${repo}/issues/${number}/comments?per_page=100`;
  for await (const raw of listAll(call, path, COMMENT_PAGES)) {
    const comment = CommentView.parse(raw);
    if (comment.body?.includes(mark)) return { url: comment.html_url };
  }
  const body = `${foreignMarkdown(text)}\n\n${mark}`;
  const reply = requireDone(await call(`/repos/${repo}/issues/${number}/comments`, { json: { body } }));
  return { url: CommentView.parse(reply.body).html_url };
}

/** Labels and assignees are sets, and the comment is looked for first: all of it bears being repeated. */
async function changeIssue(call: GithubCall, place: IssuePlace, key: string, change: IssueChange): Promise<void> {
  const path = `/repos/${place.repo}/issues/${place.number}`;
  const labels = (change.addLabels ?? []).map((label) => label.replace(/\s+/g, " ").trim().slice(0, LABEL_CHARS));
  const assignees = (change.assign ?? []).map((login) => login.replace(/^@/, "")).filter((login) => LOGIN.test(login));
  if (labels.length > 0) requireDone(await call(`${path}/labels`, { json: { labels } }));
  for (const label of change.removeLabels ?? []) {
    const reply = await call(`${path}/labels/${encodeURIComponent(label)}`, { method: "DELETE" });
    if (reply.status !== 404) requireDone(reply); // it is not there: nothing to remove
  }
  if (assignees.length > 0) requireDone(await call(`${path}/assignees`, { json: { assignees } }));
  if (change.addComment !== undefined) await commentOnce(call, place, key, change.addComment);
  if (change.close) requireDone(await call(path, { method: "PATCH", json: { state: "closed" } }));
}

/** Opens a pull request for a branch, unless there is one: a branch belongs to one run. */
async function openPull(call: GithubCall, { repo, head, base, title, body, closes, isDraft }: PullInput) {
  const [owner = ""] = repo.split("/");
  const query = new URLSearchParams({ head: `${owner}:${head}`, state: "all", per_page: "10" });
  const [known] = z.array(PullView).parse(await get(call, `/repos/${repo}/pulls?${query.toString()}`));
  if (known) return { number: known.number, url: known.html_url };
  const onto = base ?? RepositoryView.parse(await get(call, `/repos/${repo}`)).default_branch;
  const text = [
    ...(body === "" ? [] : [foreignMarkdown(body)]),
    ...(closes === undefined ? [] : [`Closes #${closes}`]),
  ];
  const json = { title, head, base: onto, body: text.join("\n\n"), draft: isDraft ?? false };
  const pull = PullView.parse(requireDone(await call(`/repos/${repo}/pulls`, { json })).body);
  return { number: pull.number, url: pull.html_url };
}

async function listLabelled(call: GithubCall, repo: string, label: string): Promise<TrackedIssue[]> {
  const query = new URLSearchParams({ labels: label, state: "open", per_page: "100" });
  const found: TrackedIssue[] = [];
  for await (const raw of listAll(call, `/repos/${repo}/issues?${query.toString()}`)) {
    const view = IssueView.parse(raw);
    if (view.pull_request === undefined) found.push(toIssue(repo, view));
  }
  return found;
}

async function findLabelAdded(
  call: GithubCall,
  { repo, number }: IssuePlace,
  label: string,
): Promise<LabelAdded | undefined> {
  for await (const raw of listFromEnd(call, `/repos/${repo}/issues/${number}/events?per_page=100`)) {
    const { event, label: put, actor, created_at: at } = IssueEvent.safeParse(raw).data ?? {};
    if (event !== "labeled" || !put || !isSameLabel(put.name, label) || !actor || at === undefined) continue;
    return { by: actor.login, at };
  }
  return undefined;
}
