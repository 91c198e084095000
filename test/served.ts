import { SYSTEM } from "../src/core/people/actor.ts";
import type { RunId } from "../src/core/id.ts";
import type { TokenInput } from "../src/core/people/token.ts";
import type { EventView } from "../src/core/api/reply.ts";
import type { QuestionView, RunView } from "../src/core/api/view.ts";
import { type ServeDeps, type RunningServer, serveHttp } from "../src/server/server.ts";
import { feedOf } from "./remote.ts";
import { Scene } from "./scene.ts";

/** What came back over HTTP. */
export interface Got {
  status: number;
  headers: Headers;
  body: Reply;
}

/** What replies hold, of whatever kind; a test looks at what its own has. */
interface Reply extends Record<string, unknown> {
  id: string;
  code: string;
  run_id: string;
  answered_by: string;
  questions: QuestionView[];
  runs: RunView[];
  events: EventView[];
  next_cursor: string | null;
}

/** A scene whose engine is reached over HTTP on this machine. */
export class ServedScene {
  readonly scene: Scene;
  readonly lines: string[] = [];
  #served: RunningServer;
  readonly #over: Partial<ServeDeps>;

  private constructor(scene: Scene, served: RunningServer, over: Partial<ServeDeps>) {
    this.scene = scene;
    this.#served = served;
    this.#over = over;
  }

  static async start(over: Partial<ServeDeps> = {}, scene: Scene = new Scene()): Promise<ServedScene> {
    return new ServedScene(scene, await serve(scene, over, 0), over);
  }

  get port(): number {
    return this.#served.port;
  }

  get served(): RunningServer {
    return this.#served;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Stops the server and starts it again on the same port; the store stays. */
  async restart(): Promise<void> {
    const { port } = this;
    await this.#served.close();
    this.#served = await serve(this.scene, this.#over, port);
    // A connection that is kept from before may be found closed only when it is used; this uses it up.
    await fetch(`${this.url}/health`).catch(() => undefined);
  }

  async stop(): Promise<void> {
    await this.#served.close();
    await this.scene.engine.stop();
  }

  async token(input: Partial<TokenInput> & { runId?: RunId } = {}): Promise<string> {
    const { text } = await this.scene.engine.issueToken({ scope: "human", subject: "ada", ...input }, SYSTEM);
    return text;
  }

  /** Sends one request; an object as body goes as JSON. */
  async send(
    method: string,
    path: string,
    { token, body, headers = {} }: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Got> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : { text } };
  }
}

function serve(scene: Scene, over: Partial<ServeDeps>, port: number): Promise<RunningServer> {
  return serveHttp({ ...depsOf(scene), ...over }, { port });
}

function depsOf({ engine, store, rules }: Scene): ServeDeps {
  return {
    engine,
    rules,
    store,
    feed: feedOf(store),
    version: "0.0.0",
    log: () => undefined,
    ...("holds" in engine && { holds: () => Number(engine.holds) }),
  };
}
