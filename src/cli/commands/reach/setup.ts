import { randomBytes } from "node:crypto";
import { MINUTE_MS } from "../../../core/instant.ts";
import { Refusal } from "../../../core/refusal.ts";
import { requirePerson, whoManages } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { Interrupted } from "../../terminal/interrupted.ts";
import { whileWorking } from "../../terminal/pause.ts";
import { oneLine } from "../../view/sanitise.ts";
import { setUserSettings } from "../setup/config.ts";
import { getMailProvider } from "./mail-provider.ts";
import { keepSecret, readSecretLine, say } from "./secret-input.ts";
import { sayGithubNext, setUpGithub, waitForApp } from "./setup-github.ts";
import { keepChatAccount, setUpChat } from "./setup-chat.ts";
import { keepSlackAccount, setUpSlack, slackManifest } from "./setup-slack.ts";
import { tryChannel } from "./try-channel.ts";

const TOPIC_BYTES = 16;
const SECRET_BYTES = 24;
const PAIRING_MS = 10 * MINUTE_MS;
const LOOK_MS = 500;

const flags = {
  server: { type: "string", value: "url", about: "The server of the service, if not the public one" },
  "token-file": { type: "string", value: "file", about: "The file with the token or addresses, readable by you only" },
  "reply-token-file": {
    type: "string",
    value: "file",
    about: "The file with the token in the buttons of ntfy, which may only write to the reply topic",
  },
  smtp: { type: "string", value: "host:port", about: "The server that mail is sent through" },
  imap: { type: "string", value: "host:port", about: "The server that replies are read from" },
  "password-file": {
    type: "string",
    value: "file",
    about: "The file with the mailbox's password, readable by you only",
  },
  to: { type: "string", value: "address", about: "Your own address, if questions come from another one" },
  authserv: { type: "string", value: "name", about: "The name in the Authentication-Results of your mail server" },
  pair: { type: "string", value: "person", about: "Only print a link that pairs this person's Telegram account" },
  "app-token-file": { type: "string", value: "file", about: "The file with Slack's app-level token" },
  member: { type: "string", value: "id", about: "Your own account there: in Slack the member ID, like U024BE7LH" },
  "secret-file": {
    type: "string",
    value: "file",
    about: "The file with the secret that signs requests of a chat service, or of Slack with --http",
  },
  "app-id": { type: "string", value: "id", about: "The application, project or phone number of a chat service" },
  tenant: { type: "string", value: "id", about: "The id of your organisation, for Teams" },
  http: { type: "boolean", about: "Slack or Discord posts to server.public_url in place of a connection of ours" },
  "public-key": { type: "string", value: "key", about: "The public key of the Discord application, with --http" },
  app: { type: "boolean", about: "Make a GitHub App in place of a token: a page on this machine leads to GitHub" },
  organisation: { type: "string", value: "name", about: "The organisation that owns the GitHub App, if not you" },
  manifest: { type: "boolean", about: "Only print the manifest of the Slack app" },
  "no-test": { type: "boolean", about: "Write the settings and send nothing" },
} as const satisfies Flags;
export type SetupFlags = Values<typeof flags>;

export const command: Command<typeof flags> = {
  usage:
    "setup <desktop|email|github|ntfy|slack|telegram|chat|webhook|apprise> [<address>|<repository>|<channel>|<platform>|<url>]",
  flags,
  examples: ["askd setup ntfy", "askd setup desktop", "askd setup email ada@example.com", "askd setup slack '#agents'"],
  async run(args, context) {
    const [name, ...words] = args.positionals;
    const setUp = name === undefined || !Object.hasOwn(SETUPS, name) ? undefined : SETUPS[name];
    if (!name || !setUp) throw wrongUsage(`Name a channel: ${Object.keys(SETUPS).join(", ")}`, command.usage);
    if (args.flags.pair !== undefined) return printPairing(args.flags.pair, context);
    if (args.flags.manifest) return printManifest(args.flags, context);
    await requirePerson("change the settings", context);
    const pairs = await setUp(words, args.flags, context);
    await setUserSettings(pairs, context);
    say(context, `✓ [channels.${name}] is in ${context.place.configFile}`);
    if (args.flags["no-test"]) return 0;
    const next = await context.reload();
    if (name === "telegram") await pairTelegram(next);
    if (name === "chat") await keepChatAccount(args.flags.member, next);
    if (name === "slack") await keepSlackAccount(args.flags.member, next);
    if (name === "github" && args.flags.app) await waitForApp(next);
    if (name === "github" && next.config.values.channels?.github?.issue === undefined) return sayGithubNext(next);
    if (name === "email") await keepAddress(args.flags.to ?? words[0] ?? "", next);
    return tryChannel(name, next);
  },
};

