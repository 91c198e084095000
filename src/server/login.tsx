import { type Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { SYSTEM } from "../core/people/actor.ts";
import { HOUR_MS } from "../core/instant.ts";
import { PersonId } from "../core/people/person.ts";
import { Refusal } from "../core/refusal.ts";
import type { Engine } from "../engine/engine.ts";
import type { RouteGroup } from "./app.ts";
import { FORM_TYPE, STRANGERS_BODY_BYTES, mediaType, readFields } from "./body.ts";
import { COOKIE, SECURE_COOKIE } from "./credential.ts";
import { ASSETS } from "./pages/assets.ts";
import { sendPlainPage } from "./pages/send-page.tsx";
import { languageOf } from "./pages/read/read-reader.ts";
import { PlainPage, SignIn, type SignInLink } from "../web/pages/plain-page.tsx";
import { say } from "../web/words/words.ts";
import type { RequestLimit } from "./rest/request-limit.ts";

const SESSION_MS = 12 * HOUR_MS;

export interface LoginDeps {
  engine: Engine;
  /** People reach the server by HTTPS, so the cookie must be sent only over HTTPS. */
  isSecure: boolean;
  /** Limits sign-in attempts by address. */
  signIns: RequestLimit;
}

/** Routes to sign in with the code that `askd login` prints, and to sign out. Works without a script. */
export function loginPart(deps: LoginDeps): RouteGroup {
  const app = new Hono();
  app.get("/login", async (context) => {
    const next = readNext(context.req.query("next"));
    const link = readLink(context);
    if (link && (await isSignedIn(context, link.person, deps))) return context.redirect(next, 303);
    return page(context, { next, link, isWrong: false });
  });
  app.post("/login", (context) => signIn(context, deps));
  app.post("/logout", async (context) => {
    await endSession(context, deps);
    deleteCookie(context, SECURE_COOKIE, { path: "/", secure: true });
    deleteCookie(context, COOKIE, { path: "/" });
    return context.redirect("/login", 303);
  });
  return { path: "/", public: app };
}

async function signIn(context: Context, deps: LoginDeps) {
  deps.signIns.count(context.get("address"));
  const { code, next } = await readForm(context);
  try {
    const { text } = await deps.engine.redeemLogin(code, { ...SYSTEM, channel: "web" });
    // End the previous session, so that nobody who knew it shares the new one.
    await endSession(context, deps);
    setCookie(context, COOKIE, text, {
      path: "/",
      httpOnly: true,
      sameSite: "Strict",
      maxAge: SESSION_MS / 1000,
      ...(deps.isSecure && { secure: true, prefix: "host" }),
    });
    return context.redirect(next, 303);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "sign_in") throw error;
    return page(context, { next, isWrong: true });
  }
}

/** Reads the code and the target path from the form. */
async function readForm(context: Context): Promise<{ code: string; next: string }> {
  if (mediaType(context) !== FORM_TYPE) {
    throw new Refusal("bad_input", "Send the form of this page", { fact: { is: "unreadable_form" } });
  }
  const fields = await readFields(context, STRANGERS_BODY_BYTES);
  return { code: fields.get("code")?.at(-1)?.trim().slice(0, 200) ?? "", next: readNext(fields.get("next")?.at(-1)) };
}

/** The code and the name in a link that signs in; nothing happens before the person presses the button. */
function readLink(context: Context): SignInLink | undefined {
  const { code = "", as: person = "" } = context.req.query();
  return /^[\w-]{16,200}$/.test(code) && PersonId.safeParse(person).success ? { code, person } : undefined;
}

/** A browser that is signed in as that person needs no code. */
async function isSignedIn(context: Context, person: string, { engine }: LoginDeps) {
  for (const name of [SECURE_COOKIE, COOKIE]) {
    const text = getCookie(context, name);
    const found = text === undefined ? undefined : await engine.authenticate(text, "web");
    if (found && found.actor.scope !== "agent" && found.actor.id === person) return true;
  }
  return false;
}

/** The path to open after signing in; never another server. */
function readNext(next: unknown) {
  return typeof next === "string" && /^\/(?![/\\])[\x21-\x7e]{0,500}$/.test(next) && !next.includes("\\") ? next : "/";
}

async function endSession(context: Context, { engine }: LoginDeps) {
  for (const name of [SECURE_COOKIE, COOKIE]) {
    const text = getCookie(context, name);
    if (text === undefined) continue;
    const found = await engine.authenticate(text, "web");
    if (found) await engine.revokeToken(found.token.id, { ...SYSTEM, channel: "web" });
  }
}

function page(context: Context, { next, link, isWrong }: { next: string; link?: SignInLink; isWrong: boolean }) {
  const language = languageOf(context);
  return sendPlainPage(
    context,
    <PlainPage frame={{ language, assets: ASSETS, title: say(language, "login.title") }}>
      <SignIn language={language} next={next} link={link} isWrong={isWrong} />
    </PlainPage>,
    isWrong ? 401 : 200,
  );
}
