import { Command } from "./command.tsx";
import { type PageReader, tell } from "./page-reader.ts";
import type { MessageKey } from "../words/words.ts";

const TABS = [
  { name: "you", href: "/settings" },
  { name: "policies", href: "/settings/policies" },
  { name: "people", href: "/settings/people" },
  { name: "tokens", href: "/settings/tokens" },
  { name: "channels", href: "/channels" },
] as const satisfies ReadonlyArray<{ name: string; href: string }>;

/** One of the settings pages. */
export type SettingsTab = (typeof TABS)[number]["name"];

/** Tabs between the settings pages. */
export function SettingsTabs({ reader, tab }: { reader: PageReader; tab: SettingsTab }) {
  return (
    <nav class="tabs" aria-label={tell(reader, "tabs.label")}>
      {TABS.map(({ name, href }) => (
        <a href={href} aria-current={name === tab ? "page" : undefined}>
          {tell(reader, `tabs.${name}` satisfies MessageKey)}
        </a>
      ))}
    </nav>
  );
}

/** Tells readers without admin rights how to sign in as an admin. */
export function AdminOnly({
  reader,
  about = "page.admin",
}: {
  reader: PageReader;
  about?: "page.admin" | "tok.admin";
}) {
  if (reader.scope === "admin") return null;
  return (
    <div class="banner">
      <p>{tell(reader, about, { name: reader.id })}</p>
      <Command reader={reader} id="as-admin" text="askd login --admin" />
    </div>
  );
}