export type Pairs = Array<[key: string, value: string]>;
type Setup = (words: readonly string[], flags: SetupFlags, context: Context) => Promise<Pairs>;

const SETUPS: Readonly<Record<string, Setup>> = {
  chat: setUpChat,
  desktop: setUpDesktop,
  email: setUpEmail,
  github: setUpGithub,
  ntfy: setUpNtfy,
  slack: setUpSlack,
  telegram: setUpTelegram,
  webhook: setUpWebhook,
  apprise: setUpApprise,
};

/** The person who sits at this machine answers there. */
async function setUpDesktop(_words: readonly string[], _flags: SetupFlags, context: Context): Promise<Pairs> {
  await (await context.openChannel("desktop")).verify();
  return [
    ["channels.desktop.enabled", "true"],
    ["channels.desktop.person", context.user],
  ];
}

/** The addresses of apprise hold secrets: they come from stdin or a file, never from the command line. */
async function setUpApprise(_words: readonly string[], given: SetupFlags, context: Context): Promise<Pairs> {
  const file = given["token-file"];
  if (file !== undefined) return [["channels.apprise.urls_file", file]];
  say(context, "Paste the addresses of apprise, such as mailto://…, separated by spaces:");
  const urls = await readSecretLine(context);
  if (!/^[a-z][a-z0-9+.-]*:\/\/\S/i.test(urls)) {
    throw new Refusal("bad_input", "This is no address of apprise", { hint: "See: apprise --details" });
  }
  return [["channels.apprise.urls_file", await keepSecret("apprise-urls", urls, context)]];
}

/** On ntfy.sh the name of a topic is its only secret, so both are random. */
function setUpNtfy(words: readonly string[], given: SetupFlags, context: Context): Promise<Pairs> {
  const { server: url, "token-file": file, "reply-token-file": replyFile } = given;
  if (words.length > 0) throw wrongUsage("The topics are made, not named", "setup ntfy [--server <url>]");
  if (file === undefined && replyFile !== undefined)
    throw wrongUsage("A token in the buttons needs one of askd itself: --token-file", "setup ntfy --token-file <file>");
  const topic = `askd-q-${randomBytes(TOPIC_BYTES).toString("hex")}`;
  const replyTopic = `askd-a-${randomBytes(TOPIC_BYTES).toString("hex")}`;
  say(context, `In the ntfy app, subscribe to: ${topic}`);
  say(context, `${url ?? "https://ntfy.sh"}/${topic}`);
  if (file !== undefined) {
    say(context, `The token needs the rights to write to ${topic} and to read ${replyTopic}`);
    say(
      context,
      `${replyFile ? "The token in the buttons needs" : "Everybody needs"} the right to write to ${replyTopic}`,
    );
  }
  const pairs: Array<[key: string, value: string | undefined]> = [
    ["channels.ntfy.url", url],
    ["channels.ntfy.topic", topic],
    ["channels.ntfy.reply_topic", replyTopic],
    ["channels.ntfy.person", context.user],
    ["channels.ntfy.token_file", file],
    ["channels.ntfy.reply_token_file", replyFile],
  ];
  return Promise.resolve(pairs.flatMap(([key, value]): Pairs => (value === undefined ? [] : [[key, value]])));
}

async function setUpWebhook(words: readonly string[], _flags: SetupFlags, context: Context): Promise<Pairs> {
  const [url, ...more] = words;
  if (url === undefined || more.length > 0) throw wrongUsage("Name the address to post to", "setup webhook <url>");
  await requirePostable(url, context);
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
  const file = await keepSecret("webhook-secret", secret, context);
  say(context, `The secret that signs messages is in ${file}; give it to the receiver`);
  return [
    ["channels.webhook.url", url],
    ["channels.webhook.secret_file", file],
  ];
}

/** Refuses an address that nothing would ever be sent to, before anything is written. */
async function requirePostable(url: string, { rules }: Context) {
  const { findProblem } = await import("../../../engine/outbound/public-address.ts");
  if (!URL.canParse(url)) throw new Refusal("bad_input", "This is no address", { hint: "Give one like https://…" });
  const problem = findProblem(new URL(url), { allowLoopback: rules.callbackLoopback });
  if (problem === undefined) return;
  throw new Refusal("bad_input", `Nothing would be sent there: ${problem}`, {
    hint: "Give a public https address; for a program on this machine first type: askd config set --user callbacks.allow_loopback true",
  });
}

