import { Command } from "./command.tsx";
import { type Reader, tell } from "./reader.ts";
import type { Key } from "../words/words.ts";

const TABS = [
  { name: "you", href: "/settings" },
  { name: "policies", href: "/settings/policies" },
  { name: "people", href: "/settings/people" },
  { name: "tokens", href: "/settings/tokens" },
  { name: "channels", href: "/channels" },
] as const satisfies ReadonlyArray<{ name: string; href: string }>;

/** One of the pages of the settings. */
export type SettingsTab = (typeof TABS)[number]["name"];

/** What the pages of the settings have in common: the way from one to the other. */
export function SettingsTabs({ reader, tab }: { reader: Reader; tab: SettingsTab }) {
  return (
    <nav class="tabs" aria-label={tell(reader, "tabs.label")}>
      {TABS.map(({ name, href }) => (
        <a href={href} aria-current={name === tab ? "page" : undefined}>
          {tell(reader, `tabs.${name}` satisfies Key)}
        </a>
      ))}
    </nav>
  );
}

/** Says to somebody who may not change a page how to be somebody who may. */
export function AdminOnly({ reader, about = "page.admin" }: { reader: Reader; about?: "page.admin" | "tok.admin" }) {
  if (reader.scope === "admin") return null;
  return (
    <div class="banner">
      <p>{tell(reader, about, { name: reader.id })}</p>
      <Command reader={reader} id="as-admin" text="askd login --admin" />
    </div>
  );
}
