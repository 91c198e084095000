import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { DOCS, type GithubAsked, type Send, invalid, notFound } from "./github-reply.ts";
import { REPO, labelView, now, repositoryView, userView } from "./github-view.ts";

const BOT = "askd[bot]";

/** A pull request as the service keeps it. */
export interface GithubPull {
  number: number;
  title: string;
  body: string | null;
  head: string;
  base: string;
  isDraft: boolean;
  state: "open" | "closed";
  login: string;
  createdAt: string;
  labels: string[];
}

/** Pull requests, refs and git objects of the repository, with the refusals that GitHub has for them. */
export class GithubPulls {
  readonly pulls: GithubPull[] = [];
  /** Refs by their whole name, and the commits they point at; `main` is there from the beginning. */
  readonly refs = new Map<string, string>();
  readonly branches = new Map([["refs/heads/main", "0123456789abcdef0123456789abcdef01234567"]]);
  readonly blobs = new Map<string, string>();
  readonly commits = new Map<string, { message: string; tree: string }>();
  /** A repository on this machine: its branches of askd are there when a pull request is opened. */
  remote: string | undefined;
  readonly #base: () => string;
  readonly #nextId: () => number;

  constructor(base: () => string, nextId: () => number) {
    this.#base = base;
    this.#nextId = nextId;
  }

  /** Makes a branch, as a push does. */
  push(branch: string, text = branch): string {
    const sha = createHash("sha1").update(text).digest("hex");
    this.branches.set(`refs/heads/${branch}`, sha);
    return sha;
  }

  /** Replies to a request of this part; false if it belongs to another. */
  answer(asked: GithubAsked, send: Send, list: (items: unknown[]) => void): boolean {
    const handler = this.#handlers[asked.name];
    if (!handler) return false;
    handler(asked, send, list);
    return true;
  }

