import type { Hono } from "hono";
import { parseDuration } from "../../core/text/duration.ts";
import { later } from "../../core/instant.ts";
import { IssuedScope, type Token, isTokenUsable } from "../../core/people/token.ts";
import { type FormDraft, EMPTY_DRAFT, draftText } from "../../web/parts/form-draft.ts";
import { partOf } from "../../web/parts/paging.tsx";
import { tell } from "../../web/parts/page-reader.ts";
import { TOKEN_SPANS, TokensPage, type TokensView } from "../../web/pages/tokens.tsx";
import type { SignedIn } from "../credential.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { readDraft } from "./form/read-draft.ts";
import { readPageOffset, languageOf, readReader } from "./read/read-reader.ts";
import { sayRefusal, sendFramedPage } from "./send-page.tsx";
import { redirectTo } from "./redirect.ts";

const MOST_SHOWN = 50;
const SUBJECT = /^[A-Za-z0-9][\w.@-]{0,63}$/;

/** Routes of the tokens page: anyone may issue a token, only an admin lists and revokes all. */
export function addTokens(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/settings/tokens", (context) => show(context, deps));
  pages.post("/settings/tokens", (context) => issue(context, deps));
  pages.post("/settings/tokens/:id/revoke", async (context) => {
    try {
      await deps.engine.revokeToken(context.req.param("id"), context.get("actor"));
    } catch (error) {
      return show(context, deps, sayRefusal({ language: languageOf(context) }, error));
    }
    return redirectTo(context, "/settings/tokens");
  });
}

type TokensResult = Partial<Pick<TokensView, "issued" | "problem">> & { draft?: FormDraft; status?: number };

async function show(context: PageCall, deps: PagesDeps, again: TokensResult = {}) {
  const { engine } = deps;
  const reader = await readReader(context, engine);
  const isAdmin = reader.scope === "admin";
  const all = isAdmin ? (await engine.listTokens(context.get("actor"))).filter(({ scope }) => scope !== "login") : [];
  const usable = all
    .filter((token) => isTokenUsable(token, reader.now))
    .sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  const { items, part } = partOf(usable, readPageOffset(context) ?? 0, MOST_SHOWN);
  const view: TokensView = {
    reader,
    own: context.get("token"),
    part,
    ended: all.length - usable.length,
    tokens: isAdmin ? items : undefined,
    issued: again.issued,
    problem: again.problem,
    draft: again.draft ?? EMPTY_DRAFT,
  };
  return sendFramedPage(context, deps, {
    reader,
    page: "settings",
    title: tell(reader, "tok.title"),
    status: again.status ?? 200,
    main: <TokensPage view={view} />,
  });
}

/** Issues a token. Its text is in this response and nowhere else. */
async function issue(context: PageCall, deps: PagesDeps) {
  const draft = await readDraft(context);
  const reader = await readReader(context, deps.engine);
  const scope = IssuedScope.exclude(["login"]).safeParse(draftText(draft, "scope"));
  const subject = draftText(draft, "subject").trim();
  const span = TOKEN_SPANS.find((each) => each === draftText(draft, "expires"));
  if (!scope.success || !SUBJECT.test(subject)) {
    return show(context, deps, { draft, problem: tell(reader, "tok.bad"), status: 422 });
  }
  const expires = draftText(draft, "expires");
  const expiresAt = span
    ? later(reader.now, parseDuration(span))
    : expires === "never"
      ? ("never" as const)
      : undefined;
  const name = draftText(draft, "name").trim();
  let issued: { text: string; token: Token };
  try {
    issued = await deps.engine.issueToken(
      { scope: scope.data, subject, name: name || undefined, expiresAt },
      context.get("actor"),
    );
  } catch (error) {
    return show(context, deps, { draft, ...sayRefusal(reader, error) });
  }
  return show(context, deps, { issued });
}
