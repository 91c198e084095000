import type { Actor } from "../core/actor.ts";
import { API_PATH, BY_HEADER, ROWS_TYPE, type Route } from "../core/api/route.ts";
import { ROUTES, type RowsOf, type Verb } from "../core/api/table.ts";
import { REFUSALS, Refusal, type RefusalCode } from "../core/refusal.ts";

const TRIES = 4;
const FIRST_PAUSE_MS = 100;

export interface CallerDeps {
  /** Where the server is, such as `http://127.0.0.1:4319`. */
  url: string;
  /** The token to send, by who acts; most have one for everything. */
  tokenFor: (by: Actor | undefined) => string | undefined | Promise<string | undefined>;
  newKey: () => string;
  fetch?: typeof fetch;
}

/** What a verb says, before it is written into an address, headers and a body. */
export interface CallOptions<V extends Verb> {
  params?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  by?: Actor;
  /** Sent in place of the usual one. */
  token?: string;
  ifVersion?: number;
  signal?: AbortSignal;
  /** Doing it twice is the same as doing it once. */
  mayRepeat?: boolean;
  readonly verb?: V;
}

/** Calls the routes of the table on a server. What it refuses is refused here in the same words. */
export class Caller {
  readonly #deps: CallerDeps;

  constructor(deps: CallerDeps) {
    this.#deps = deps;
  }

  newKey(): string {
    return this.#deps.newKey();
  }

  async call<V extends Verb>(verb: V, options: CallOptions<V>): Promise<RowsOf<V>> {
    const row: Route = ROUTES[verb];
    const response = await this.#send(row, options);
    const text = await response.text();
    if (!response.ok) throw refusalOf(response, text);
    return row.reply.rows.parse(JSON.parse(text));
  }

  /** Sends it, again where nobody was reached and that does no harm. */
  async #send(row: Route, options: CallOptions<Verb>): Promise<Response> {
    const mayRepeat = options.mayRepeat ?? row.method !== "POST";
    const address = this.#address(row, options);
    const request = await this.#request(row, options);
    for (let tries = 1; ; tries += 1) {
      try {
        return await (this.#deps.fetch ?? fetch)(address, request);
      } catch (cause) {
        if (options.signal?.aborted || !mayRepeat || tries >= TRIES) throw this.#unreachable(cause);
        await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 3 ** (tries - 1)));
      }
    }
  }

  #address({ path }: Route, { params = {}, query = {} }: CallOptions<Verb>): string {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
    return `${this.#deps.url}${API_PATH}${filled}${search.size > 0 ? `?${search.toString()}` : ""}`;
  }

  async #request({ method }: Route, { body, by, token, ifVersion, signal }: CallOptions<Verb>): Promise<RequestInit> {
    const bearer = token ?? (await this.#deps.tokenFor(by));
    return {
      method,
      redirect: "error",
      headers: {
        accept: ROWS_TYPE,
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(by && { [BY_HEADER]: encodeURIComponent(JSON.stringify(by)) }),
        ...(ifVersion !== undefined && { "if-match": `"${ifVersion}"` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    };
  }

  #unreachable(cause: unknown): Refusal {
    return new Refusal("store_unreachable", `The server at ${this.#deps.url} cannot be reached`, {
      cause,
      hint: "Start it with: askd serve, or unset ASKD_URL",
    });
  }
}

/** Fetches, and tells of every call: the method, the address, what came back, and after how long. Never the token. */
export function tellingFetch(tell: (line: string) => void): typeof fetch {
  return async (input, init) => {
    const start = performance.now();
    const address = input instanceof Request ? input.url : String(input);
    const say = (outcome: string): void =>
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
function refusalOf(response: Response, text: string): Refusal {
  const problem = parseProblem(text);
  const seconds = Number(response.headers.get("retry-after"));
  if (!problem || !isCode(problem.code)) {
    return new Refusal("store_unusable", `The server replied ${response.status} and did not say why`);
  }
  return new Refusal(problem.code, problem.detail, {
    ...(problem.hint !== undefined && { hint: problem.hint }),
    ...(seconds > 0 && { retryAfterMs: seconds * 1000 }),
  });
}

function isCode(code: string): code is RefusalCode {
  return Object.hasOwn(REFUSALS, code);
}

function parseProblem(text: string): { code: string; detail: string; hint?: string } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value !== "object" || !("code" in value) || !("detail" in value)) return undefined;
    const hint = "hint" in value && typeof value.hint === "string" ? value.hint : undefined;
    return { code: String(value.code), detail: String(value.detail), ...(hint !== undefined && { hint }) };
  } catch {
    return undefined; // not ours: something before the server replied
  }
}
