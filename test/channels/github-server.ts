import { createHash, createHmac, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { githubChannel } from "../../src/channels/github/github.ts";
import { EDITOR_QUERY } from "../../src/channels/github/editor.ts";
import type { GithubSettings } from "../../src/core/channel/channel-settings.ts";
import type { Counterpart, ShownMessage } from "./counterpart.ts";
import { GithubApps } from "./github-app.ts";
import { GithubIssues } from "./github-issues.ts";
import { GithubPulls } from "./github-pulls.ts";
import { DOCS, type Send, notFound } from "./github-reply.ts";
import { type Role, answerRights } from "./github-rights.ts";
import { GithubSchema, type Operation } from "./github-schema.ts";
import {
  type GithubComment,
  REPO,
  commentView,
  isQuestion,
  now,
  plainText,
  reactionView,
  repositoryView,
  userView,
} from "./github-view.ts";
import { GithubLimits } from "./github-limits.ts";
import { LoopbackServer, type LoopbackRequest, OUTBOUND } from "./loopback-server.ts";

export const GITHUB_TOKEN = "github_pat_0123456789";
export const HOOK_SECRET = "It's a Secret to Everybody";
const ISSUE = 123;
const BODY_CHARS = 65_536;

/** The addresses of further pages have the repository as a number. */
const NUMBERED = "/repositories/1/";
/** GitHub's pages, and queries in its other language: its description of the REST API has none of them. */
const UNDESCRIBED = /^POST \/graphql$|\/settings\/apps\/new$/;

/** The settings of a channel that uses the service at this address. */
export function githubSettings(url: string): GithubSettings {
  return {
    url,
    repos: [REPO],
    fallback: { repo: REPO, number: ISSUE },
    teams: ["acme/ops"],
    mention: [],
    visibility: "full",
    pollMs: 30,
    writeMs: 0,
    readToken: () => GITHUB_TOKEN,
    app: undefined,
    readHookSecret: () => HOOK_SECRET,
  };
}

/**
 * GitHub's REST API for issues, by its published description: every request and every reply is checked against it, and
 * what does not fit is a problem. Knows ETags, pages, limits, reactions, rights and signed webhooks.
 */
export class GithubServer implements Counterpart {
  readonly reach = { name: "github", person: undefined, isPersonal: false, hasIssues: true };
  readonly person = { github: "Mika" };
  channel;
  readonly traffic = new LoopbackServer();
  readonly limits = new GithubLimits();
  readonly comments: GithubComment[] = [];
  readonly pulls = new GithubPulls(
    () => this.#base,
    () => (this.#id += 1),
  );
  readonly issues = new GithubIssues(
    () => this.#base,
    () => (this.#id += 1),
  );
  readonly apps = new GithubApps();
  readonly roles: Record<string, Role> = { mika: "write", lena: "admin", reader: "read" };
  readonly teams: Record<string, string[]> = { "acme/ops": ["cho"] };
  /** Requests that were no changes since the last look. */
  unchanged = 0;
  /** GitHub cannot be asked for the rights of an account. */
  hidesRights = false;
  /** The token may not read teams. */
  hidesTeams = false;
  /** Repositories that are not there, or that are called something else by now. */
  readonly missing = new Set<string>();
  readonly moved = new Set<string>();
  /** What GraphQL says in place of its usual reply, with status 200 as well. */
  graphqlProblem: { reply: object; headers?: Record<string, string> } | undefined;
  /** GitHub does not say who edited a comment. */
  hidesEditors = false;
  /** The account that the token belongs to: a program, or a person. */
  account = "askd[bot]";
  /** Where events are posted. */
  hookUrl: string | undefined;
  /** Called when a request that changes something is done, before its reply. */
  onTaken: (request: string) => void = () => undefined;
  readonly #schema = new GithubSchema();
  #base = "";
  #id = 1_000;

  static async start(over: Partial<GithubSettings> = {}): Promise<GithubServer> {
    const github = new GithubServer(over);
    github.#base = await github.traffic.listen();
    github.channel = githubChannel(github.settings(over), OUTBOUND);
    github.traffic.handle = (request, response) => github.#handle(request, response);
    return github;
  }

  private constructor(over: Partial<GithubSettings>) {
    this.channel = githubChannel(this.settings(over), OUTBOUND);
  }

  get base(): string {
    return this.#base;
  }

  get labels(): Map<number, string[]> {
    return this.issues.labels;
  }

  get assignees(): Map<number, string[]> {
    return this.issues.assignees;
  }

  /** Refs that are no branches. */
  get refs(): Map<string, string> {
    return this.pulls.refs;
  }

  settings(over: Partial<GithubSettings> = {}): GithubSettings {
    return { ...githubSettings(this.#base), ...over };
  }

  withBadToken() {
    return githubChannel(this.settings({ readToken: () => "wrong" }), OUTBOUND);
  }

  /** Comments of ours about questions, as people see them. */
  shown(): ShownMessage[] {
    return this.comments.filter(isQuestion).map((comment) => ({
      text: plainText(comment.body),
      buttons: [...comment.body.matchAll(/^- \[ \] \*\*([A-Z]{1,3}\) .*?)\*\*/gm)].map(([line, label = ""]) => ({
        label,
        press: () => this.tick(comment, line),
      })),
    }));
  }

  responses(): string[] {
    return this.comments
      .filter(({ body }) => body.includes("<!-- askd v1 note -->") && !body.includes("Reminder"))
      .map(({ body }) => plainText(body));
  }

  /** Ticks a box, as the page does it: with the comment as the person saw it. */
  tick(comment: GithubComment, line: string, login: string | undefined = "mika"): Promise<void> {
    return this.edit(comment, comment.body.replace(line, line.replace("[ ]", "[x]")), login);
  }

  /** Changes a comment, as a person does. */
  async edit(comment: GithubComment, body: string, login: string | undefined): Promise<void> {
    const from = comment.body;
    saveEdit(comment, body, this.hidesEditors ? undefined : login);
    await this.#hook("edited", comment, login ?? "ghost", { changes: { body: { from } } });
  }

  /** Changes a comment in the second in which it was written: REST does not show that it was edited. */
  async editAtOnce(comment: GithubComment, body: string, login: string | undefined): Promise<void> {
    await this.edit(comment, body, login);
    comment.updatedAt = comment.createdAt;
    for (const edit of comment.edits) edit.editedAt = comment.createdAt;
  }

  async say(text: string, login = "mika", issue = ISSUE): Promise<void> {
    await this.#hook("created", this.add(text, login, issue), login);
  }

  /** Adds a comment without telling anybody. */
  add(text: string, login = "mika", issue = ISSUE): GithubComment {
    return this.#add(issue, text, login);
  }

  react(comment: GithubComment, content: string, login = "mika"): void {
    comment.reactions.push({ id: (this.#id += 1), content, login });
  }

  async repeat(): Promise<void> {
    // Looking again brings the same comment again where its address changed.
    const last = this.comments.at(-1);
    if (last) await this.#hook("edited", last, "mika");
  }

  async forge(): Promise<void> {
    const ours = this.comments.find(isQuestion);
    await this.say("A", "mika", 77);
    await this.say("A", "dependabot[bot]");
    await this.say(`${ours?.body.replace("- [ ]", "- [x]")}`, "mika");
  }

  deleteMessages(): void {
    this.comments.length = 0;
  }

  async close(): Promise<void> {
    await this.traffic.close();
  }

  #add(issue: number, body: string, login: string): GithubComment {
    const at = now();
    const comment = {
      id: (this.#id += 1),
      issue,
      body,
      login,
      association: "MEMBER",
      createdAt: at,
      updatedAt: at,
      edits: [],
      reactions: [],
    };
    this.comments.push(comment);
    return comment;
  }

  /** Posts an event, signed as GitHub does it. */
  async #hook(action: string, comment: GithubComment, login: string, more: object = {}): Promise<void> {
    if (this.hookUrl === undefined) return;
    const { body, headers } = this.signedEvent(action, comment, login, more);
    const response = await fetch(this.hookUrl, { method: "POST", body, headers, signal: AbortSignal.timeout(10_000) });
    if (response.status >= 300) this.traffic.problems.push(`webhook: ${response.status} ${await response.text()}`);
  }

  signedEvent(action: string, comment: GithubComment, login: string, more: object = {}) {
    const [issue, shown] = [{ number: comment.issue }, commentView(this.#base, comment)];
    return this.#sign("issue_comment", login, { action, ...more, issue, comment: shown });
  }

  /** The event that GitHub posts about a label. */
  labelledEvent(issue: number, label: string, login: string) {
    return this.#sign("issues", login, { action: "labeled", issue: { number: issue }, label: { name: label } });
  }

  #sign(event: string, login: string, about: object) {
    const body = JSON.stringify({ ...about, repository: { full_name: REPO }, sender: userView(this.#base, login) });
    const headers = {
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/test",
      "x-github-event": event,
      "x-github-delivery": randomUUID(),
      "x-hub-signature-256": `sha256=${createHmac("sha256", HOOK_SECRET).update(body).digest("hex")}`,
    };
    return { body, headers };
  }

  async #handle(request: LoopbackRequest, response: ServerResponse): Promise<void> {
    request.url.pathname = request.url.pathname.replace(NUMBERED, `/repos/${REPO}/`);
    const { method, url, headers, text } = request;
    const operation = this.#schema.find(method, url.pathname);
    const planned = this.limits.take(`${method} ${url.pathname}`);
    const wrong = this.#checkRequest(request, operation);
    const send = (status: number, body: unknown, more: Record<string, string> = {}) => {
      if (planned && "lost" in planned) response.destroy();
      else this.#send(request, response, { operation, status, body, more: { ...more, ...planned?.headers } });
    };
    const isMessage = method !== "GET" && /\/comments(\/\d+)?$/.test(url.pathname);
    if (isMessage) {
      this.traffic.count();
      this.traffic.keep(text);
    }
    if (this.#answerApp(request, response, send)) return;
    const [, token = ""] = /^Bearer (\S+)$/.exec(headers.authorization ?? "") ?? [];
    if (token !== GITHUB_TOKEN && !this.apps.tokens.has(token))
      return send(401, { message: "Bad credentials", documentation_url: DOCS, status: "401" });
    if (!headers["user-agent"]) return send(403, { message: "Please send a User-Agent header" });
    const failure = isMessage ? this.traffic.nextFailure() : undefined;
    if (failure) {
      const more: Record<string, string> = {};
      if (failure.retryAfterS !== undefined) more["retry-after"] = String(failure.retryAfterS);
      return send(failure.status, { message: "planned", documentation_url: DOCS }, more);
    }
    if (planned && "status" in planned)
      return send(planned.status, { message: planned.message, documentation_url: DOCS });
    if (url.pathname === "/graphql") return this.#graphql(text, token, send);
    if (this.#isElsewhere(url.pathname, token, send)) return;
    if (!operation) return send(404, notFound());
    if (wrong !== undefined) return send(422, invalid(wrong));
    const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    return this.#answer(operation, { url, body }, send);
  }

  /** Replies for a place that the token does not reach, or that is not there under this name. */
  #isElsewhere(pathname: string, token: string, send: Send): boolean {
    const [, repo = ""] = /^\/repos\/([^/]+\/[^/]+)/.exec(pathname) ?? [];
    const [, org = ""] = /^\/orgs\/([^/]+)/.exec(pathname) ?? [];
    if (!this.apps.reaches(token, repo || org) || this.missing.has(repo)) send(404, notFound());
    else if (this.moved.has(repo)) {
      const location = `${this.#base}/repositories/1${pathname.slice(`/repos/${repo}`.length)}`;
      send(301, { message: "Moved Permanently", url: location, documentation_url: DOCS }, { location });
    } else return false;
    return true;
  }

  /** Notes everything that GitHub does not describe, and returns why a body does not fit. */
  #checkRequest({ method, url, text }: LoopbackRequest, operation: Operation | undefined): string | undefined {
    const { problems } = this.traffic;
    if (!operation) {
      if (!UNDESCRIBED.test(`${method} ${url.pathname}`)) problems.push(`no such operation: ${method} ${url.pathname}`);
      return undefined;
    }
    const name = `${method} ${operation.path}`;
    for (const query of url.searchParams.keys())
      if (!operation.query.has(query)) problems.push(`unknown query ${query} of ${name}`);
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    for (const field of Object.keys(body ?? {}))
      if (!operation.fields.has(field)) problems.push(`unknown field ${field} of ${name}`);
    const wrong = method === "GET" ? undefined : operation.checkRequest(body);
    if (wrong !== undefined) problems.push(`request ${method} ${url.pathname}: ${wrong}`);
    return wrong;
  }

  /** The requests that need no token, or that an app signs itself. */
  #answerApp({ method, url, headers, text }: LoopbackRequest, response: ServerResponse, send: Send): boolean {
    const name = `${method} ${url.pathname}`;
    const [, code] = /^POST \/app-manifests\/(\w+)\/conversions$/.exec(name) ?? [];
    if (name.endsWith("/settings/apps/new")) {
      const location = this.apps.agree(new URLSearchParams(text), url.searchParams.get("state") ?? "");
      response.writeHead(302, { location }).end();
    } else if (code !== undefined) this.apps.convert(this.#base, code, send);
    else if (!this.apps.isSigned(headers.authorization)) return false;
    else if (url.pathname.endsWith("/access_tokens")) this.apps.createToken(Number(url.pathname.split("/")[3]), send);
    else if (!this.apps.isInstalled) send(404, notFound());
    else send(200, this.apps.installation(this.#base, url.pathname.split("/").slice(2, 4).join("/")));
    return true;
  }

  #answer(
    { method, path, parameters }: Operation,
    { url, body }: { url: URL; body: Record<string, unknown> },
    send: (status: number, body: unknown, more?: Record<string, string>) => void,
  ): void {
    const comment = this.comments.find(({ id }) => id === Number(parameters["comment_id"]));
    const issue = Number(parameters["issue_number"]);
    const list = (items: unknown[]) => this.#page(url, items, send);
    const said = typeof body["body"] === "string" ? body["body"] : "";
    if (said.length > BODY_CHARS) return send(422, invalid("Body is too long (maximum is 65536 characters)"));
    const name = `${method} ${path.replace("/repos/{owner}/{repo}", "")}`;
    const asked = { name, parameters, query: url.searchParams, body };
    if (this.pulls.answer(asked, send, list) || this.issues.answer(asked, send, list)) return;
    switch (name) {
      case "GET ":
        return send(200, repositoryView(this.#base));
      case "GET /issues/comments":
        return list(
          `${parameters["owner"]}/${parameters["repo"]}` === REPO
            ? this.#listed(url).map((each) => commentView(this.#base, each))
            : [],
        );
      case "GET /issues/{issue_number}/comments":
        return list(
          this.#listed(url)
            .filter((each) => each.issue === issue)
            .map((each) => commentView(this.#base, each)),
        );
      case "POST /issues/{issue_number}/comments":
        return send(201, commentView(this.#base, this.#add(issue, said, this.account)));
      case "GET /issues/comments/{comment_id}":
        return comment ? send(200, commentView(this.#base, comment)) : send(404, notFound());
      case "PATCH /issues/comments/{comment_id}": {
        if (!comment) return send(404, notFound());
        saveEdit(comment, said, this.account);
        return send(200, commentView(this.#base, comment));
      }
      case "DELETE /issues/comments/{comment_id}":
        if (!comment) return send(404, notFound());
        this.comments.splice(this.comments.indexOf(comment), 1);
        return send(204, undefined);
      case "GET /issues/comments/{comment_id}/reactions":
        return comment ? list(comment.reactions.map((each) => reactionView(this.#base, each))) : send(404, notFound());
      case "POST /issues/comments/{comment_id}/reactions":
        return comment ? this.#addReaction(comment, String(body["content"]), send) : send(404, notFound());
      default:
        if (answerRights({ name, parameters }, this, send)) return;
        this.traffic.problems.push(`not answered here: ${method} ${path}`);
        return send(501, { message: "not answered here" });
    }
  }

  /** An account has a reaction once. */
  #addReaction(comment: GithubComment, content: string, send: Send): void {
    const known = comment.reactions.find((each) => each.login === "askd[bot]" && each.content === content);
    if (known) return send(200, reactionView(this.#base, known));
    const reaction = { id: (this.#id += 1), content, login: "askd[bot]" };
    comment.reactions.push(reaction);
    return send(201, reactionView(this.#base, reaction));
  }

  #graphql(text: string, token: string, send: Send): void {
    const problem = this.graphqlProblem;
    if (problem) return send(200, problem.reply, problem.headers);
    const { query, variables } = JSON.parse(text) as { query: string; variables: { id: string } };
    if (query !== EDITOR_QUERY) this.traffic.problems.push(`unknown query: ${query}`);
    const comment = this.comments.find(({ id }) => `IC_${id}` === variables.id);
    if (!comment || !this.apps.reaches(token, REPO)) return send(200, { data: { node: null } });
    const nodes = comment.edits.toReversed().map(({ editedAt, diff, login }) => ({
      editedAt,
      diff,
      editor: login === undefined ? null : { login, kind: login.endsWith("[bot]") ? "Bot" : "User" },
    }));
    const lastEditedAt = comment.edits.at(-1)?.editedAt ?? null;
    send(200, { data: { node: { body: comment.body, lastEditedAt, userContentEdits: { nodes } } } });
  }

  #send(
    { method, url, headers }: LoopbackRequest,
    response: ServerResponse,
    reply: { operation: Operation | undefined; status: number; body: unknown; more: Record<string, string> },
  ): void {
    const { operation, status, body, more } = reply;
    const wrong = operation?.checkResponse(status, body);
    if (wrong !== undefined) this.traffic.problems.push(`reply ${method} ${url.pathname} ${status}: ${wrong}`);
    if (method !== "GET") this.onTaken(`${method} ${url.pathname}`);
    const text = body === undefined ? "" : JSON.stringify(body);
    const etag = `W/"${createHash("sha256").update(text).digest("hex")}"`;
    const isSame = method === "GET" && status === 200 && headers["if-none-match"] === etag;
    if (isSame) this.unchanged += 1;
    response.writeHead(isSame ? 304 : status, {
      "content-type": "application/json; charset=utf-8",
      ...(method === "GET" && { etag }),
      "x-ratelimit-remaining": "4000",
      ...more,
    });
    response.end(isSame ? undefined : text);
  }

  #page(url: URL, items: unknown[], send: (status: number, body: unknown, more?: Record<string, string>) => void) {
    const size = Math.min(100, Number(url.searchParams.get("per_page") ?? 30));
    const page = Number(url.searchParams.get("page") ?? 1);
    const last = Math.max(1, Math.ceil(items.length / size));
    const link = (rel: string, number: number) => {
      const address = new URL(`${url.pathname}${url.search}`, this.#base);
      address.searchParams.set("page", String(number));
      address.pathname = address.pathname.replace(`/repos/${REPO}/`, NUMBERED);
      return `<${address.href}>; rel="${rel}"`;
    };
    const links = [
      ...(page > 1 ? [link("prev", page - 1)] : []),
      ...(page < last ? [link("next", page + 1), link("last", last)] : []),
    ];
    send(200, items.slice((page - 1) * size, page * size), links.length > 0 ? { link: links.join(", ") } : {});
  }

  #listed({ searchParams }: URL): GithubComment[] {
    const since = searchParams.get("since") ?? "";
    const key = searchParams.get("sort") === "updated" ? "updatedAt" : "createdAt";
    const sorted = this.comments
      .filter(({ updatedAt }) => updatedAt >= since)
      .toSorted((one, other) => (one[key] === other[key] ? one.id - other.id : one[key] < other[key] ? -1 : 1));
    return searchParams.get("direction") === "desc" ? sorted.toReversed() : sorted;
  }
}

/** Changes a comment; its history begins with the comment as it was written. */
function saveEdit(comment: GithubComment, body: string, login: string | undefined): void {
  const { edits, createdAt, body: written, login: author } = comment;
  if (edits.length === 0) edits.push({ editedAt: createdAt, diff: written, login: author });
  edits.push({ editedAt: now(), diff: body, login });
  Object.assign(comment, { body, updatedAt: now() });
}

function invalid(message: string) {
  return {
    message: "Validation Failed",
    documentation_url: DOCS,
    errors: [{ resource: "IssueComment", code: "unprocessable", field: "data", message }],
  };
}
