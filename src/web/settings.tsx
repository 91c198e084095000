import { type Reader, tell } from "./reader.ts";
import { LANGUAGES } from "./words.ts";

const OWN_NAMES = { en: "English", de: "Deutsch" } as const;

export interface SettingsView {
  reader: Reader;
  /** The language that the reader chose, if any. */
  chosen: string | undefined;
}

/** What a reader can set for themselves. */
export function Settings({ view: { reader, chosen } }: { view: SettingsView }) {
  return (
    <main id="main" class="page">
      <h1>{tell(reader, "settings.title")}</h1>
      <form method="post" action="/settings">
        <input type="hidden" name="csrf" value={reader.csrf} />
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
