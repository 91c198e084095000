import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import type { Engine } from "../../../engine/engine.ts";
import { parseKeymap } from "../../../web/parts/keymap.ts";
import { type PageReader, THEMES, isZone } from "../../../web/parts/page-reader.ts";
import type { Language } from "../../../core/text/language.ts";
import { pickLanguage } from "../../../web/words/words.ts";
import type { SignedIn } from "../../credential.ts";
import { csrfOf } from "../session.ts";
import type { PageCall } from "../deps.ts";

export const LANGUAGE_COOKIE = "askd_language";
export const KEYS_COOKIE = "askd_keys";
export const THEME_COOKIE = "askd_theme";
export const KEYMAP_COOKIE = "askd_keymap";
const ZONE_COOKIE = "askd_zone";

/** The language of a request, signed in or not. */
export function languageOf(context: Context): Language {
  return pickLanguage(getCookie(context, LANGUAGE_COOKIE), context.req.header("accept-language"));
}

/** Reads who sent the request, with their settings and time zone. */
export async function readReader(context: Context<SignedIn>, engine: Engine): Promise<PageReader> {
  const { id, scope } = context.get("actor");
  const zone = decodeURIComponent(getCookie(context, ZONE_COOKIE) ?? "");
  const person = await engine.findPerson(id);
  return {
    id,
    scope,
    groups: person?.groups ?? [],
    language: languageOf(context),
    zone: isZone(zone) ? zone : undefined,
    now: await engine.now(),
    theme: THEMES.find((theme) => theme === getCookie(context, THEME_COOKIE)) ?? "auto",
    keymap: parseKeymap(getCookie(context, KEYMAP_COOKIE) ?? ""),
    hasKeys: getCookie(context, KEYS_COOKIE) !== "off",
    csrf: csrfOf(context),
  };
}

/** Reads the offset of a page of a list from the address. */
export function readPageOffset(context: PageCall): number | undefined {
  const from = Number(context.req.query("from") ?? Number.NaN);
  return Number.isSafeInteger(from) && from >= 0 ? from : undefined;
}
