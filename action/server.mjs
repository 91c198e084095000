// The server of askd that ASKD_URL and ASKD_TOKEN name, by its REST routes.
import { setTimeout as pause } from "node:timers/promises";

const MOST_TRIES = 5;
const FIRST_PAUSE_MS = 500;
/** The server lets nobody wait longer in one request. */
const ONE_WAIT_MS = 20_000;
const LIMIT_MS = 40_000;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

export class Server {
  #url;
  #token;

  constructor({ ASKD_URL: url = "", ASKD_TOKEN: token = "" }) {
    if (url === "" || token === "") throw new Error("Set ASKD_URL and ASKD_TOKEN in env: of this step");
    if (!URL.canParse(url)) throw new Error("ASKD_URL is not an address");
    const { protocol, hostname, origin } = new URL(url);
    if (protocol !== "https:" && !(protocol === "http:" && LOOPBACK.test(hostname))) {
      throw new Error("ASKD_URL would send the token in the clear; use https://");
    }
    this.#url = origin;
    this.#token = token;
  }

  /** Asks; the same key again gives the question that is there. */
  ask(body, key) {
    return this.#send("POST", "/api/v1/questions", { body: { ...body, key }, headers: { "Idempotency-Key": key } });
  }

  /** The question once it is closed, or as it is after that time. */
  async wait(id, ms) {
    const endAt = Date.now() + ms;
    for (;;) {
      const until = new Date(Math.min(endAt, Date.now() + ONE_WAIT_MS)).toISOString();
      const question = await this.#send("GET", `/api/v1/questions/${id}/wait?until=${encodeURIComponent(until)}`);
      if (question.status !== "pending" || Date.now() >= endAt) return question;
    }
  }

  addressOf({ short_id: id }) {
    return `${this.#url}/q/${id}`;
  }

  /** Tries again where the server cannot be reached or is busy: every request of ours may be repeated. */
  async #send(method, path, { body, headers = {} } = {}) {
    for (let tries = 1; ; tries += 1) {
      const { reply, problem } = await this.#try(method, path, { body, headers });
      if (reply) return reply;
      if (!problem.isPassing || tries === MOST_TRIES) throw new Error(problem.message);
      await pause(FIRST_PAUSE_MS * 2 ** (tries - 1));
    }
  }

  async #try(method, path, { body, headers }) {
    try {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        headers: { Authorization: `Bearer ${this.#token}`, "Content-Type": "application/json", ...headers },
        redirect: "error",
        signal: AbortSignal.timeout(LIMIT_MS),
        ...(body && { body: JSON.stringify(body) }),
      });
      const said = await response.json();
      if (response.ok) return { reply: said };
      const hint = said.hint ? ` ${said.hint}.` : "";
      const message = `The server says: ${said.detail ?? response.status}.${hint}`;
      return { problem: { message, isPassing: response.status >= 500 || response.status === 429 } };
    } catch (error) {
      const cause = error.cause?.code ?? error.name;
      return { problem: { message: `The server ${this.#url} cannot be reached (${cause})`, isPassing: true } };
    }
  }
}
