import type { Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { DAY_MS } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import { draftedText } from "../../web/parts/form-draft.ts";
import { readKeymap, writeKeymap } from "../../web/parts/keymap.ts";
import { PoliciesPage } from "../../web/pages/policies.tsx";
import { THEMES, tell } from "../../web/parts/reader.ts";
import { Settings, type SettingsView } from "../../web/pages/settings.tsx";
import { LANGUAGES } from "../../web/words/words.ts";
import type { Signed } from "../credential.ts";
import type { Call, PagesDeps } from "./deps.ts";
import { readDraft } from "./form/read-draft.ts";
import { sendFramed } from "./send-framed-page.tsx";
import { goTo } from "./redirect.ts";
import { KEYMAP_COOKIE, KEYS_COOKIE, LANGUAGE_COOKIE, THEME_COOKIE, readReader } from "./read/read-reader.ts";

/** What readers set for themselves, and what is set for everybody. */
export function addSettings(pages: Hono<Signed>, deps: PagesDeps): void {
  pages.get("/settings", (context) => show(context, deps));
  pages.post("/settings", (context) => save(context, deps));
  pages.get("/settings/policies", async (context) => {
    const reader = await readReader(context, deps.engine);
    return sendFramed(context, deps, {
      ...{ reader, page: "settings", title: tell(reader, "pol.title") },
      main: <PoliciesPage reader={reader} rules={deps.rules} />,
    });
  });
}

async function show(context: Call, deps: PagesDeps, refused?: SettingsView["refused"]): Promise<Response> {
  const reader = await readReader(context, deps.engine);
  const chosen = getCookie(context, LANGUAGE_COOKIE) ?? "";
  return sendFramed(context, deps, {
    ...{ reader, page: "settings", title: tell(reader, "settings.title") },
    ...{ status: refused ? 422 : 200, main: <Settings view={{ reader, chosen, refused }} /> },
  });
}

async function save(context: Call, deps: PagesDeps): Promise<Response> {
  const draft = await readDraft(context);
  const [language, keys] = [draftedText(draft, "language"), draftedText(draft, "keys")];
  const theme = THEMES.find((each) => each === (draftedText(draft, "theme") || "auto"));
  const isKnown = language === "" || LANGUAGES.some((each) => each === language);
  if (!theme || !isKnown || (keys !== "on" && keys !== "off")) {
    throw new Refusal("bad_input", "These settings cannot be read", { fact: { is: "unreadable_form" } });
  }
  const read = readKeymap((key) => draftedText(draft, `key.${key}`));
  if ("bad" in read) {
    return show(context, deps, { draft, key: read.bad, act: read.act });
  }
  keep(context, deps, LANGUAGE_COOKIE, language);
  keep(context, deps, THEME_COOKIE, theme === "auto" ? "" : theme);
  keep(context, deps, KEYMAP_COOKIE, writeKeymap(read.keymap));
  keep(context, deps, KEYS_COOKIE, keys);
  return goTo(context, "/settings");
}

/** What is as it would be anyway is forgotten. */
function keep(context: Call, { isSecure }: PagesDeps, name: string, value: string): void {
  const maxAge = value === "" ? 0 : (366 * DAY_MS) / 1000;
  setCookie(context, name, value, { path: "/", sameSite: "Strict", secure: isSecure, maxAge });
}