async function setUpTelegram(_words: readonly string[], given: SetupFlags, context: Context): Promise<Pairs> {
  const file = given["token-file"] ?? (await keepSecret("telegram-token", await readToken(context), context));
  return [
    ["channels.telegram.token_file", file],
    ...(given.server === undefined ? [] : ([["channels.telegram.url", given.server]] as Pairs)),
  ];
}

async function setUpEmail(words: readonly string[], given: SetupFlags, context: Context): Promise<Pairs> {
  const [from, ...more] = words;
  if (from === undefined || more.length > 0 || !/^[^\s@<>]+@[^\s@<>]+$/.test(from))
    throw wrongUsage("Name the address that questions come from", "setup email <address>");
  const provider = getMailProvider(from, given);
  if (provider.about !== undefined) say(context, provider.about);
  const file =
    given["password-file"] ?? (await keepSecret("email-password", await readPassword(from, context), context));
  const { smtp, imap, authserv } = provider;
  return [
    ["channels.email.from", from],
    ["channels.email.smtp.host", smtp.host],
    ["channels.email.smtp.port", String(smtp.port)],
    ["channels.email.smtp.user", from],
    ["channels.email.smtp.password_file", file],
    ["channels.email.imap.host", imap.host],
    ["channels.email.imap.port", String(imap.port)],
    ...(authserv === undefined ? [] : ([["channels.email.authserv", authserv]] as Pairs)),
    ...(provider.removesForged ? ([["channels.email.authserv_removes_forged", "true"]] as Pairs) : []),
    ...(provider.hasTags ? [] : ([["channels.email.plus_addressing", "false"]] as Pairs)),
  ];
}

/** A password comes from stdin, never from the command line, where others could read it. */
async function readPassword(from: string, context: Context) {
  say(context, `Paste the password of ${oneLine(from)} for mail programs:`);
  const password = await readSecretLine(context);
  if (password !== "") return password;
  throw new Refusal("bad_input", "There is no password", { hint: "Name its file: --password-file <file>" });
}

/** Puts the user's own address on the list of people, so that questions come there. */
async function keepAddress(email: string, context: Context) {
  const engine = await context.engine({ isDelivering: true });
  const known = await engine.findPerson(context.user);
  if (known?.email?.toLowerCase() === email.toLowerCase()) return;
  const person = known ?? { id: context.user, version: 0, groups: [] };
  await engine.putPerson({ ...person, email }, await whoManages(engine, context));
  say(context, `✓ Questions for ${context.user} go to ${oneLine(email)}`);
}

/** The token of a bot comes from stdin, never from the command line, where others could read it. */
async function readToken(context: Context) {
  say(context, "In Telegram, send /newbot to @BotFather, choose a name, and paste the token here:");
  const token = await readSecretLine(context);
  if (/^\d+:[\w-]{20,}$/.test(token)) return token;
  throw new Refusal("bad_input", "This is not the token of a bot", { hint: "It looks like 123456:ABC-DEF…" });
}

function printManifest({ http = false }: SetupFlags, context: Context): number {
  context.stdout.write(`${JSON.stringify(slackManifest({ isHttp: http }, context), undefined, 2)}\n`);
  return 0;
}

/** Gives this machine's user a link to pair their account, and waits until they have opened it. */
async function pairTelegram(context: Context) {
  const engine = await context.engine({ isDelivering: true });
  const link = await issuePairing(context.user, context);
  say(context, `Open this link on your phone within 10 minutes: ${link}`);
  const signal = context.interrupt();
  await whileWorking(engine, async () => {
    for (let waitedMs = 0; waitedMs < PAIRING_MS && !signal.aborted; waitedMs += LOOK_MS) {
      if ((await engine.findPerson(context.user))?.telegram !== undefined) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    if (signal.aborted) throw new Interrupted();
    throw new Refusal("bad_input", "Nobody opened the link", { hint: "Try again: askd setup telegram" });
  });
  say(context, `✓ Your Telegram account is paired as ${context.user}`);
}

/** Prints a link for another person; whoever listens pairs their account when they open it. */
async function printPairing(person: string, context: Context): Promise<number> {
  context.stdout.write(`${await issuePairing(person, context)}\n`);
  say(context, `Give it to ${oneLine(person)}. It works once, for 10 minutes, while a server or worker runs.`);
  return 0;
}

async function issuePairing(person: string, context: Context): Promise<string> {
  const bot = (await (await context.openChannel("telegram")).verify()).replace(/^@/, "");
  const engine = await context.engine({ isDelivering: true });
  const by = await whoManages(engine, context);
  const { text: code } = await engine.issueToken({ scope: "login", subject: person, grants: "telegram" }, by);
  return `https://t.me/${oneLine(bot)}?start=${code}`;
}
