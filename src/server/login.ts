import { type Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import { SYSTEM } from "../core/actor.ts";
import { HOUR_MS } from "../core/instant.ts";
import { Refusal } from "../core/refusal.ts";
import type { Engine } from "../engine/engine.ts";
import type { Part } from "./app.ts";
import { COOKIE, SECURE_COOKIE } from "./credential.ts";

const SESSION_MS = 12 * HOUR_MS;
const PAGE_POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

export interface LoginDeps {
  engine: Engine;
  /** People reach the server by https, so the cookie must never travel otherwise. */
  isSecure: boolean;
}

/** Signing in with the code that `askd login` prints, and out again. Works without script. */
export function loginPart(deps: LoginDeps): Part {
  const app = new Hono();
  app.get("/login", (context) => page(context, 200));
  app.post("/login", (context) => signIn(context, deps));
  app.post("/logout", async (context) => {
    await endSession(context, deps);
    deleteCookie(context, SECURE_COOKIE, { path: "/", secure: true });
    deleteCookie(context, COOKIE, { path: "/" });
    return context.redirect("/login", 303);
  });
  return { path: "/", public: app };
}

async function signIn(context: Context, deps: LoginDeps): Promise<Response> {
  const code = await readCode(context);
  try {
    const { text } = await deps.engine.redeemLogin(code, { ...SYSTEM, channel: "web" });
    // A session that was there before ends, so that nobody who knew it shares the new one.
    await endSession(context, deps);
    setCookie(context, COOKIE, text, {
      ...{ path: "/", httpOnly: true, sameSite: "Strict", maxAge: SESSION_MS / 1000 },
      ...(deps.isSecure && { secure: true, prefix: "host" }),
    });
    return context.redirect("/", 303);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "sign_in") throw error;
    return page(context, 401, `${error.message}.`);
  }
}

/** Takes the code out of a form; a file or a second value is no code. */
async function readCode(context: Context): Promise<string> {
  const type = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") throw new Refusal("bad_input", "Send the form of this page");
  const { code } = await context.req.parseBody();
  return typeof code === "string" ? code.trim().slice(0, 200) : "";
}

async function endSession(context: Context, { engine }: LoginDeps): Promise<void> {
  for (const name of [SECURE_COOKIE, COOKIE]) {
    const text = getCookie(context, name);
    if (text === undefined) continue;
    const found = await engine.authenticate(text, "web");
    if (found) await engine.revokeToken(found.token.id, { ...SYSTEM, channel: "web" });
  }
}

function page(context: Context, status: 200 | 401, problem = ""): Response | Promise<Response> {
  context.header("Content-Security-Policy", PAGE_POLICY);
  context.status(status);
  return context.html(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width" />
          <title>askd: sign in</title>
        </head>
        <body>
          <main>
            <h1>Sign in</h1>
            <p role="alert">${problem}</p>
            <form method="post" action="/login">
              <label for="code">The code that <code>askd login</code> prints</label>
              <input id="code" name="code" type="password" autocomplete="one-time-code" required autofocus />
              <button type="submit">Sign in</button>
            </form>
          </main>
        </body>
      </html>`,
  );
}
