import { z } from "zod";
import { ServiceFailure } from "../../core/channel/service-failure.ts";
import { type GithubCall, judgeReply } from "./api.ts";

const CACHED_MS = 5 * 60_000;
const MOST_CACHED = 1_000;

const Permission = z.object({ permission: z.string() });
const Membership = z.object({ state: z.string() });

/** Says whether an account may answer in a repository: it can write there, or is in one of the teams. */
export type MayWrite = (repo: string, login: string) => Promise<boolean>;

/**
 * Asks GitHub for the rights of an account, and remembers them for five minutes. What GitHub calls the association of an
 * author proves nothing: members of an organisation need not have any rights in the repository.
 */
export function permissionReader(call: GithubCall, teams: readonly string[], nowMs: () => number): MayWrite {
  const known = new Map<string, { may: boolean; untilMs: number }>();
  return async (repo, login) => {
    const key = `${repo}/${login.toLowerCase()}`;
    const cached = known.get(key);
    if (cached && cached.untilMs > nowMs()) return cached.may;
    const ask = asking(call);
    const may = (await canWrite(ask, repo, login)) || (await isInTeam(ask, teams, { repo, login }));
    if (known.size >= MOST_CACHED) known.clear();
    known.set(key, { may, untilMs: nowMs() + CACHED_MS });
    return may;
  };
}

/** Asks GitHub; the network's errors are failures of the service. */
function asking(call: GithubCall): GithubCall {
  return async (path, request) => {
    try {
      return await call(path, request);
    } catch (error) {
      throw new ServiceFailure("the rights of an account cannot be read: not reachable", { cause: error });
    }
  };
}

/** GitHub says `write` for the role maintain too, and `read` for triage. */
async function canWrite(call: GithubCall, repo: string, login: string) {
  const reply = await call(`/repos/${repo}/collaborators/${encodeURIComponent(login)}/permission`);
  if (reply.status === 404) return false;
  if (reply.status !== 200) throw new ServiceFailure(`the rights of an account cannot be read: status ${reply.status}`);
  const { permission } = Permission.parse(reply.body);
  return permission === "write" || permission === "admin";
}

async function isInTeam(call: GithubCall, teams: readonly string[], { repo, login }: { repo: string; login: string }) {
  for (const team of teams) {
    const reply = await call(`${teamPath(team)}/memberships/${encodeURIComponent(login)}`, { repo });
    if (reply.status === 200 && Membership.parse(reply.body).state === "active") return true;
    // Without the right to read the team nobody is a member as far as can be told; a limit or a fault will pass.
    const isPassing = reply.waitMs !== undefined || reply.status === 401 || reply.status >= 500;
    if (isPassing) throw new ServiceFailure(`the team ${team} cannot be read: status ${reply.status}`);
  }
  return false;
}

/** The address of a team that the settings name as organisation/team. */
function teamPath(team: string): string {
  const [org = "", slug = ""] = team.split("/").map(encodeURIComponent);
  return `/orgs/${org}/teams/${slug}`;
}

/** Checks that the members of the teams can be read; throws if not. */
export async function verifyTeams(call: GithubCall, teams: readonly string[]): Promise<void> {
  for (const team of teams) {
    const reply = await call(`${teamPath(team)}/members?per_page=1`);
    if (reply.status === 200) continue;
    const isHidden = reply.waitMs === undefined && (reply.status === 403 || reply.status === 404);
    if (!isHidden) throw new Error(judgeReply(reply).why);
    throw new Error(`the team ${team} cannot be read: there is none, or the token lacks Members (read)`);
  }
}
