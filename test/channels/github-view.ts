export const REPO = "acme/api";

/** A comment as the service keeps it. */
export interface GithubComment {
  id: number;
  issue: number;
  body: string;
  login: string;
  association: string;
  createdAt: string;
  updatedAt: string;
  edits: Array<{ editedAt: string; diff: string; login: string | undefined }>;
  reactions: Array<{ id: number; content: string; login: string }>;
}

const REPOSITORY_URLS = `archive assignees blobs branches collaborators comments commits compare contents contributors
  deployments downloads events forks git_commits git_refs git_tags hooks issue_comment issue_events issues keys labels
  languages merges milestones notifications pulls releases stargazers statuses subscribers subscription tags teams trees`;
const REPOSITORY_COUNTS = `forks forks_count open_issues open_issues_count size stargazers_count watchers watchers_count
  network_count subscribers_count`;
const REPOSITORY_FLAGS = "fork has_issues has_projects has_wiki has_pages has_discussions archived disabled";

/** GitHub's times have whole seconds. */
export function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}

export function userView(base: string, login: string) {
  const id = Buffer.from(login).reduce((sum, byte) => sum + byte, 0);
  const url = `${base}/users/${encodeURIComponent(login)}`;
  return {
    login,
    id,
    node_id: `U_${id}`,
    avatar_url: `${base}/a/${id}`,
    gravatar_id: "",
    url,
    html_url: `https://github.com/${encodeURIComponent(login)}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: login.endsWith("[bot]") ? "Bot" : "User",
    site_admin: false,
  };
}

export function commentView(base: string, comment: GithubComment) {
  const { id, issue, body, login, association, createdAt, updatedAt, reactions } = comment;
  const count = (content: string) => reactions.filter((each) => each.content === content).length;
  const others = { laugh: 0, hooray: 0, confused: 0, heart: 0, rocket: 0, eyes: 0 };
  const url = `${base}/repos/${REPO}/issues/comments/${id}`;
  return {
    id,
    node_id: `IC_${id}`,
    url,
    html_url: `https://github.com/${REPO}/issues/${issue}#issuecomment-${id}`,
    issue_url: `${base}/repos/${REPO}/issues/${issue}`,
    user: userView(base, login),
    created_at: createdAt,
    updated_at: updatedAt,
    author_association: association,
    body,
    performed_via_github_app: null,
    reactions: {
      ...others,
      url: `${url}/reactions`,
      total_count: reactions.length,
      "+1": count("+1"),
      "-1": count("-1"),
    },
  };
}

export function reactionView(base: string, { id, content, login }: GithubComment["reactions"][number]) {
  return { id, node_id: `RE_${id}`, user: userView(base, login), content, created_at: now() };
}

export function labelView(base: string, name: string, index: number) {
  const url = `${base}/repos/${REPO}/labels/${encodeURIComponent(name)}`;
  return { id: index + 1, node_id: `LA_${index}`, url, name, description: null, color: "ededed", default: false };
}

export function issueView(
  base: string,
  number: number,
  has: { labels: string[]; assignees: string[]; isClosed: boolean; closedAt: string | undefined },
) {
  const url = `${base}/repos/${REPO}/issues/${number}`;
  const assignees = has.assignees.map((login) => userView(base, login));
  return {
    id: number,
    node_id: `I_${number}`,
    url,
    repository_url: `${base}/repos/${REPO}`,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: `https://github.com/${REPO}/issues/${number}`,
    number,
    state: has.isClosed ? "closed" : "open",
    ...(has.isClosed && { state_reason: "completed" }),
    title: "An issue",
    body: "It is broken",
    user: userView(base, "lena"),
    labels: has.labels.map((name, index) => labelView(base, name, index)),
    assignee: assignees[0] ?? null,
    assignees,
    milestone: null,
    locked: false,
    comments: 0,
    closed_at: has.isClosed ? (has.closedAt ?? now()) : null,
    created_at: now(),
    updated_at: now(),
    author_association: "OWNER",
  };
}

export function repositoryView(base: string) {
  const url = `${base}/repos/${REPO}`;
  const all = (names: string, make: (name: string) => [string, unknown]) =>
    Object.fromEntries(names.split(/\s+/).map(make));
  return {
    ...all(REPOSITORY_URLS, (name) => [`${name}_url`, `${url}/${name}`]),
    ...all(REPOSITORY_COUNTS, (name) => [name, 0]),
    ...all(REPOSITORY_FLAGS, (name) => [name, false]),
    id: 1,
    node_id: "R_1",
    name: "api",
    full_name: REPO,
    private: true,
    owner: userView(base, "acme"),
    url,
    html_url: `https://github.com/${REPO}`,
    clone_url: `https://github.com/${REPO}.git`,
    git_url: `git:github.com/${REPO}.git`,
    ssh_url: `git@github.com:${REPO}.git`,
    svn_url: `https://svn.github.com/${REPO}`,
    mirror_url: null,
    default_branch: "main",
    description: null,
    homepage: null,
    language: null,
    license: null,
    pushed_at: now(),
    created_at: now(),
    updated_at: now(),
    permissions: { admin: false, pull: true, push: true },
  };
}

/** Says whether a comment is a question of ours. */
export function isQuestion({ body }: Pick<GithubComment, "body">): boolean {
  return /<!-- askd v1 q=\S+ -->/.test(body);
}

/** The text of a comment as a reader sees it, as far as tests look at it. */
export function plainText(body: string): string {
  return body
    .replace(/<!--[\s\S]*?-->/g, "")
    .replaceAll("**", "")
    .replaceAll("\\", "")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
}