  readonly #handlers: Record<string, (asked: GithubAsked, send: Send, list: (items: unknown[]) => void) => void> = {
    "GET /pulls": ({ query }, _send, list) => list(this.#listed(query).map((pull) => this.#simpleView(pull))),
    "POST /pulls": ({ body }, send) => this.#open(body, send),
    "GET /pulls/{pull_number}": ({ parameters }, send) => {
      const pull = this.#find(parameters);
      return pull ? send(200, this.#view(pull)) : send(404, notFound());
    },
    "PATCH /pulls/{pull_number}": ({ parameters, body }, send) => {
      const pull = this.#find(parameters);
      if (!pull) return send(404, notFound());
      const { title = pull.title, body: text = pull.body, state = pull.state, base = pull.base } = body;
      Object.assign(pull, { title, body: text, state, base });
      return send(200, this.#view(pull));
    },
    "GET /git/ref/{ref}": ({ parameters }, send) => {
      const ref = `refs/${parameters["ref"]}`;
      const sha = this.#shaOf(ref);
      return sha === undefined ? send(404, notFound()) : send(200, this.#refView(ref, sha));
    },
    "GET /git/matching-refs/{ref}": ({ parameters }, _send, list) => {
      const all = [...this.branches, ...this.refs].filter(([ref]) => ref.startsWith(`refs/${parameters["ref"]}`));
      list(all.map(([ref, sha]) => this.#refView(ref, sha)));
    },
    "POST /git/refs": ({ body }, send) => {
      const [ref, sha] = [String(body["ref"]), String(body["sha"])];
      if (!/^refs\/[^/]+\/.+/.test(ref)) return send(422, invalid("Reference name is not valid"));
      if (!/^[0-9a-f]{40}$/.test(sha)) return send(422, invalid("The sha parameter must be exactly 40 characters"));
      if (this.#shaOf(ref) !== undefined) return send(422, invalid("Reference already exists"));
      this.#map(ref).set(ref, sha);
      return send(201, this.#refView(ref, sha));
    },
    "PATCH /git/refs/{ref}": ({ parameters, body }, send) => {
      const ref = `refs/${parameters["ref"]}`;
      if (this.#shaOf(ref) === undefined) return send(422, invalid("Reference does not exist"));
      this.#map(ref).set(ref, String(body["sha"]));
      return send(200, this.#refView(ref, String(body["sha"])));
    },
    "DELETE /git/refs/{ref}": ({ parameters }, send) => {
      const ref = `refs/${parameters["ref"]}`;
      return this.#map(ref).delete(ref) ? send(204, undefined) : send(422, invalid("Reference does not exist"));
    },
    "POST /git/blobs": ({ body }, send) => {
      const isBase64 = body["encoding"] === "base64";
      const content = Buffer.from(String(body["content"]), isBase64 ? "base64" : "utf8");
      const sha = createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
      this.blobs.set(sha, content.toString("base64"));
      return send(201, { sha, url: this.#url(`git/blobs/${sha}`) });
    },
    "GET /git/blobs/{file_sha}": ({ parameters }, send) => {
      const sha = parameters["file_sha"] ?? "";
      const content = this.blobs.get(sha);
      if (content === undefined) return send(404, notFound());
      const size = Buffer.from(content, "base64").length;
      const url = this.#url(`git/blobs/${sha}`);
      return send(200, { sha, node_id: "B_1", size, url, content: inLines(content), encoding: "base64" });
    },
    "POST /git/trees": ({ body }, send) => {
      const tree = body["tree"] as Array<Record<"path" | "mode" | "type" | "sha", string>>;
      if (tree.some(({ sha }) => !this.blobs.has(sha))) return send(422, invalid("tree.sha is not a valid blob"));
      const sha = createHash("sha1").update(JSON.stringify(tree)).digest("hex");
      return send(201, { sha, url: this.#url(`git/trees/${sha}`), tree, truncated: false });
    },
    "POST /git/commits": ({ body }, send) => {
      const [message, tree] = [String(body["message"]), String(body["tree"])];
      const sha = createHash("sha1")
        .update(`${JSON.stringify(body)} ${this.#nextId()}`)
        .digest("hex");
      this.commits.set(sha, { message, tree });
      send(201, this.#commitView(sha, { message, tree }));
    },
    "GET /git/commits/{commit_sha}": ({ parameters }, send) => {
      const sha = parameters["commit_sha"] ?? "";
      const isPushed = [...this.branches.values()].includes(sha);
      const commit = this.commits.get(sha) ?? (isPushed ? { message: "pushed", tree: sha } : undefined);
      if (commit === undefined) send(404, notFound());
      else send(200, this.#commitView(sha, commit));
    },
  };

  /** GitHub refuses a branch that is not there, one without changes, and a second pull request of the same branch. */
  #open(body: Record<string, unknown>, send: Send): void {
    this.#readRemote();
    const { title, head: wanted, base, body: text = null, draft = false } = body;
    const head = String(wanted).split(":").at(-1) ?? "";
    const [from, onto] = [head, String(base)].map((name) => this.branches.get(`refs/heads/${name}`));
    const refuse = (why: object) =>
      send(422, { message: "Validation Failed", documentation_url: DOCS, status: "422", errors: [why] });
    const field = (name: string) => ({ resource: "PullRequest", field: name, code: "invalid" });
    if (from === undefined) return refuse(field("head"));
    if (onto === undefined) return refuse(field("base"));
    const custom = (message: string) => ({ resource: "PullRequest", code: "custom", message });
    if (from === onto) return refuse(custom(`No commits between ${String(base)} and ${head}`));
    const isThere = this.pulls.some((pull) => pull.state === "open" && pull.head === head && pull.base === base);
    if (isThere) return refuse(custom(`A pull request already exists for ${REPO.split("/")[0]}:${head}.`));
    const pull: GithubPull = {
      number: this.#nextId(),
      title: typeof title === "string" ? title : head,
      body: typeof text === "string" ? text : null,
      head,
      base: String(base),
      isDraft: draft === true,
      state: "open",
      login: BOT,
      createdAt: now(),
      labels: [],
    };
    this.pulls.push(pull);
    send(201, this.#view(pull));
  }

  #readRemote(): void {
    if (this.remote === undefined) return;
    const args = ["--git-dir", this.remote, "for-each-ref", "--format=%(refname:short)", "refs/heads/askd"];
    const names = execFileSync("git", args, { encoding: "utf8" }).split("\n");
    for (const branch of names.filter((name) => name !== "")) this.push(branch);
  }

  #find(parameters: Record<string, string>): GithubPull | undefined {
    return this.pulls.find(({ number }) => number === Number(parameters["pull_number"]));
  }

  #listed(query: URLSearchParams): GithubPull[] {
    const state = query.get("state") ?? "open";
    const head = query.get("head")?.split(":").at(-1);
    const base = query.get("base");
    return this.pulls.filter(
      (pull) =>
        (state === "all" || pull.state === state) &&
        (head === undefined || pull.head === head) &&
        (base === null || pull.base === base),
    );
  }

  #map(ref: string) {
    return ref.startsWith("refs/heads/") ? this.branches : this.refs;
  }

  #shaOf(ref: string) {
    return this.#map(ref).get(ref);
  }

  #commitView(sha: string, { message, tree }: { message: string; tree: string }) {
    const author = { name: BOT, email: "askd@example.com", date: now() };
    return {
      sha,
      node_id: "C_1",
      url: this.#url(`git/commits/${sha}`),
      html_url: `https://github.com/${REPO}/commit/${sha}`,
      author,
      committer: author,
      message,
      tree: { sha: tree, url: this.#url(`git/trees/${tree}`) },
      parents: [],
      verification: { verified: false, reason: "unsigned", signature: null, payload: null, verified_at: null },
    };
  }

  #url(path: string) {
    return `${this.#base()}/repos/${REPO}/${path}`;
  }

  #refView(ref: string, sha: string) {
    const object = { type: "commit", sha, url: this.#url(`git/commits/${sha}`) };
    return { ref, node_id: "REF_1", url: this.#url(`git/${ref}`), object };
  }

  #view(pull: GithubPull) {
    const counts = { additions: 1, changed_files: 1, comments: 0, commits: 1, deletions: 0, review_comments: 0 };
    const merge = { mergeable: true, mergeable_state: "clean", merged: false, merged_by: null };
    return { ...this.#simpleView(pull), ...counts, ...merge, maintainer_can_modify: false };
  }

  #simpleView({ number, title, body, head, base, isDraft, state, login, createdAt, labels }: GithubPull) {
    const url = this.#url(`pulls/${number}`);
    const html = `https://github.com/${REPO}/pull/${number}`;
    const issue = this.#url(`issues/${number}`);
    const urls = {
      comments: `${issue}/comments`,
      commits: `${url}/commits`,
      statuses: this.#url(`statuses/${this.branches.get(`refs/heads/${head}`)}`),
      review_comments: `${url}/comments`,
      review_comment: `${this.#url("pulls/comments")}{/number}`,
    };
    const link = (href: string) => ({ href });
    return {
      ...Object.fromEntries(Object.entries(urls).map(([name, href]) => [`${name}_url`, href])),
      _links: {
        ...Object.fromEntries(Object.entries(urls).map(([name, href]) => [name, link(href)])),
        self: link(url),
        html: link(html),
        issue: link(issue),
      },
      url,
      id: number,
      node_id: `PR_${number}`,
      html_url: html,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      issue_url: issue,
      number,
      state,
      locked: false,
      title,
      body,
      user: userView(this.#base(), login),
      labels: labels.map((name, index) => labelView(this.#base(), name, index)),
      milestone: null,
      created_at: createdAt,
      updated_at: createdAt,
      closed_at: null,
      merged_at: null,
      merge_commit_sha: null,
      assignee: null,
      assignees: [],
      requested_reviewers: [],
      requested_teams: [],
      author_association: "NONE",
      auto_merge: null,
      draft: isDraft,
      head: this.#side(head),
      base: this.#side(base),
    };
  }

  #side(branch: string) {
    const [owner = ""] = REPO.split("/");
    const repo = { ...repositoryView(this.#base()), has_downloads: true };
    const sha = this.branches.get(`refs/heads/${branch}`);
    return { label: `${owner}:${branch}`, ref: branch, sha, user: userView(this.#base(), owner), repo };
  }
}

/** GitHub breaks base64 into lines. */
function inLines(text: string) {
  return text.replace(/.{60}/g, "$&\n");
}
