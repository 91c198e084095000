import { parseDuration } from "../../core/text/duration.ts";
import { SHOWN_ID_CHARS, TOKEN_RENEW_MS, type Token } from "../../core/people/token.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type FormDraft, draftText } from "../parts/form-draft.ts";
import { Paging, type PagePart } from "../parts/paging.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { type PageReader, tell, tellDays } from "../parts/page-reader.ts";
import { AdminOnly, SettingsTabs } from "../parts/settings-tabs.tsx";
import { Moment, TimeSince } from "../parts/time.tsx";

export const TOKEN_SPANS = ["1d", "7d", "30d", "90d", "365d"] as const;
const SCOPES = ["agent", "human", "admin"] as const;

export interface TokensView {
  reader: PageReader;
  /** The session of the reader. */
  own: Token;
  /** Usable tokens, newest first; undefined if the reader may not see them. */
  tokens: readonly Token[] | undefined;
  part: PagePart;
  /** Number of revoked or expired tokens. */
  ended: number;
  /** A token that was just issued; shown only once. */
  issued?: { text: string; token: Token } | undefined;
  draft: FormDraft;
  problem?: string | undefined;
}

/** Tokens and sessions. */
export function TokensPage({ view }: { view: TokensView }) {
  const { reader, own, tokens, issued, problem } = view;
  return (
    <main id="main" class="page">
      <h1>{tell(reader, "tok.title")}</h1>
      <SettingsTabs reader={reader} tab="tokens" />
      {issued ? (
        <ShownOnce
          reader={reader}
          about={tell(reader, "tok.shown", { name: makeVisible(issued.token.subject) })}
          text={issued.text}
        />
      ) : null}
      {problem === undefined ? null : (
        <p class="banner bad" role="alert">
          {problem}
        </p>
      )}
      <section>
        <h2>{tell(reader, "tok.you")}</h2>
        <p>
          {own.expiresAt === undefined ? (
            tell(reader, "me", { name: reader.id })
          ) : (
            <>
              {tell(reader, "tok.you.until", { name: reader.id })} <Moment reader={reader} at={own.expiresAt} />
            </>
          )}
          , {tell(reader, "tok.you.scope", { scope: tell(reader, `scope.${own.scope}`) })}.
        </p>
      </section>
      <section>
        <h2>{tell(reader, "tok.issue")}</h2>
        <p class="quiet">{tell(reader, "tok.issue.about")}</p>
        <IssueForm view={view} />
      </section>
      {tokens ? <Lists view={view} tokens={tokens} /> : <AdminOnly reader={reader} about="tok.admin" />}
    </main>
  );
}

function IssueForm({ view: { reader, draft } }: { view: TokensView }) {
  const isAdmin = reader.scope === "admin";
  const scopes = isAdmin ? SCOPES : SCOPES.filter((scope) => scope !== "admin");
  return (
    <form data-plain class="filters" method="post" action="/settings/tokens">
      <input type="hidden" name="csrf" value={reader.csrf} />
      <div>
        <label class="t" for="scope">
          {tell(reader, "tok.scope")}
        </label>
        <select id="scope" name="scope">
          {scopes.map((scope) => (
            <option value={scope} selected={draftText(draft, "scope") === scope}>
              {tell(reader, `tok.scope.${scope}`)}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label class="t" for="subject">
          {tell(reader, "tok.subject")}
        </label>
        <input
          id="subject"
          name="subject"
          type="text"
          required
          maxlength={64}
          autocomplete="off"
          value={draftText(draft, "subject")}
        />
      </div>
      <div>
        <label class="t" for="name">
          {tell(reader, "tok.name")}
        </label>
        <input id="name" name="name" type="text" maxlength={64} autocomplete="off" value={draftText(draft, "name")} />
      </div>
      <div>
        <label class="t" for="expires">
          {tell(reader, "tok.expires")}
        </label>
        <select id="expires" name="expires">
          <option value="">{tell(reader, "tok.expires.renewed", { span: tellDays(reader, TOKEN_RENEW_MS) })}</option>
          {TOKEN_SPANS.map((span) => (
            <option value={span} selected={draftText(draft, "expires") === span}>
              {tellDays(reader, parseDuration(span))}
            </option>
          ))}
          <option value="never" selected={draftText(draft, "expires") === "never"}>
            {tell(reader, "tok.expires.never")}
          </option>
        </select>
      </div>
      <button type="submit">{tell(reader, "tok.issue.do")}</button>
    </form>
  );
}

function Lists({ view, tokens }: { view: TokensView; tokens: readonly Token[] }) {
  const { reader, own, part, ended } = view;
  const parts = [
    { key: "tok.list" as const, listed: tokens.filter((token) => !token.isSession) },
    { key: "tok.sessions" as const, listed: tokens.filter((token) => token.isSession) },
  ];
  return (
    <>
      {parts.map(({ key, listed }) => (
        <section>
          <h2>{tell(reader, key)}</h2>
          {listed.length === 0 ? <p class="quiet">{tell(reader, "tok.none")}</p> : null}
          <ul class="rows">
            {listed.map((token) => (
              <TokenRow reader={reader} token={token} isOwn={token.id === own.id} />
            ))}
          </ul>
        </section>
      ))}
      <Paging reader={reader} title={tell(reader, "tok.title")} part={part} address="/settings/tokens" />
      {ended > 0 ? <p class="quiet">{tell(reader, "tok.ended", { n: ended })}</p> : null}
    </>
  );
}

function TokenRow({ reader, token, isOwn }: { reader: PageReader; token: Token; isOwn: boolean }) {
  const short = token.id.slice(0, SHOWN_ID_CHARS);
  return (
    <li>
      <div>
        <p>
          <b>{makeVisible(token.subject)}</b> {tell(reader, `scope.${token.scope}`)}
          {token.name === undefined ? null : ` “${makeVisible(token.name)}”`}
          {isOwn ? ` (${tell(reader, "tok.own")})` : null}
        </p>
        <p class="quiet">
          <span class="mono">{short}</span> · {tell(reader, "tok.made")}{" "}
          <TimeSince reader={reader} at={token.createdAt} as="run.ago" />
          {token.maker === undefined ? null : ` ${tell(reader, "tok.maker", { name: makeVisible(token.maker) })}`}
          {token.usedAt === undefined ? null : (
            <>
              {" · "}
              {tell(reader, "tok.used")} <TimeSince reader={reader} at={token.usedAt} as="run.ago" />
            </>
          )}
          {token.expiresAt === undefined ? null : (
            <>
              {" · "}
              {tell(reader, "tok.until")} <Moment reader={reader} at={token.expiresAt} />
            </>
          )}
        </p>
      </div>
      <div class="run-acts">
        <details class="menu ends">
          <summary>
            {tell(reader, isOwn ? "settings.signOut" : "tok.revoke")} …<span class="unseen mono"> {short}</span>
          </summary>
          <form class="panel" data-plain method="post" action={`/settings/tokens/${token.id}/revoke`}>
            <input type="hidden" name="csrf" value={reader.csrf} />
            <p>{tell(reader, isOwn ? "tok.revoke.own" : "tok.revoke.about")}</p>
            <button class="bad" type="submit">
              {tell(reader, isOwn ? "settings.signOut" : "tok.revoke")}
              <span class="unseen mono"> {short}</span>
            </button>
          </form>
        </details>
      </div>
    </li>
  );
}
