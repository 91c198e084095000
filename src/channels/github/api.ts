import { z } from "zod";
import type { ChannelResult } from "../../core/channel/channel.ts";
import type { GithubSettings } from "../../core/channel/channel-settings.ts";
import { WritePace } from "./write-pace.ts";
import { type Outbound, ReplyTooLong, callService, networkFailure } from "../outbound.ts";

/** A page of 20 comments, each as long as GitHub allows: 65,536 characters of up to four bytes. */
const PAGE_BYTES = 8 * 1024 * 1024;
/** A page that is too long is asked for in so many parts. */
const PAGE_PARTS = 5;
/** All pages of an issue's comments: GitHub takes 2,500 in an issue, and a part of a page has 20. */
export const COMMENT_PAGES = 125;
/** How long to wait after a limit that names no time. */
export const LIMIT_MS = 60_000;
const VERSION = "2022-11-28";

const Problem = z.object({ message: z.string() });

/** A reply of GitHub, of any status. */
export interface GithubReply {
  status: number;
  body: unknown;
  etag: string | undefined;
  /** The address of the next page. */
  next: string | undefined;
  /** The addresses of the page before and of the last one. */
  previous?: string | undefined;
  last?: string | undefined;
  /** How long GitHub wants to be left alone. */
  waitMs: number | undefined;
  /** How long it wants not to be asked again for the same, also after a request that it granted. */
  pauseMs?: number | undefined;
}

export interface GithubRequest {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  json?: unknown;
  etag?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The repository that it is about, where the path does not say so. */
  repo?: string | undefined;
}

/** Sends a request to the REST API; a path, or an address that GitHub itself named. */
export type GithubCall = (path: string, request?: GithubRequest) => Promise<GithubReply>;

export interface TokenSource {
  /** The token for requests to a repository. */
  read(repo: string | undefined): Promise<string>;
  /** Forgets a token that GitHub refused; false if reading gives it again. */
  drop(token: string): boolean;
}

export function githubCaller(
  settings: GithubSettings,
  outbound: Pick<Outbound, "fetch" | "nowMs">,
  tokens: TokenSource,
): GithubCall {
  const { url, repos } = settings;
  const pace = new WritePace(settings.writeMs, () => outbound.nowMs());
  const sendWith = (token: string, address: string, { method, json, etag, signal }: GithubRequest) =>
    callService(outbound, address, {
      ...(method && { method }),
      json,
      ...(signal && { signal }),
      mostBytes: PAGE_BYTES,
      redirect: "manual",
      headers: {
        accept: "application/vnd.github+json",
        "x-github-api-version": VERSION,
        authorization: `Bearer ${token}`,
        ...(etag !== undefined && { "if-none-match": etag }),
      },
    });
  const send = async (address: string, request: GithubRequest): Promise<GithubReply> => {
    const repo = repoOf(address.slice(url.length), repos) ?? request.repo;
    const token = await tokens.read(repo);
    let reply = await sendWith(token, address, request);
    // A token may end before its time; what it was refused for was not done.
    if (reply.status === 401 && tokens.drop(token)) reply = await sendWith(await tokens.read(repo), address, request);
    const { status, body, headers } = reply;
    return {
      status,
      body,
      etag: headers.get("etag") ?? undefined,
      next: findPage(headers, "next", { url, repo }),
      previous: findPage(headers, "prev", { url, repo }),
      last: findPage(headers, "last", { url, repo }),
      waitMs: findWait(reply, outbound.nowMs()),
      pauseMs: findPause(headers, outbound.nowMs()),
    };
  };
  return async (path, request = {}) => {
    const { method, json, signal } = request;
    const isWrite = path !== "/graphql" && (json !== undefined || (method ?? "GET") !== "GET");
    const refusedMs = isWrite ? await pace.waitForTurn(signal) : undefined;
    if (refusedMs !== undefined) return pacedReply(refusedMs);
    const address = path === "/graphql" ? graphqlAddress(url) : path.startsWith(`${url}/`) ? path : `${url}${path}`;
    try {
      return await send(address, request);
    } catch (error) {
      const part = error instanceof ReplyTooLong ? firstPart(address) : undefined;
      if (part === undefined) throw error;
      return await send(part, request);
    }
  };
}

/** The address of the first part of a page; undefined if it is no page, or as small as it gets. */
function firstPart(address: string) {
  const part = new URL(address);
  const size = Number(part.searchParams.get("per_page") ?? 0) / PAGE_PARTS;
  if (!Number.isInteger(size) || size < PAGE_PARTS) return undefined;
  const page = Number(part.searchParams.get("page") ?? 1);
  part.searchParams.set("per_page", String(size));
  if (page > 1) part.searchParams.set("page", String((page - 1) * PAGE_PARTS + 1));
  return part.href;
}

