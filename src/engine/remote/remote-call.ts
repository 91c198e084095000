import type { Actor } from "../../core/people/actor.ts";
import { API_PATH, BY_HEADER, MOST_LISTED, ROWS_TYPE, type Route } from "../../core/api/route.ts";
import { ROUTES, type RowsOf, type Verb } from "../../core/api/table.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import { Absence, absenceAfter, absenceIn, absenceInSilence, parseProblem, retryAfterOf } from "./remote-absence.ts";

/** Tries of a call that reaches no server. */
const TRIES = 4;
/** For how long, where somebody waits for an outcome: a server that restarts is away for a moment. */
const LONGEST_ABSENCE_MS = 2 * MINUTE_MS;
const FIRST_PAUSE_MS = 100;
/** The server replies within 25 s, also to whoever waits, and its store within 15 s. */
const LONGEST_REPLY_MS = 45 * SECOND_MS;
const LONGEST_PAUSE_MS = SECOND_MS;

export interface CallerDeps {
  /** Where the server is, such as `http://127.0.0.1:4319`. */
  url: string;
  /** The token to send, by who acts; most have one for everything. */
  tokenFor: (by: Actor | undefined) => string | undefined | Promise<string | undefined>;
  newKey: () => string;
  fetch?: typeof fetch;
  patience?: Patience;
  longestReplyMs?: number;
}

/** Rides out a restart of the server, for somebody who waits for what it will say. */
export interface Patience {
  /** Aborts when they do not want to wait any more. */
  until: AbortSignal;
  /** From the first call on; else once the server was there. */
  isAtOnce?: boolean;
  /** Reports that the server is away and the call is retried. */
  onAway?: (text: string) => void;
}

/** The request of a verb, before it is written into an address, headers and a body. */
export interface CallOptions<V extends Verb> {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  by?: Actor;
  /** Sent in place of the usual one. */
  token?: string;
  ifVersion?: number;
  signal?: AbortSignal;
  /** Names the change: sent again, it counts once. */
  key?: string;
  /** Doing it twice is the same as doing it once. */
  mayRepeat?: boolean;
  /** Somebody waits for the outcome: a restart of the server is ridden out. */
  isPatient?: boolean;
  readonly verb?: V;
}

/** A complete reply of the server. */
interface Received {
  response: Response;
  text: string;
}

/** Calls the routes of the table on a server. Its refusals are thrown here with the same text. */
export class RemoteCaller {
  readonly #deps: CallerDeps;
  #hasHeard = false;
  #isAway = false;

  constructor(deps: CallerDeps) {
    this.#deps = deps;
  }

  newKey(): string {
    return this.#deps.newKey();
  }

