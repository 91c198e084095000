import type { TokenInput } from "../src/core/people/token.ts";
import type { ServeDeps } from "../src/server/server.ts";
import { Scene } from "./scene.ts";
import { type Got, ServedScene } from "./served.ts";

/** A browser without script on the pages of a scene. */
export class PageVisit {
  readonly at: ServedScene;
  readonly #cookie: string;

  private constructor(at: ServedScene, cookie: string) {
    this.at = at;
    this.#cookie = cookie;
  }

  /** Signs somebody in; what they may do is in the token. */
  static async start(
    over: Partial<ServeDeps> = {},
    token: Partial<TokenInput> = {},
    scene: Scene = new Scene(),
  ): Promise<PageVisit> {
    const at = await ServedScene.start(over, scene);
    return new PageVisit(at, `askd_session=${await at.token(token)}`);
  }

  async open(path: string, headers: Record<string, string> = {}) {
    const got = await this.at.send("GET", path, {
      headers: {
        accept: "text/html",
        ...headers,
        cookie: [this.#cookie, headers["cookie"]].filter(Boolean).join("; "),
      },
    });
    return { ...got, ...read(got) };
  }

  /** Sends a form as a page of the session would. */
  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
    const csrf = /name="csrf" value="(\w+)"/.exec((await this.open("/settings")).html)?.[1] ?? "";
    const got = await this.at.send("POST", path, {
      body: new URLSearchParams({ csrf, ...fields }).toString(),
      headers: {
        cookie: this.#cookie,
        accept: "text/html",
        origin: this.at.url,
        "content-type": "application/x-www-form-urlencoded",
        ...headers,
      },
    });
    return { ...got, ...read(got) };
  }

  stop(): Promise<void> {
    return this.at.stop();
  }
}

function read({ body, headers }: Got): { html: string; location: string | null } {
  const text = body["text"];
  return { html: typeof text === "string" ? text : "", location: headers.get("location") };
}
