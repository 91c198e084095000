import { CHANGEABLE } from "./keymap.ts";
import { type Reader, THEMES, tell } from "./reader.ts";
import { SettingsTabs } from "./settings-tabs.tsx";
import { LANGUAGES } from "./words.ts";

const OWN_NAMES = { en: "English", de: "Deutsch" } as const;

export interface SettingsView {
  reader: Reader;
  /** The language that the reader chose, if any. */
  chosen: string | undefined;
  /** Why the form was not taken. */
  problem?: string | undefined;
}

/** What a reader can set for themselves. */
export function Settings({ view: { reader, chosen, problem } }: { view: SettingsView }) {
  return (
    <main id="main" class="page">
      <h1>{tell(reader, "settings.title")}</h1>
      <SettingsTabs reader={reader} tab="you" />
      {problem === undefined ? null : (
        <p class="banner bad" role="alert">
          {problem}
        </p>
      )}
      <form data-plain method="post" action="/settings">
        <input type="hidden" name="csrf" value={reader.csrf} />
        <Looks reader={reader} chosen={chosen} />
        <fieldset>
          <legend>{tell(reader, "settings.keys")}</legend>
          <p class="quiet">{tell(reader, "settings.keysAbout")}</p>
          <label class="choice">
            <input type="radio" name="keys" value="on" checked={reader.hasKeys} /> {tell(reader, "settings.keysOn")}
          </label>
          <label class="choice">
            <input type="radio" name="keys" value="off" checked={!reader.hasKeys} /> {tell(reader, "settings.keysOff")}
          </label>
        </fieldset>
        <Keys reader={reader} isOpen={problem !== undefined} />
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

function Looks({ reader, chosen }: Pick<SettingsView, "reader" | "chosen">) {
  return (
    <div class="fields">
      <div>
        <label class="t" for="theme">
          {tell(reader, "settings.theme")}
        </label>
        <select id="theme" name="theme">
          {THEMES.map((theme) => (
            <option value={theme} selected={reader.theme === theme}>
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
            <option value={language} lang={language} selected={chosen === language}>
              {OWN_NAMES[language]}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}

function Keys({ reader, isOpen }: { reader: Reader; isOpen: boolean }) {
  return (
    <details class="fold" open={isOpen || Object.keys(reader.keymap).length > 0}>
      <summary>{tell(reader, "settings.keymap")}</summary>
      <p class="quiet">{tell(reader, "settings.keymap.about")}</p>
      <div class="keymap">
        {CHANGEABLE.map(([key, about]) => (
          <label>
            {tell(reader, about)}
            <input
              name={`key.${key}`}
              type="text"
              maxlength={1}
              autocomplete="off"
              autocapitalize="off"
              value={reader.keymap[key] ?? ""}
              placeholder={key}
            />
          </label>
        ))}
      </div>
    </details>
  );
}