function pacedReply(waitMs: number): GithubReply {
  const body = { message: "too many changes at once" };
  return { status: 429, body, etag: undefined, next: undefined, waitMs };
}

/** On a server of one's own the address of GraphQL is beside that of the REST API. */
function graphqlAddress(url: string) {
  return url.endsWith("/api/v3") ? `${url.slice(0, -3)}/graphql` : `${url}/graphql`;
}

/** The repository of a path; for an organisation one of its repositories, because an app is installed in both at once. */
function repoOf(path: string, repos: readonly string[]) {
  const [, kind, owner = "", name] = /^\/(repos|orgs)\/([^/]+)\/([^/?]+)/.exec(path) ?? [];
  if (kind === "repos") return `${owner}/${name}`;
  return kind && repos.find((repo) => repo.toLowerCase().startsWith(`${decodeURIComponent(owner).toLowerCase()}/`));
}

/**
 * Only pages of the same service are followed: the token goes with the request. GitHub writes the repository as a number,
 * which would not say whose token it is.
 */
function findPage(headers: Headers, rel: string, { url, repo }: { url: string; repo: string | undefined }) {
  const page = new RegExp(`<([^<>]+)>;\\s*rel="${rel}"`).exec(headers.get("link") ?? "")?.[1];
  if (!page?.startsWith(`${url}/`)) return undefined;
  const path = page.slice(url.length);
  return `${url}${repo === undefined ? path : path.replace(/^\/repositories\/\d+\//, `/repos/${repo}/`)}`;
}

/** How long to wait by what GitHub says: its own time first, then the end of the hour's limit, then a minute. */
function findWait({ status, body, headers, retryAfterMs }: Awaited<ReturnType<typeof callService>>, nowMs: number) {
  if (status !== 403 && status !== 429) return undefined;
  if (retryAfterMs !== undefined) return retryAfterMs;
  const resetMs = findReset(headers, nowMs);
  if (resetMs !== undefined) return resetMs;
  return status === 429 || /rate limit|abuse/i.test(sayProblem(body)) ? LIMIT_MS : undefined;
}

/** The time until the hourly limit begins anew, if nothing is left of it. */
function findReset(headers: Headers, nowMs: number) {
  const resetS = Number(headers.get("x-ratelimit-reset") ?? Number.NaN);
  if (headers.get("x-ratelimit-remaining") !== "0" || !Number.isFinite(resetS)) return undefined;
  return Math.max(1_000, resetS * 1000 - nowMs);
}

function findPause(headers: Headers, nowMs: number) {
  const intervalMs = Number(headers.get("x-poll-interval") ?? Number.NaN) * 1000;
  const pauses = [findReset(headers, nowMs) ?? 0, Number.isFinite(intervalMs) ? intervalMs : 0];
  return Math.max(...pauses) || undefined;
}

export function isDone({ status }: Pick<GithubReply, "status">): boolean {
  return status >= 200 && status < 300;
}

/** The words of GitHub about a refused request. */
export function sayProblem(body: unknown): string {
  const parsed = Problem.safeParse(body);
  return parsed.success ? parsed.data.message.slice(0, 200) : "";
}

/** Does something in an issue; `read` gets the reply if it succeeded. */
export async function attempt(
  request: () => Promise<GithubReply>,
  read: (body: unknown) => ChannelResult = () => ({ ok: true }),
): Promise<ChannelResult> {
  try {
    const reply = await request();
    return isDone(reply) ? read(reply.body) : judgeReply(reply);
  } catch (error) {
    return networkFailure(error);
  }
}

/** A repository that was renamed or moved redirects, and nothing is sent to an address that the settings do not name. */
export const MOVED = "the repository was renamed or moved: the settings have to name it as it is called now";

export function isMoved({ status }: Pick<GithubReply, "status">): boolean {
  return status === 301 || status === 302 || status === 307 || status === 308;
}

/** Decides what a refusal means: gone, refused for good, or worth another try. */
export function judgeReply({ status, body, waitMs }: GithubReply): Extract<ChannelResult, { ok: false }> {
  if (isMoved({ status })) return { ok: false, why: MOVED };
  const said = sayProblem(body);
  const why = said === "" ? `status ${status}` : `${said} (status ${status})`;
  if (status === 401) return { ok: false, why: "GitHub refuses the token", isRefused: true };
  if (waitMs !== undefined) return { ok: false, why, retryAfterMs: waitMs };
  if (status === 403) return { ok: false, why: `the token may not do this: ${why}`, isRefused: true };
  if (status === 404 || status === 410) return { ok: false, why, isGone: true };
  return { ok: false, why, isFinal: status === 422 || status === 400 };
}
