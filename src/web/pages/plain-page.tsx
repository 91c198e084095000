import type { Child } from "hono/jsx";
import { raw } from "hono/html";
import { makeVisible } from "../../core/text/visible.ts";
import type { Assets } from "../parts/layout.tsx";
import type { Language } from "../../core/text/language.ts";
import { say } from "../words/words.ts";

/** Frame of a page that needs no sign-in. */
export interface PlainFrame {
  language: Language;
  assets: Assets;
  title: string;
  /** Redirects to this local address at once. */
  goTo?: string;
  /** The page has more than a few lines. */
  isWide?: true;
}

/** A page with one thing on it and no script. */
export function PlainPage({ frame, children }: { frame: PlainFrame; children: Child }) {
  return (
    <>
      {raw("<!doctype html>")}
      <html lang={frame.language}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width,initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          {frame.goTo === undefined ? null : <meta http-equiv="refresh" content={`0;url=${frame.goTo}`} />}
          <title>{`${frame.title} · askd`}</title>
          <link rel="icon" href="/favicon.svg" />
          <link rel="stylesheet" href={frame.assets.style} />
          {frame.isWide ? <link rel="stylesheet" href={frame.assets.besideStyle} /> : null}
        </head>
        <body data-page="plain">
          <header class="top">
            <a class="brand" href="/">
              askd
            </a>
          </header>
          <main id="main" class={frame.isWide ? "page" : "plain"}>
            {children}
          </main>
        </body>
      </html>
    </>
  );
}

/** The contents of a link that signs in. */
export interface SignInLink {
  code: string;
  person: string;
}

interface SignInProps {
  language: Language;
  next: string;
  link?: SignInLink | undefined;
  isWrong: boolean;
}

/** The sign-in form: a field for the code, or one button if the link had it. */
export function SignIn({ language, next, link, isWrong }: SignInProps) {
  if (link) {
    return (
      <>
        <h1>{say(language, "login.as", { name: link.person })}</h1>
        <form method="post" action="/login">
          <input type="hidden" name="next" value={next} />
          <input type="hidden" name="code" value={link.code} />
          <p class="quiet">{say(language, "login.once")}</p>
          <button class="p" type="submit" autofocus>
            {say(language, "login.title")}
          </button>
        </form>
      </>
    );
  }
  return (
    <>
      <h1>{say(language, "login.title")}</h1>
      {isWrong ? (
        <p class="banner bad" role="alert">
          {say(language, "login.bad")}
        </p>
      ) : null}
      <form method="post" action="/login">
        <input type="hidden" name="next" value={next} />
        <label class="t" for="code">
          {say(language, "login.code")} <code>askd login</code>
        </label>
        <input id="code" name="code" type="password" autocomplete="one-time-code" required autofocus />
        <p class="quiet">{say(language, "login.about")}</p>
        <button class="p" type="submit">
          {say(language, "login.title")}
        </button>
      </form>
    </>
  );
}

/** A problem, and the link back to the inbox. */
export function ProblemWords({ language, detail }: { language: Language; detail: string }) {
  const isMissing = detail === say(language, "problem.missing");
  return (
    <>
      <h1>{isMissing ? makeVisible(detail) : say(language, "problem.title")}</h1>
      {isMissing ? null : <p>{makeVisible(detail)}</p>}
      <p>
        <a href="/">{say(language, "problem.back")}</a>
      </p>
    </>
  );
}

/** A page between for visitors from another site: browsers send a SameSite=Strict cookie only from our own pages. */
export function Bounce({ language, path }: { language: Language; path: string }) {
  return (
    <>
      <h1>{say(language, "bounce.title")}</h1>
      <p>
        <a href={path}>{say(language, "bounce.go")}</a>
      </p>
    </>
  );
}
