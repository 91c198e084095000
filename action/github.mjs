// GitHub's REST API with the token of the job. No packages.
import { setTimeout } from "node:timers/promises";

const MOST_TRIES = 4;
const FIRST_PAUSE_MS = 1_000;
const LIMIT_PAUSE_MS = 60_000;
/** A limit that lasts longer ends the step: a job that waits costs time that is paid for. */
const LONGEST_PAUSE_MS = 5 * 60_000;
/** GitHub asks programs to leave a second between two changes. */
const WRITE_MS = 1_000;
const LIMIT_MS = 20_000;
/** The hourly limit of a job's token is 1,000 requests for a repository. */
const MOST_PAGES = 500;

export class GitHub {
  #url;
  #graphqlUrl;
  #token;

  #pause;
  #writeMs;
  #nextWriteAtMs = 0;

  constructor(env, { pause = setTimeout } = {}) {
    const { GITHUB_API_URL: url = "https://api.github.com", GITHUB_GRAPHQL_URL: graphqlUrl } = env;
    const { GITHUB_TOKEN: token = "", ASKD_GITHUB_WRITE_MS: writeMs = WRITE_MS } = env;
    if (token === "") throw new Error("Set GITHUB_TOKEN: ${{ github.token }} in env: of this step");
    this.#url = url.replace(/\/+$/, "");
    this.#graphqlUrl = graphqlUrl || `${this.#url}/graphql`;
    this.#token = token;
    this.#pause = pause;
    this.#writeMs = Number(writeMs);
  }

  /** The reply to a request; a status that was not expected is an error. */
  async send(method, path, { body, expected = [200] } = {}) {
    const isWrite = method !== "GET" && path !== "/graphql";
    for (let tries = 1; ; tries += 1) {
      if (isWrite) await this.#waitForTurn();
      const { status, said, waitMs, next } = await this.#try(method, path, body);
      if (isWrite) this.#nextWriteAtMs = Date.now() + this.#writeMs;
      if (expected.includes(status) && waitMs === undefined) return { status, body: said, next };
      const isPassing = status === 0 || status >= 500 || waitMs !== undefined;
      const isLong = waitMs > LONGEST_PAUSE_MS;
      if (!isPassing || isLong || tries === MOST_TRIES) {
        const later = isLong ? `; try again in ${Math.ceil(waitMs / 60_000)} minutes` : "";
        const message = `GitHub says ${status} to ${method} ${path}: ${said?.message ?? ""}${later}`;
        throw Object.assign(new Error(message), { status });
      }
      await this.#pause(waitMs ?? FIRST_PAUSE_MS * 2 ** (tries - 1));
    }
  }

  async #waitForTurn() {
    const waitMs = this.#nextWriteAtMs - Date.now();
    if (waitMs > 0) await this.#pause(waitMs);
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
      return { status: response.status, said, waitMs: waitOf(response, said), next };
    } catch {
      return { status: 0 };
    }
  }
}

/** How long to wait by what GitHub says: its own time first, then the end of the hour's limit, then a minute. */
function waitOf({ status, headers }, said) {
  if (status !== 403 && status !== 429) return undefined;
  const [seconds, resetAt] = ["retry-after", "x-ratelimit-reset"].map((name) =>
    Number(headers.get(name) ?? Number.NaN),
  );
  if (Number.isFinite(seconds)) return seconds * 1000;
  if (headers.get("x-ratelimit-remaining") === "0")
    return Number.isFinite(resetAt) ? Math.max(1000, resetAt * 1000 - Date.now()) : LIMIT_PAUSE_MS;
  return status === 429 || /rate limit|abuse/i.test(said?.message ?? "") ? LIMIT_PAUSE_MS : undefined;
}
