import { Refusal } from "../../../core/refusal.ts";
import { whoManages } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../view/sanitise.ts";
import { keepSecret, readSecretLine, readTypedLine, say } from "./secret-input.ts";
import type { Pairs, SetupFlags } from "./setup.ts";

const BOT_TOKEN = /^xoxb-[\w-]{10,}$/;
const APP_TOKEN = /^xapp-[\w-]{10,}$/;
const SIGNING_SECRET = /^[0-9a-f]{32}$/;
const MEMBER = /^[UW][A-Z0-9]{4,}$/;

/** The app that a workspace makes for itself: its rights, its command, and how it reaches askd. */
export function slackManifest({ isHttp }: { isHttp: boolean }, { rules: { publicUrl } }: Pick<Context, "rules">) {
  if (isHttp && publicUrl === undefined) {
    throw new Refusal("bad_input", "Slack has to reach this server, and it has no public address", {
      hint: "Type: askd config set --user server.public_url https://…",
    });
  }
  const url = isHttp ? `${(publicUrl ?? "").replace(/\/+$/, "")}/hooks/slack` : undefined;
  return {
    _metadata: { major_version: 1 },
    display_information: {
      name: "askd",
      description: "Questions from your coding agents",
      background_color: "#1f2937",
    },
    features: {
      bot_user: { display_name: "askd", always_online: true },
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      slash_commands: [
        {
          command: "/answer",
          ...(url === undefined ? {} : { url }),
          description: "Answer an agent's question",
          usage_hint: "q-456 A because …",
          should_escape: false,
        },
      ],
    },
    oauth_config: {
      scopes: {
        bot: [
          "chat:write",
          "chat:write.public",
          "commands",
          "im:history",
          "im:write",
          "channels:history",
          "groups:history",
          "users:read",
        ],
      },
    },
    settings: {
      interactivity: { is_enabled: true, ...(url === undefined ? {} : { request_url: url }) },
      event_subscriptions: {
        ...(url === undefined ? {} : { request_url: url }),
        bot_events: ["message.channels", "message.groups", "message.im"],
      },
      org_deploy_enabled: false,
      socket_mode_enabled: !isHttp,
      token_rotation_enabled: false,
    },
  };
}

/** Leads through Slack's pages, and takes the tokens that they show. Piped, they come in any order. */
export async function setUpSlack(words: readonly string[], given: SetupFlags, context: Context): Promise<Pairs> {
  const [channel, ...more] = words;
  if (more.length > 0) throw wrongUsage("Name one channel, or none for direct messages", "setup slack [<channel>]");
  if (given.member !== undefined) requireMember(given.member);
  const isHttp = given.http ?? false;
  const secrets = new SlackSecrets(given, context, isHttp);
  const token = await secrets.keepToken();
  const second = await secrets.keepSecond();
  return [
    ["channels.slack.mode", isHttp ? "http" : "socket"],
    ["channels.slack.token_file", token],
    [isHttp ? "channels.slack.signing_secret_file" : "channels.slack.app_token_file", second],
    ...(channel === undefined ? [] : ([["channels.slack.channel", channel]] as Pairs)),
    ...(given.server === undefined ? [] : ([["channels.slack.url", given.server]] as Pairs)),
  ];
}

/** The two secrets of an app; each is typed, piped or in a file. */
class SlackSecrets {
  readonly #given: SetupFlags;
  readonly #context: Context;
  readonly #isHttp: boolean;
  #piped: readonly string[] | undefined;

  constructor(given: SetupFlags, context: Context, isHttp: boolean) {
    this.#given = given;
    this.#context = context;
    this.#isHttp = isHttp;
  }

  async keepToken(): Promise<string> {
    const file = this.#given["token-file"];
    if (file !== undefined) return file;
    const manifest = JSON.stringify(slackManifest({ isHttp: this.#isHttp }, this.#context));
    this.#say("1. Make the app from its manifest (askd setup slack --manifest prints it):");
    this.#say(`   https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(manifest)}`);
    this.#say("2. Press Install to Workspace, and paste the Bot User OAuth Token (xoxb-…) of OAuth & Permissions:");
    const token = await this.#read({ form: BOT_TOKEN, what: "token of a bot", looks: "xoxb-…", flag: "--token-file" });
    return keepSecret("slack-token", token, this.#context);
  }

  async keepSecond(): Promise<string> {
    const flag = this.#isHttp ? "secret-file" : "app-token-file";
    const file = this.#given[flag];
    if (file !== undefined) return file;
    if (this.#isHttp) {
      this.#say("3. Paste the Signing Secret of Basic Information:");
      const looks = "32 letters and digits";
      const secret = await this.#read({ form: SIGNING_SECRET, what: "signing secret", looks, flag: `--${flag}` });
      return keepSecret("slack-signing-secret", secret, this.#context);
    }
    this.#say(
      "3. Under Basic Information, App-Level Tokens, generate one with connections:write, and paste it (xapp-…):",
    );
    const token = await this.#read({ form: APP_TOKEN, what: "app-level token", looks: "xapp-…", flag: `--${flag}` });
    return keepSecret("slack-app-token", token, this.#context);
  }

  #say(text: string) {
    say(this.#context, text);
  }

  async #read({ form, what, looks, flag }: { form: RegExp; what: string; looks: string; flag: string }) {
    const { stdin } = this.#context;
    const typed = stdin.isTty ? [await readSecretLine(this.#context)] : await this.#readPiped();
    const found = typed.find((word) => form.test(word));
    if (found !== undefined) return found;
    const second = this.#isHttp ? "the signing secret" : "the app-level token";
    const pipe = `Pipe the bot's token and ${second} in, in any order, or name a file with ${flag}`;
    throw new Refusal("bad_input", `There is no ${what} here`, {
      hint: `It looks like ${looks}.${stdin.isTty ? "" : ` ${pipe}`}`,
    });
  }

  async #readPiped(): Promise<readonly string[]> {
    this.#piped ??= (await readSecretLine(this.#context)).split(/\s+/);
    return this.#piped;
  }
}

function requireMember(id: string) {
  if (MEMBER.test(id)) return;
  throw new Refusal("bad_input", "This is no member ID", {
    hint: "In Slack: your picture, Profile, ⋮, Copy member ID. It looks like U024BE7LH",
  });
}

/** Puts the user's own Slack account on the list of people: only listed people can answer. */
export async function keepSlackAccount(given: string | undefined, context: Context): Promise<void> {
  const engine = await context.engine({ isDelivering: true });
  const known = await engine.findPerson(context.user);
  if (given === undefined && known?.slack !== undefined) return;
  const member = given ?? (await askMember(context));
  if (member === undefined) {
    say(context, `To answer there, type: ${context.program} user add <name> --slack <member ID>`);
    return;
  }
  requireMember(member);
  const person = known ?? { id: context.user, version: 0, groups: [] };
  await engine.putPerson({ ...person, slack: member }, await whoManages(engine, context));
  say(context, `✓ ${context.user} answers there as ${oneLine(member)}`);
}

async function askMember(context: Context): Promise<string | undefined> {
  if (!context.stdin.isTty) return undefined;
  say(context, "4. Paste your own member ID (your picture, Profile, ⋮, Copy member ID):");
  return (await readTypedLine(context)) || undefined;
}
