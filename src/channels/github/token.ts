import { createSign } from "node:crypto";
import { z } from "zod";
import type { GithubSettings } from "../../core/channel/channel-settings.ts";
import { type Outbound, callService } from "../outbound.ts";
import type { TokenSource } from "./api.ts";

/** GitHub takes tokens of an app for ten minutes at most, and its clock may differ. */
const JWT_S = 9 * 60;
const SKEW_S = 60;
/** A token of an installation lives for an hour; it is renewed before that. */
const EARLY_MS = 5 * 60_000;

const Installation = z.object({ id: z.int() });
const AccessToken = z.object({ token: z.string(), expires_at: z.string() });

/** Reads the token of the settings, or gets one for the installation of the app in a repository. */
export function tokenSource(settings: GithubSettings, outbound: Pick<Outbound, "fetch" | "nowMs">): TokenSource {
  const { app, repos } = settings;
  if (!app) return { read: () => Promise.resolve(settings.readToken()), drop: () => false };
  const known = new Map<string, { token: string; untilMs: number }>();
  return {
    read: async (repo = repos[0] ?? "") => {
      const cached = known.get(repo);
      if (cached && cached.untilMs > outbound.nowMs()) return cached.token;
      const { token, expires_at: end } = await createToken(settings, outbound, repo, appToken(app, outbound.nowMs()));
      known.set(repo, { token, untilMs: Date.parse(end) - EARLY_MS });
      return token;
    },
    drop: (refused) => {
      for (const [repo, { token }] of known) if (token === refused) known.delete(repo);
      return true;
    },
  };
}

async function createToken(
  { url }: GithubSettings,
  outbound: Pick<Outbound, "fetch" | "nowMs">,
  repo: string,
  jwt: string,
) {
  const headers = {
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    authorization: `Bearer ${jwt}`,
  };
  const found = await callService(outbound, `${url}/repos/${repo}/installation`, { headers });
  if (found.status === 404) throw new Error(`the app is not installed in ${repo}`);
  if (found.status !== 200) throw new Error(`GitHub refuses the app's token: status ${found.status}`);
  const { id } = Installation.parse(found.body);
  const created = await callService(outbound, `${url}/app/installations/${id}/access_tokens`, { headers, json: {} });
  if (created.status !== 201) throw new Error(`GitHub gives the app no token: status ${created.status}`);
  return AccessToken.parse(created.body);
}

/** The proof that a request comes from the app: signed with its key, for a few minutes. */
export function appToken({ id, readKey }: NonNullable<GithubSettings["app"]>, nowMs: number): string {
  const nowS = Math.floor(nowMs / 1000);
  const claims = { iat: nowS - SKEW_S, exp: nowS + JWT_S, iss: String(id) };
  const signed = [{ alg: "RS256", typ: "JWT" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${signed}.${createSign("RSA-SHA256").update(signed).sign(readKey(), "base64url")}`;
}
