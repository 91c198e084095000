import { makeVisible } from "../../core/text/visible.ts";
import { type FormDraft, draftText } from "../parts/form-draft.ts";
import { CHANGEABLE_KEYS } from "../parts/keymap.ts";
import { type PageReader, THEMES, tell } from "../parts/page-reader.ts";
import { SettingsTabs } from "../parts/settings-tabs.tsx";
import { LANGUAGES } from "../../core/text/language.ts";

const OWN_NAMES = { en: "English", de: "Deutsch" } as const;

export interface SettingsView {
  reader: PageReader;
  /** The chosen language; empty if the browser decides. */
  chosen: string;
  /** An invalid key, its action, and the submitted form. */
  refused?: { key: string; act: string; draft: FormDraft } | undefined;
}

const PROBLEM = "key-problem";

/** The reader's own settings. */
export function Settings({ view }: { view: SettingsView }) {
  const { reader, refused } = view;
  const hasKeys = refused ? draftText(refused.draft, "keys") === "on" : reader.hasKeys;
  return (
    <main id="main" class="page">
      <h1>{tell(reader, "settings.title")}</h1>
      <SettingsTabs reader={reader} tab="you" />
      <form data-plain method="post" action="/settings">
        <input type="hidden" name="csrf" value={reader.csrf} />
        <Looks view={view} />
        <fieldset>
          <legend>{tell(reader, "settings.keys")}</legend>
          <p class="quiet">{tell(reader, "settings.keysAbout")}</p>
          <label class="choice">
            <input type="radio" name="keys" value="on" checked={hasKeys} /> {tell(reader, "settings.keysOn")}
          </label>
          <label class="choice">
            <input type="radio" name="keys" value="off" checked={!hasKeys} /> {tell(reader, "settings.keysOff")}
          </label>
        </fieldset>
        <Keys view={view} />
        <button class="p" type="submit">
          {tell(reader, "settings.save")}
        </button>
      </form>
      <form method="post" action="/logout" class="apart">
        <p class="quiet">{tell(reader, "me", { name: reader.id })}</p>
        <button type="submit">{tell(reader, "settings.signOut")}</button>
      </form>
    </main>
  );
}

function Looks({ view: { reader, chosen, refused } }: { view: SettingsView }) {
  const set = refused
    ? { theme: draftText(refused.draft, "theme"), language: draftText(refused.draft, "language") }
    : { theme: reader.theme, language: chosen };
  return (
    <div class="fields">
      <div>
        <label class="t" for="theme">
          {tell(reader, "settings.theme")}
        </label>
        <select id="theme" name="theme">
          {THEMES.map((theme) => (
            <option value={theme} selected={set.theme === theme}>
              {tell(reader, `settings.theme.${theme}`)}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label class="t" for="language">
          {tell(reader, "settings.language")}
        </label>
        <select id="language" name="language">
          <option value="">{tell(reader, "settings.auto")}</option>
          {LANGUAGES.map((language) => (
            <option value={language} lang={language} selected={set.language === language}>
              {OWN_NAMES[language]}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}

function Keys({ view: { reader, refused } }: { view: SettingsView }) {
  const about = CHANGEABLE_KEYS.find(([key]) => key === refused?.act)?.[1];
  return (
    <details class="fold" open={refused !== undefined || Object.keys(reader.keymap).length > 0}>
      <summary>{tell(reader, "settings.keymap")}</summary>
      <p class="quiet">{tell(reader, "settings.keymap.about")}</p>
      {refused && about ? (
        <p class="banner bad" role="alert" id={PROBLEM}>
          {tell(reader, "settings.keymap.bad", { key: makeVisible(refused.key), act: tell(reader, about) })}
        </p>
      ) : null}
      <div class="keymap">
        {CHANGEABLE_KEYS.map(([key, about]) => (
          <label>
            {tell(reader, about)}
            <input
              name={`key.${key}`}
              type="text"
              maxlength={1}
              autocomplete="off"
              autocapitalize="off"
              value={refused ? draftText(refused.draft, `key.${key}`) : (reader.keymap[key] ?? "")}
              {...(key === refused?.act && { "aria-invalid": "true", "aria-describedby": PROBLEM, autofocus: true })}
              placeholder={key}
            />
          </label>
        ))}
      </div>
    </details>
  );
}
