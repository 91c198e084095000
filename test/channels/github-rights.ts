import { type GithubAsked, type Send, notFound } from "./github-reply.ts";
import { userView } from "./github-view.ts";

export type Role = "admin" | "write" | "read" | "none";

/** Who may do what in the repository, and who belongs to which team. */
interface GithubRights {
  base: string;
  roles: Readonly<Record<string, Role>>;
  teams: Readonly<Record<string, readonly string[]>>;
  hidesRights: boolean;
}

/** Replies to a request about rights; false if it belongs to another part. */
export function answerRights(
  { name, parameters }: Pick<GithubAsked, "name" | "parameters">,
  { base, roles, teams, hidesRights }: GithubRights,
  send: Send,
): boolean {
  if (name === "GET /collaborators/{username}/permission") {
    if (hidesRights) send(503, { message: "Service unavailable" });
    else send(200, permissionView(base, decodeURIComponent(parameters["username"] ?? ""), roles));
    return true;
  }
  if (name !== "GET /orgs/{org}/teams/{team_slug}/memberships/{username}") return false;
  const { org, team_slug: slug, username = "" } = parameters;
  const isMember = teams[`${org}/${slug}`]?.includes(username);
  if (isMember) send(200, { url: `${base}/m`, role: "member", state: "active" });
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