  async call<V extends Verb>(verb: V, options: CallOptions<V>): Promise<RowsOf<V>> {
    const row: Route = ROUTES[verb];
    const { response, text } = await this.#send(row, options);
    if (!response.ok) throw refusalOf(response, text);
    return row.reply.rows.parse(this.#parse(text));
  }

  /** Sends a request, and retries it if no server was reached and a repetition does no harm. */
  async #send(row: Route, options: CallOptions<Verb>) {
    const mayRepeat = options.mayRepeat ?? row.mayRepeat ?? (options.key !== undefined || row.method !== "POST");
    const address = this.#address(row, options);
    const request = await this.#request(row, options);
    const { longestReplyMs = row.longestReplyMs ?? LONGEST_REPLY_MS } = this.#deps;
    const startMs = performance.now();
    let mayHaveArrived = false;
    for (let tries = 1; ; tries += 1) {
      const reply = await this.#try(address, request, longestReplyMs);
      if (!(reply instanceof Absence)) {
        this.#hasHeard = true;
        this.#isAway = false;
        return reply;
      }
      mayHaveArrived ||= reply.mayHaveArrived && row.method !== "GET";
      const pauseMs = Math.max(Math.min(FIRST_PAUSE_MS * 3 ** (tries - 1), LONGEST_PAUSE_MS), reply.retryAfterMs);
      const isWanted = !options.signal?.aborted && (mayRepeat || !reply.mayHaveArrived);
      const isSoon = tries < TRIES && pauseMs <= LONGEST_PAUSE_MS;
      const isBorne = this.#isPatient(options) && performance.now() - startMs + pauseMs <= LONGEST_ABSENCE_MS;
      if (!isWanted || !(isSoon || isBorne)) throw reply.refusal(this.#deps.url, { mayHaveArrived });
      if (!isSoon) this.#sayAway();
      await pause(pauseMs, options.signal, this.#deps.patience?.until);
    }
  }

  async #try(address: string, request: RequestInit, longestReplyMs: number): Promise<Received | Absence> {
    // Node's fetch can lose a server that is killed during its reply without ever saying so.
    let timer: NodeJS.Timeout | undefined;
    const over = new AbortController();
    const silence = new Promise<Absence>((resolve) => {
      timer = setTimeout(() => resolve(absenceInSilence(longestReplyMs)), longestReplyMs);
    });
    const signal = request.signal ? AbortSignal.any([request.signal, over.signal]) : over.signal;
    try {
      return await Promise.race([this.#fetch(address, { ...request, signal }), silence]);
    } catch (cause) {
      return absenceAfter(cause);
    } finally {
      clearTimeout(timer);
      over.abort(); // a reply that comes after all is not waited for
    }
  }

  async #fetch(address: string, request: RequestInit): Promise<Received | Absence> {
    const response = await (this.#deps.fetch ?? fetch)(address, request);
    const text = await response.text();
    return absenceIn(response, text) ?? { response, text };
  }

  #isPatient({ isPatient = false }: CallOptions<Verb>) {
    const { patience } = this.#deps;
    if (patience?.until.aborted) return false;
    return isPatient || (patience !== undefined && (patience.isAtOnce === true || this.#hasHeard));
  }

  /** Once for each time that it is away. */
  #sayAway() {
    if (this.#isAway) return;
    this.#isAway = true;
    const span = formatDuration(LONGEST_ABSENCE_MS);
    this.#deps.patience?.onAway?.(`The server at ${this.#deps.url} is away; looking for it again for at most ${span}`);
  }

  #parse(text: string) {
    try {
      const value: unknown = JSON.parse(text);
      return value;
    } catch (cause) {
      throw new Refusal("store_unusable", `What replies at ${this.#deps.url} is not askd`, {
        cause,
        hint: "Look where ASKD_URL leads: something before the server replies in its place",
      });
    }
  }

  #address({ path }: Route, { params = {}, query = {} }: CallOptions<Verb>) {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) search.set(name, typeof value === "string" ? value : JSON.stringify(value));
    }
    return `${this.#deps.url}${API_PATH}${filled}${search.size > 0 ? `?${search.toString()}` : ""}`;
  }

  async #request({ method }: Route, options: CallOptions<Verb>): Promise<RequestInit> {
    const { body, by, token, ifVersion, key, signal } = options;
    const bearer = token ?? (await this.#deps.tokenFor(by));
    return {
      method,
      redirect: "error",
      headers: {
        accept: ROWS_TYPE,
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(by && { [BY_HEADER]: encodeURIComponent(JSON.stringify(by)) }),
        ...(ifVersion !== undefined && { "if-match": `"${ifVersion}"` }),
        ...(key !== undefined && { "idempotency-key": key }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    };
  }
}

/** A fetch that reports every call: method, address, status and duration. Never the token. */
export function tellingFetch(tell: (line: string) => void): typeof fetch {
  return async (input, init) => {
    const start = performance.now();
    const address = input instanceof Request ? input.url : String(input);
    const say = (outcome: string) =>
      tell(`${init?.method ?? "GET"} ${address} ${outcome} ${Math.round(performance.now() - start)} ms`);
    try {
      const response = await fetch(input, init);
      say(String(response.status));
      return response;
    } catch (error) {
      say("failed");
      throw error;
    }
  };
}

/** The server's "no", as the engine over there said it. */
function refusalOf(response: Response, text: string) {
  const problem = parseProblem(text);
  if (!problem) return new Refusal("store_unusable", `The server replied ${response.status} and did not say why`);
  const retryAfterMs = retryAfterOf(response);
  return new Refusal(problem.code, problem.detail, {
    ...(problem.hint !== undefined && { hint: problem.hint }),
    ...(retryAfterMs > 0 && { retryAfterMs }),
  });
}

/** Waits that long, or until one of the signals aborts. */
function pause(ms: number, ...signals: ReadonlyArray<AbortSignal | undefined>) {
  return new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    for (const signal of signals) signal?.addEventListener("abort", end, { once: true });
    if (signals.some((signal) => signal?.aborted)) end();
  });
}

/** Reads as many pages as it takes to have that many rows. */
export async function pageThrough<Row>(
  limit: number,
  start: string | undefined,
  read: (page: { after?: string; limit: number }) => Promise<{ rows: Row[]; next?: string }>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let after = start;
  while (rows.length < limit) {
    const page = await read({
      after,
      limit: Math.min(MOST_LISTED, limit - rows.length),
    });
    rows.push(...page.rows);
    after = page.next;
    if (after === undefined) break;
  }
  return rows;
}
