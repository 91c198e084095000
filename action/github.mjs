// GitHub's REST API with the token of the job. No packages.
import { setTimeout as pause } from "node:timers/promises";

const MOST_TRIES = 4;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const LIMIT_MS = 20_000;
/** The hourly limit of a job's token is 1,000 requests for a repository. */
const MOST_PAGES = 500;

export class GitHub {
  #url;
  #graphqlUrl;
  #token;

  constructor({
    GITHUB_API_URL: url = "https://api.github.com",
    GITHUB_GRAPHQL_URL: graphqlUrl,
    GITHUB_TOKEN: token = "",
  }) {
    if (token === "") throw new Error("Set GITHUB_TOKEN: ${{ github.token }} in env: of this step");
    this.#url = url.replace(/\/+$/, "");
    this.#graphqlUrl = graphqlUrl || `${this.#url}/graphql`;
    this.#token = token;
  }

  /** The reply to a request; a status that was not expected is an error. */
  async send(method, path, { body, expected = [200] } = {}) {
    for (let tries = 1; ; tries += 1) {
      const { status, said, waitMs, next } = await this.#try(method, path, body);
      if (expected.includes(status) && waitMs === undefined) return { status, body: said, next };
      const isPassing = status === 0 || status >= 500 || waitMs !== undefined;
      if (!isPassing || tries === MOST_TRIES)
        throw Object.assign(new Error(`GitHub says ${status} to ${method} ${path}: ${said?.message ?? ""}`), {
          status,
        });
      await pause(Math.min(waitMs ?? FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS));
    }
  }

  /** The items of a list, page by page. */
  async *each(path) {
    for (let next = path, page = 0; next; page += 1) {
      if (page === MOST_PAGES) throw new Error(`GitHub has more than ${MOST_PAGES} pages of ${path}`);
      const reply = await this.send("GET", next);
      yield* reply.body;
      ({ next } = reply);
    }
  }

  /** The data of a GraphQL query; empty if GitHub has none. */
  async query(query, variables) {
    const { body } = await this.send("POST", "/graphql", { body: { query, variables } });
    return body?.data ?? {};
  }

  async #try(method, path, body) {
    try {
      const address = path === "/graphql" ? this.#graphqlUrl : `${this.#url}${path}`;
      const response = await fetch(address, {
        method,
        headers: {
          accept: "application/vnd.github+json",
          "x-github-api-version": "2022-11-28",
          "user-agent": "askd-action",
          authorization: `Bearer ${this.#token}`,
          ...(body && { "content-type": "application/json" }),
        },
        redirect: "manual", // the token is for this address only
        signal: AbortSignal.timeout(LIMIT_MS),
        ...(body && { body: JSON.stringify(body) }),
      });
      const said = await response.json().catch(() => undefined);
      const link = /<([^<>]+)>;\s*rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
      const next = link?.startsWith(`${this.#url}/`) ? link.slice(this.#url.length) : undefined;
      return { status: response.status, said, waitMs: waitOf(response), next };
    } catch {
      return { status: 0 };
    }
  }
}

/** How long GitHub wants to be left alone: its own time, or a minute after a limit. */
function waitOf({ status, headers }) {
  if (status !== 403 && status !== 429) return undefined;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  if (Number.isFinite(seconds)) return seconds * 1000;
  return headers.get("x-ratelimit-remaining") === "0" || status === 429 ? LONGEST_PAUSE_MS : undefined;
}
