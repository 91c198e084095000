import { z } from "zod";
import type { Values } from "../config/schema.ts";
import { channelsOf } from "../config/reach.ts";
import { readSecret } from "../config/secret.ts";
import type { ChannelState } from "../core/channel/delivery/delivery-status.ts";
import { Refusal } from "../core/refusal.ts";
import type { Finding } from "./finding.ts";
import type { DoctorContext } from "./doctor-context.ts";

const Table = z.record(z.string(), z.unknown());
type Channels = NonNullable<Values["channels"]>;
type Name = keyof Channels;

/** The required settings of each channel: at least one key of each list. */
const NEEDED: Readonly<Record<Name, ReadonlyArray<readonly string[]>>> = {
  github: [
    ["token_env", "token_file", "app_key_file"],
    ["repo", "repos", "issue"],
  ],
  slack: [
    ["token_env", "token_file"],
    ["app_token_env", "app_token_file", "signing_secret_env", "signing_secret_file"],
  ],
  chat: [["platform"], ["token_env", "token_file"]],
  email: [["from"], ["smtp"]],
  webhook: [["url", "url_env"]],
  ntfy: [["topic"]],
  telegram: [["token_env", "token_file"]],
  desktop: [],
  apprise: [["urls_env", "urls_file"]],
  terminal: [],
};
const NAMES: readonly Name[] = [
  "desktop",
  "github",
  "slack",
  "chat",
  "email",
  "webhook",
  "ntfy",
  "telegram",
  "apprise",
];

/** Checks that the required settings and secrets of channels exist, and that the last messages arrived. */
export function checkChannels(
  values: Values,
  { env }: Pick<DoctorContext, "env">,
  states: readonly ChannelState[] = [],
): Finding[] {
  const channels = channelsOf(values);
  const isSetUp = (name: Name): boolean => channels[name] !== undefined && !isOff(channels[name]);
  const off = NAMES.filter((name) => !isSetUp(name));
  return [
    ...(channels.terminal?.bell === false ? [] : [good("bell", "")]),
    ...NAMES.filter(isSetUp).flatMap((name) =>
      checkChannel(
        name,
        channels[name] ?? {},
        env,
        states.find((state) => state.name === name),
      ),
    ),
    { code: "channel_off", area: "channels", subject: off.join(", "), level: "off", text: "not set up" },
  ];
}

function checkChannel(
  name: Name,
  section: object,
  env: DoctorContext["env"],
  state: ChannelState | undefined,
): Finding[] {
  const missing = NEEDED[name].filter((keys) => !keys.some((key) => Object.hasOwn(section, key)));
  const wrong = [
    ...missing.map((keys): Finding => {
      const text = `names no ${keys[0]?.replace(/_env$/, "")}: nobody is told through it`;
      return problem(name, text, `askd config set --user channels.${name}.${keys[0]} <value>`);
    }),
    ...findSecrets(section, `channels.${name}`).flatMap((place) => checkSecret(name, place, env)),
  ];
  if (wrong.length > 0) return wrong;
  if (state?.outage) {
    const { person, since, why } = state.outage;
    const text = `has failed${person === undefined ? "" : ` for ${person}`} since ${since}: ${why}`;
    return [
      { code: "channel_failing", area: "channels", subject: name, level: "problem", text, fix: `askd test ${name}` },
    ];
  }
  const sent = state?.lastSentAt === undefined ? "nothing sent yet" : `last sent ${state.lastSentAt}`;
  return [good(name, [describe(section), ...(state ? [sent] : [])].join(" "))];
}

interface NamedSecret {
  variable: string | undefined;
  file: string | undefined;
  key: string;
}

/** The places of secrets that a section and its tables name. */
function findSecrets(section: object, path: string): NamedSecret[] {
  return Object.entries(section).flatMap(([name, value]): NamedSecret[] => {
    const key = `${path}.${name}`;
    const table = Table.safeParse(value);
    if (table.success) return findSecrets(table.data, key);
    if (typeof value !== "string") return [];
    if (name.endsWith("_env")) return [{ variable: value, file: undefined, key }];
    // The certificate of an authority is public.
    return name.endsWith("_file") && name !== "ca_file" ? [{ variable: undefined, file: value, key }] : [];
  });
}

function checkSecret(name: Name, place: NamedSecret, env: DoctorContext["env"]): Finding[] {
  try {
    readSecret(place, env);
    return [];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [problem(name, `${error.message}: nobody is told through it`, error.hint)];
  }
}

function problem(subject: string, text: string, fix: string | undefined): Finding {
  return {
    code: "channel_credential",
    area: "channels",
    subject,
    level: "problem",
    text,
    fix: fix?.replace(/^Type: /, ""),
  };
}

function good(subject: string, text: string): Finding {
  return { code: "channel", area: "channels", subject, level: "ok", text };
}

/** The settings of a section that show its target: a mode, a channel, an address. */
function describe(section: object): string {
  const shown = Object.entries(section).flatMap(([name, value]) => {
    if (typeof value !== "string" || /_(env|file)$/.test(name)) return name.startsWith("token") ? ["token"] : [];
    return [name === "url" ? hostOf(value) : value];
  });
  return shown.length > 0 ? `(${shown.join(", ")})` : "";
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

function isOff(section: object): boolean {
  return "enabled" in section && section.enabled === false;
}
