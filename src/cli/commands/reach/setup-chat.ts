import { CHAT_PLATFORMS, type ChatPlatform, installCommand } from "../../../core/channel/chat-platform.ts";
import { Refusal } from "../../../core/refusal.ts";
import { whoManages } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../view/sanitise.ts";
import { keepSecret, readSecretLine, say } from "./secret-input.ts";
import type { Pairs, SetupFlags } from "./setup.ts";

const USAGE = `setup chat <${CHAT_PLATFORMS.join("|")}> [<channel>]`;

/** The steps on the pages of a service, and the names of the values that they show. */
interface Steps {
  pages: readonly string[];
  token: string;
  /** The id of the application, or of whatever the service calls it. */
  appId?: string;
  /** The secret that signs requests to us. */
  secret?: string;
  needsTenant?: boolean;
  /** The place that all see, and the account of a person. */
  channel: string;
  account: string;
}

const STEPS: Readonly<Record<ChatPlatform, Steps>> = {
  discord: {
    pages: [
      "Open https://discord.com/developers/applications, New Application. Its Application ID is --app-id",
      "Bot: turn on Message Content Intent. OAuth2, URL Generator: bot, Send Messages; open that address to invite it",
    ],
    token: "the token of the bot (Bot, Reset Token)",
    appId: "the Application ID",
    channel: "<server id>/<channel id> (turn on Developer Mode, right click, Copy ID)",
    account: "your user ID (right click on your name, Copy User ID)",
  },
  teams: {
    pages: [
      "Make a bot at https://dev.teams.microsoft.com/bots; its address is https://<server.public_url>/hooks/chat",
      "Add it to an app with the scopes personal and team, and install that app in the team",
    ],
    token: "a client secret of the bot",
    appId: "the Bot ID",
    needsTenant: true,
    channel: "the id of the channel (19:…@thread.tacv2, from Get link to channel)",
    account: "your id there (29:…); send the bot a message, and it says so",
  },
  gchat: {
    pages: [
      "Open https://console.cloud.google.com, turn on the Google Chat API, and set its App URL to https://<server.public_url>/hooks/chat",
    ],
    token: "the JSON of a service account's key, on one line",
    appId: "the project number",
    channel: "spaces/<id> (from the address of the space)",
    account: "users/<id>",
  },
  whatsapp: {
    pages: [
      "Open https://developers.facebook.com/apps, add WhatsApp, and set its callback address to https://<server.public_url>/hooks/chat; the verify token is the app secret",
    ],
    token: "the access token of a system user",
    appId: "the phone number ID",
    secret: "the app secret",
    channel: "none: WhatsApp only has chats with one person",
    account: "your number, digits only, like 4917012345678",
  },
  linear: {
    pages: [
      "Open Linear's settings, API: make a webhook for comments to https://<server.public_url>/hooks/chat, and a personal key",
    ],
    token: "the personal API key",
    secret: "the signing secret of the webhook",
    channel: "the id of the issue that questions go to",
    account: "your id in Linear",
  },
};

/** Leads through the pages of a chat service, and takes what they show. */
export async function setUpChat(words: readonly string[], given: SetupFlags, context: Context): Promise<Pairs> {
  const [name = "", channel, ...more] = words;
  const platform = CHAT_PLATFORMS.find((each) => each === name);
  if (!platform || more.length > 0) throw wrongUsage(`Name a service: ${CHAT_PLATFORMS.join(", ")}`, USAGE);
  const steps = STEPS[platform];
  const isHttp = platform !== "discord" || given.http === true;
  say(context, `Install its adapter beside askd: ${installCommand(platform)}`);
  for (const page of steps.pages) say(context, page);
  requireGiven(platform, given, { isHttp, publicUrl: context.rules.publicUrl });
  const token = given["token-file"] ?? (await keepSecret("chat-token", await read(steps.token, context), context));
  const secret =
    steps.secret === undefined
      ? undefined
      : (given["secret-file"] ?? (await keepSecret("chat-secret", await read(steps.secret, context), context)));
  const settings = {
    platform,
    ...(platform === "discord" && { mode: isHttp ? "http" : "connection" }),
    token_file: token,
    secret_file: secret,
    app_id: given["app-id"],
    tenant_id: given.tenant,
    public_key: given["public-key"],
    channel,
    url: given.server,
  };
  if (channel === undefined)
    say(context, `Without a channel each person gets direct messages. One is ${steps.channel}`);
  return Object.entries(settings).flatMap(([key, value]): Pairs =>
    value === undefined ? [] : [[`channels.chat.${key}`, value]],
  );
}

function requireGiven(
  platform: ChatPlatform,
  given: SetupFlags,
  { isHttp, publicUrl }: { isHttp: boolean; publicUrl: string | undefined },
) {
  const { appId, needsTenant } = STEPS[platform];
  if (appId !== undefined && given["app-id"] === undefined) {
    throw new Refusal("bad_input", `The setup needs ${appId}`, { hint: `Add --app-id <id>` });
  }
  if (needsTenant && given.tenant === undefined) {
    throw new Refusal("bad_input", "The setup needs the id of your organisation", { hint: "Add --tenant <id>" });
  }
  if (platform === "discord" && isHttp && given["public-key"] === undefined) {
    throw new Refusal("bad_input", "The setup needs the public key of the application", {
      hint: "Add --public-key <key>",
    });
  }
  if (isHttp && publicUrl === undefined) {
    throw new Refusal("bad_input", "The service has to reach this server, and it has no public address", {
      hint: "Type: askd config set --user server.public_url https://…",
    });
  }
}

async function read(what: string, context: Context): Promise<string> {
  say(context, `Paste ${what}:`);
  const typed = await readSecretLine(context);
  if (typed !== "") return typed;
  throw new Refusal("bad_input", `There is nothing where ${what} should be`, {
    hint: "Name its file: --token-file <file>",
  });
}

/** Puts the user's own account on the list of people: only listed people can answer. */
export async function keepChatAccount(given: string | undefined, context: Context): Promise<void> {
  const engine = await context.engine({ isDelivering: true });
  const known = await engine.findPerson(context.user);
  if (given === undefined && known?.chat !== undefined) return;
  const { account } = STEPS[context.config.values.channels?.chat?.platform ?? "discord"];
  if (given === undefined) {
    say(context, `To answer there, type: ${context.program} user add <name> --chat <id>; the id is ${account}`);
    return;
  }
  const person = known ?? { id: context.user, version: 0, groups: [] };
  await engine.putPerson({ ...person, chat: given }, await whoManages(engine, context));
  say(context, `✓ ${context.user} answers there as ${oneLine(given)}`);
}
