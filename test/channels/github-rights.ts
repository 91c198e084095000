import { type GithubAsked, type Send, notFound } from "./github-reply.ts";
import { userView } from "./github-view.ts";

export type Role = "admin" | "write" | "read" | "none";

/** Who may do what in the repository, and who belongs to which team. */
interface GithubRights {
  base: string;
  roles: Readonly<Record<string, Role>>;
  teams: Readonly<Record<string, readonly string[]>>;
  hidesRights: boolean;
  hidesTeams: boolean;
  account: string;
}

/** Replies to a request about rights; false if it belongs to another part. */
export function answerRights(
  { name, parameters }: Pick<GithubAsked, "name" | "parameters">,
  { base, roles, teams, hidesRights, hidesTeams, account }: GithubRights,
  send: Send,
): boolean {
  if (name === "GET /collaborators/{username}/permission") {
    if (hidesRights) send(503, { message: "Service unavailable" });
    else send(200, permissionView(base, decodeURIComponent(parameters["username"] ?? ""), roles));
    return true;
  }
  if (name === "GET /user") {
    // The tokens of programs are refused.
    if (account.endsWith("[bot]")) send(403, { message: "Resource not accessible by integration", status: "403" });
    else send(200, accountView(base, account));
    return true;
  }
  const { org, team_slug: slug, username = "" } = parameters;
  const members = teams[`${org}/${slug}`];
  if (name === "GET /orgs/{org}/teams/{team_slug}/members") {
    // GitHub does not say whether a team is there to those who may not see it.
    if (hidesTeams || !members) send(404, notFound());
    else
      send(
        200,
        members.map((login) => userView(base, login)),
      );
    return true;
  }
  if (name !== "GET /orgs/{org}/teams/{team_slug}/memberships/{username}") return false;
  if (!hidesTeams && members?.includes(username)) send(200, { url: `${base}/m`, role: "member", state: "active" });
  else send(404, notFound());
  return true;
}

function permissionView(base: string, login: string, roles: GithubRights["roles"]) {
  const role = roles[login.toLowerCase()] ?? "none";
  const permissions = {
    pull: role !== "none",
    triage: false,
    push: role === "write" || role === "admin",
    maintain: false,
    admin: role === "admin",
  };
  const user = { ...userView(base, login), role_name: role, permissions };
  return { permission: role, role_name: role, user };
}

function accountView(base: string, login: string) {
  const unknown = Object.fromEntries(
    ["bio", "blog", "company", "email", "hireable", "location", "name"].map((name) => [name, null]),
  );
  const counts = Object.fromEntries(
    ["followers", "following", "public_gists", "public_repos"].map((name) => [name, 0]),
  );
  const times = { created_at: "2020-01-01T00:00:00Z", updated_at: "2020-01-01T00:00:00Z" };
  return { ...userView(base, login), ...unknown, blog: "", ...counts, ...times, user_view_type: "public" };
}
