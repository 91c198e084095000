import type { Hono } from "hono";
import { parseDuration } from "../../core/text/duration.ts";
import { later } from "../../core/instant.ts";
import { IssuedScope, type Token, isUsable } from "../../core/people/token.ts";
import { type Draft, NO_DRAFT, draftedText } from "../../web/parts/form-draft.ts";
import { partOf } from "../../web/parts/paging.tsx";
import { tell } from "../../web/parts/reader.ts";
import { TOKEN_SPANS, TokensPage, type TokensView } from "../../web/pages/tokens.tsx";
import type { Signed } from "../credential.ts";
import type { Call, PagesDeps } from "./deps.ts";
import { readDraft } from "./form/read-draft.ts";
import { readFrom } from "./page-offset.ts";
import { sayRefusal, sendFramed } from "./send-framed-page.tsx";
import { goTo } from "./redirect.ts";
import { languageOf, readReader } from "./read/read-reader.ts";

const MOST_SHOWN = 50;
const SUBJECT = /^[A-Za-z0-9][\w.@-]{0,63}$/;

/** Tokens and sessions: anybody may let an agent in, only an admin sees and revokes all. */
export function addTokens(pages: Hono<Signed>, deps: PagesDeps): void {
  pages.get("/settings/tokens", (context) => show(context, deps));
  pages.post("/settings/tokens", (context) => issue(context, deps));
  pages.post("/settings/tokens/:id/revoke", async (context) => {
    try {
      await deps.engine.revokeToken(context.req.param("id"), context.get("actor"));
    } catch (error) {
      return show(context, deps, sayRefusal({ language: languageOf(context) }, error));
    }
    return goTo(context, "/settings/tokens");
  });
}

type Again = Partial<Pick<TokensView, "issued" | "problem">> & { draft?: Draft; status?: number };

async function show(context: Call, deps: PagesDeps, again: Again = {}): Promise<Response> {
  const { engine } = deps;
  const reader = await readReader(context, engine);
  const isAdmin = reader.scope === "admin";
  const all = isAdmin ? (await engine.listTokens(context.get("actor"))).filter(({ scope }) => scope !== "login") : [];
  const usable = all
    .filter((token) => isUsable(token, reader.now))
    .sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  const { items, part } = partOf(usable, readFrom(context) ?? 0, MOST_SHOWN);
  const view: TokensView = {
    ...{ reader, own: context.get("token"), part, ended: all.length - usable.length },
    tokens: isAdmin ? items : undefined,
    ...{ issued: again.issued, problem: again.problem, draft: again.draft ?? NO_DRAFT },
  };
  return sendFramed(context, deps, {
    ...{ reader, page: "settings", title: tell(reader, "tok.title"), status: again.status ?? 200 },
    main: <TokensPage view={view} />,
  });
}

/** The text of the token is in this one reply and nowhere else. */
async function issue(context: Call, deps: PagesDeps): Promise<Response> {
  const draft = await readDraft(context);
  const reader = await readReader(context, deps.engine);
  const scope = IssuedScope.exclude(["login"]).safeParse(draftedText(draft, "scope"));
  const subject = draftedText(draft, "subject").trim();
  const span = TOKEN_SPANS.find((each) => each === draftedText(draft, "expires"));
  if (!scope.success || !SUBJECT.test(subject)) {
    return show(context, deps, { draft, problem: tell(reader, "tok.bad"), status: 422 });
  }
  const expires = draftedText(draft, "expires");
  const expiresAt = span
    ? later(reader.now, parseDuration(span))
    : expires === "never"
      ? ("never" as const)
      : undefined;
  const name = draftedText(draft, "name").trim();
  let issued: { text: string; token: Token };
  try {
    issued = await deps.engine.issueToken(
      {
        scope: scope.data,
        subject,
        ...(name !== "" && { name }),
        ...(expiresAt !== undefined && { expiresAt }),
      },
      context.get("actor"),
    );
  } catch (error) {
    return show(context, deps, { draft, ...sayRefusal(reader, error) });
  }
  return show(context, deps, { issued });
}
