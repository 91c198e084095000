import type { Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { DAY_MS } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import { draftText } from "../../web/parts/form-draft.ts";
import { readKeymap, writeKeymap } from "../../web/parts/keymap.ts";
import { PoliciesPage } from "../../web/pages/policies.tsx";
import { THEMES, tell } from "../../web/parts/page-reader.ts";
import { Settings, type SettingsView } from "../../web/pages/settings.tsx";
import { LANGUAGES } from "../../core/text/language.ts";
import type { SignedIn } from "../credential.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { readDraft } from "./form/read-draft.ts";
import { sendFramedPage } from "./send-page.tsx";
import { redirectTo } from "./redirect.ts";
import { KEYMAP_COOKIE, KEYS_COOKIE, LANGUAGE_COOKIE, THEME_COOKIE, readReader } from "./read/read-reader.ts";

/** Routes of the reader's settings and of the policies page. */
export function addSettings(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/settings", (context) => show(context, deps));
  pages.post("/settings", (context) => save(context, deps));
  pages.get("/settings/policies", async (context) => {
    const reader = await readReader(context, deps.engine);
    return sendFramedPage(context, deps, {
      reader,
      page: "settings",
      title: tell(reader, "pol.title"),
      main: <PoliciesPage reader={reader} rules={deps.rules} />,
    });
  });
}

async function show(context: PageCall, deps: PagesDeps, refused?: SettingsView["refused"]) {
  const reader = await readReader(context, deps.engine);
  const chosen = getCookie(context, LANGUAGE_COOKIE) ?? "";
  return sendFramedPage(context, deps, {
    reader,
    page: "settings",
    title: tell(reader, "settings.title"),
    status: refused ? 422 : 200,
    main: <Settings view={{ reader, chosen, refused }} />,
  });
}

async function save(context: PageCall, deps: PagesDeps) {
  const draft = await readDraft(context);
  const [language, keys] = [draftText(draft, "language"), draftText(draft, "keys")];
  const theme = THEMES.find((each) => each === (draftText(draft, "theme") || "auto"));
  const isKnown = language === "" || LANGUAGES.some((each) => each === language);
  if (!theme || !isKnown || (keys !== "on" && keys !== "off")) {
    throw new Refusal("bad_input", "These settings cannot be read", { fact: { is: "unreadable_form" } });
  }
  const read = readKeymap((key) => draftText(draft, `key.${key}`));
  if ("bad" in read) {
    return show(context, deps, { draft, key: read.bad, act: read.act });
  }
  keep(context, deps, LANGUAGE_COOKIE, language);
  keep(context, deps, THEME_COOKIE, theme === "auto" ? "" : theme);
  keep(context, deps, KEYMAP_COOKIE, writeKeymap(read.keymap));
  keep(context, deps, KEYS_COOKIE, keys);
  return redirectTo(context, "/settings");
}

/** Sets a cookie; an empty value, which is the default, deletes it. */
function keep(context: PageCall, { isSecure }: PagesDeps, name: string, value: string) {
  const maxAge = value === "" ? 0 : (366 * DAY_MS) / 1000;
  setCookie(context, name, value, { path: "/", sameSite: "Strict", secure: isSecure, maxAge });
}
