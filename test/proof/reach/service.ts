import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import type { ChannelSettings } from "../../../src/core/channel/channel-settings.ts";
import type { ShownMessage } from "../../channels/counterpart.ts";
import { LoopbackServer } from "../../channels/loopback-server.ts";
import { mailSettings } from "../../channels/mail-server.ts";
import { GithubServer, githubSettings } from "../../channels/github-server.ts";
import { NtfyServer } from "../../channels/ntfy-server.ts";
import { SlackServer, slackSettings } from "../../channels/slack-server.ts";
import { TOKEN, TelegramServer } from "../../channels/telegram-server.ts";
import { startMail } from "./mail-service.ts";
import type { ChannelName, Mailbox, ReachTask } from "./reach-task.ts";

const TOPIC = "askd-q-9f3k";
const REPLY_TOPIC = "askd-a-7h2m";

/** The service of a channel as a proof sees it. A mark is a word that only one question has. */
export interface ReachService {
  url: string;
  secret: string;
  /** The texts of the messages about a question that people see now. */
  shown(mark: string): string[];
  /** How many different and how many messages in all were posted about a question. */
  posted(mark: string): { different: number; all: number };
  /** The first button of a question's message, where there are buttons; it can be pressed later too. */
  grab?: (mark: string) => () => Promise<void>;
  /** Replies to the message of a question with words that are no answer. */
  mumble?: (mark: string) => Promise<void>;
  /** Says whether everything that was sent has arrived, and was read up to this cursor, where that takes time. */
  isIdle?: (cursor: string | undefined) => boolean;
  /** How many responses people got in all. */
  responses(): number;
  problems: string[];
  /** Where its requests come in. */
  traffic?: LoopbackServer;
  mailbox?: Mailbox;
  /** The person's address. */
  email?: string;
  close(): Promise<void>;
}

/** The settings of a channel for the process that uses it. */
export function settingsOf(task: Pick<ReachTask, "channel" | "url" | "secret" | "mailbox">): ChannelSettings {
  const { channel, url, secret, mailbox } = task;
  if (mailbox) return { email: mailSettings(mailbox) };
  switch (channel) {
    case "telegram":
      return { telegram: { url, readToken: () => TOKEN } };
    case "slack":
      return { slack: slackSettings(url) };
    case "github":
      return { github: githubSettings(url) };
    case "ntfy":
      return {
        ntfy: {
          url,
          topic: TOPIC,
          replyTopic: REPLY_TOPIC,
          readToken: () => "tk_askd",
          readReplyToken: () => "tk_phone",
        },
      };
    default:
      return { webhook: { readUrl: () => url, format: "standard", readSecret: () => secret } };
  }
}

export const SERVICES: Readonly<Record<ChannelName, () => Promise<ReachService>>> = {
  telegram: startTelegram,
  ntfy: startNtfy,
  webhook: startWebhook,
  slack: async () => startChat(await SlackServer.start({}, { bringsAgain: true })),
  github: async () => startChat(await GithubServer.start()),
  email: startMail,
};

async function startTelegram(): Promise<ReachService> {
  const server = await TelegramServer.start();
  const shown = (mark: string) => server.shown().filter(({ text }) => text.includes(mark));
  const requests = (mark: string) => linesAbout(server.traffic, mark);
  return {
    url: server.base,
    secret: "",
    shown: (mark) => shown(mark).map(({ text }) => text),
    posted: (mark) => ({ different: new Set(requests(mark)).size, all: requests(mark).length }),
    grab: (mark) => firstButton(shown(mark)),
    responses: () => server.notices.length,
    problems: server.traffic.problems,
    traffic: server.traffic,
    close: () => server.close(),
  };
}

async function startNtfy(): Promise<ReachService> {
  const server = await NtfyServer.start();
  return edited(server, (mark) =>
    server.kept
      .filter((kept) => JSON.stringify(kept).includes(mark))
      .map(({ id: _id, ...message }) => JSON.stringify(message)),
  );
}

function startChat(server: SlackServer | GithubServer): ReachService {
  return edited(server, (mark) => linesAbout(server.traffic, mark));
}

/** A service whose messages are edited in place, and whose people press or tick. */
function edited(server: NtfyServer | SlackServer | GithubServer, listPosts: (mark: string) => string[]): ReachService {
  const shown = (mark: string) => server.shown().filter(({ text }) => text.includes(mark));
  return {
    url: server.base,
    secret: "",
    shown: (mark) => shown(mark).map(({ text }) => text),
    posted: (mark) => {
      const all = listPosts(mark);
      return { different: new Set(all).size, all: all.length };
    },
    grab: (mark) => firstButton(shown(mark)),
    responses: () => server.responses().length,
    problems: server.traffic.problems,
    traffic: server.traffic,
    close: () => server.close(),
  };
}

function linesAbout(traffic: LoopbackServer, mark: string): string[] {
  return traffic
    .everythingSent()
    .split("\n")
    .filter((body) => body.includes(mark));
}

function firstButton(shown: ReadonlyArray<ShownMessage>) {
  const button = shown.at(-1)?.buttons[0];
  if (!button) throw new Error("there is no button");
  return () => button.press();
}

const Posted = z.object({ data: z.object({ text: z.string() }) });

/** A receiver that checks signatures and knows a repeated message by its id. */
async function startWebhook(): Promise<ReachService> {
  const server = new LoopbackServer();
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  const posts: Array<{ id: string; text: string }> = [];
  server.handle = ({ headers, text }, response) => {
    try {
      new Webhook(secret).verify(text, headers as Record<string, string>);
      posts.push({ id: String(headers["webhook-id"]), text: Posted.parse(JSON.parse(text)).data.text });
      response.writeHead(204).end();
    } catch (error) {
      server.problems.push(String(error));
      response.writeHead(400).end();
    }
  };
  const url = `${await server.listen()}/hook`;
  const about = (mark: string) => posts.filter(({ text }) => text.includes(mark));
  return {
    url,
    secret,
    shown: (mark) =>
      about(mark)
        .slice(-1)
        .map(({ text }) => text),
    posted: (mark) => ({ different: new Set(about(mark).map(({ id }) => id)).size, all: about(mark).length }),
    responses: () => 0,
    problems: server.problems,
    traffic: server,
    close: () => server.close(),
  };
}
