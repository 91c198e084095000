import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { BIN, BuiltScene } from "../built.ts";
import { until } from "../run-dir.ts";
import { type Heard, hear } from "../sse.ts";
import type { Counterpart } from "./counterpart.ts";
import { GITHUB_TOKEN, GithubServer } from "./github-server.ts";
import { MailCounterpart, stopSharedMailServer } from "./mail-counterpart.ts";
import { AUTHSERV, DOMAIN, PASSWORD } from "./mail-server.ts";
import { NtfyServer } from "./ntfy-server.ts";
import { APP_TOKEN, BOT_TOKEN, CHANNEL, MIKA, SlackServer } from "./slack-server.ts";
import { CHAT, TOKEN, TelegramServer } from "./telegram-server.ts";

const WAIT = { timeout: 60_000, interval: 100 };
const Listed = z.array(z.looseObject({ id: z.string(), title: z.string() }));

/** The built server with Telegram, ntfy, Slack, GitHub and mail on loopback, and a page that follows its events. */
class Everywhere extends BuiltScene {
  readonly heard: Heard[] = [];
  url = "";

  #secret(name: string, text: string): string {
    const file = join(this.home, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  async start({ telegram, ntfy, slack, github, mail }: Omit<Stage, "scene">): Promise<void> {
    const token = this.#secret("telegram-token", TOKEN);
    const settings = {
      "channels.slack.url": `${slack.base}/api`,
      "channels.slack.channel": CHANNEL,
      "channels.slack.token_file": this.#secret("slack-token", BOT_TOKEN),
      "channels.slack.app_token_file": this.#secret("slack-app-token", APP_TOKEN),
      "answers.undo_window.slack": "0s",
      "channels.ntfy.url": ntfy.base,
      "channels.ntfy.topic": "askd-q-9f3k",
      "channels.ntfy.reply_topic": "askd-a-7h2m",
      "channels.telegram.url": telegram.base,
      "channels.telegram.token_file": token,
      "channels.github.url": github.base,
      "channels.github.issue": "acme/api#123",
      "channels.github.poll": "1s",
      "channels.github.token_file": this.#secret("github-token", GITHUB_TOKEN),
      ...this.#mailSettings(mail),
    };
    for (const [key, value] of Object.entries(settings)) await this.type("config", "set", "--user", key, value);
    await this.#serve();
    await this.type("user", "add", "mika", "--slack", MIKA, "--github", "mika", "--email", mail.person.email);
    const link = (await this.type("setup", "telegram", "--pair", "mika")).stdout.toString();
    await telegram.say(`/start ${/start=([\w-]+)/.exec(link)?.[1] ?? ""}`, CHAT);
    await until("the account is paired", () => telegram.responses().join().includes("paired as mika"));
  }

  #mailSettings(mail: MailCounterpart): Record<string, string> {
    const { smtp, imap } = mail.settings();
    return {
      "channels.email.from": `${mail.answers}@${DOMAIN}`,
      "channels.email.authserv": AUTHSERV,
      "channels.email.ca_file": this.#secret("ca.pem", mail.server.ca),
      "channels.email.smtp.host": "127.0.0.1",
      "channels.email.smtp.port": String(smtp.port),
      "channels.email.smtp.tls": "starttls",
      "channels.email.smtp.user": mail.answers,
      "channels.email.smtp.password_file": this.#secret("mail-password", PASSWORD),
      "channels.email.imap.host": "127.0.0.1",
      "channels.email.imap.port": String(imap?.port),
      "channels.email.imap.tls": "implicit",
    };
  }

  async #serve(): Promise<void> {
    const env = { PATH: process.env["PATH"], HOME: this.home, ASKD_HOME: this.home };
    const server = spawn(process.execPath, [BIN, "serve", "--port", "0"], {
      cwd: this.project,
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    const [line] = await once(server.stdout.setEncoding("utf8"), "data");
    this.url = String(line).trim();
    const following = { token: this.token, after: "0", enough: () => false };
    void hear(`${this.url}/api/v1/events`, { ...following, onHeard: (each) => void this.heard.push(each) });
  }

  get token(): string {
    return readFileSync(join(this.home, "run", "server", "token"), "utf8").trim();
  }

  /** What the page heard of a question, in the order in which it came; messages and edits with their channel. */
  heardOf(id: string): string[] {
    return this.heard
      .filter(({ data }) => data["question_id"] === id)
      .map(({ event, data }) => {
        const detail = z
          .looseObject({ what: z.string().optional() })
          .catch({})
          .parse(data["detail"] ?? {});
        return event === "question.notified" ? `${event} ${detail.what ?? ""}` : event;
      })
      .filter((event) => /asked|notified|answered/.test(event));
  }

  /** The id of the question with this title, as soon as it waits. */
  async find(title: string): Promise<string> {
    return until(`${title} waits`, async () => {
      const listed = Listed.parse(JSON.parse((await this.type("list", "--json")).stdout.toString()));
      return listed.find((each) => each.title === title)?.id;
    });
  }
}

function shownOf(service: Counterpart, title: string) {
  return service.shown().find(({ text }) => text.includes(title));
}

interface Way {
  answer: (at: Stage, id: string, title: string) => Promise<unknown>;
  words: RegExp;
  /** The person whose mailbox it is answers, and knows the outcome: no further mail comes. */
  isMika?: boolean;
}

/** Each way to answer with the first option, and the words that show it elsewhere. */
const WAYS: Record<string, Way> = {
  mail: {
    answer: ({ mail }, _id, title) => shownOf(mail, title)!.buttons[0]!.press(),
    words: /Answered by mika \(e-mail\): Redis/,
    isMika: true,
  },
  "the terminal": { answer: ({ scene }, id) => scene.type("answer", id, "A"), words: /Answered by \S+ \(cli\): Redis/ },
  "the web": {
    answer: ({ scene }, id) =>
      fetch(`${scene.url}/api/v1/questions/${id}/answer`, {
        method: "POST",
        headers: { authorization: `Bearer ${scene.token}`, "content-type": "application/json" },
        body: JSON.stringify({ answer: "A" }),
      }),
    words: /Answered by \S+ \(\w+\): Redis/,
  },
  Telegram: {
    answer: ({ telegram }, _id, title) => shownOf(telegram, title)!.buttons[0]!.press(),
    words: /Answered by mika \(Telegram\): Redis/,
    isMika: true,
  },
  GitHub: {
    answer: async ({ github }, id) => github.say(`/answer ${id} A`),
    words: /Answered by @?\u2060?mika \(GitHub\): Redis/,
    isMika: true,
  },
  Slack: {
    answer: ({ slack }, _id, title) => shownOf(slack, title)!.buttons[0]!.press(),
    words: /Answered by mika \(Slack\): Redis/,
    isMika: true,
  },
  ntfy: {
    answer: ({ ntfy }, _id, title) => shownOf(ntfy, title)!.buttons[0]!.press(),
    words: /Answered by ntfy \(ntfy\): Redis/,
  },
};

interface Stage {
  scene: Everywhere;
  telegram: TelegramServer;
  ntfy: NtfyServer;
  slack: SlackServer;
  github: GithubServer;
  mail: MailCounterpart;
}

// Few at a time: the fifth message within a minute goes into a digest.
const FIRST = ["mail", "the terminal", "the web"];

test.each([
  ["mail, terminal and web", Object.entries(WAYS).filter(([name]) => FIRST.includes(name))],
  ["Telegram, Slack, GitHub and ntfy", Object.entries(WAYS).filter(([name]) => !FIRST.includes(name))],
])(
  "a question that is on seven surfaces is answered on any of them, and the others show it in order: %s",
  async (_which, ways) => {
    const services = {
      telegram: await TelegramServer.start(),
      ntfy: await NtfyServer.start({ isOpen: true }),
      slack: await SlackServer.start(),
      github: await GithubServer.start(),
      mail: await MailCounterpart.start(),
    };
    const { mail, ...others } = services;
    const all = Object.values(services);
    onTestFinished(async () => {
      await Promise.all(all.map((service) => service.close()));
      await stopSharedMailServer();
    });
    const scene = new Everywhere();
    await scene.start(services);
    for (const [name, { answer, words, isMika = false }] of ways) {
      const title = `Which cache, asked by ${name}?`;
      const waiting = scene.type("ask", title, "-o", "Redis", "-o", "Memcached", "--wait", "55s");
      const isShown = async () => {
        await mail.look();
        return all.every((each) => shownOf(each, title) !== undefined);
      };
      await expect.poll(isShown, WAIT).toBe(true);
      const id = await scene.find(title);
      await answer({ scene, ...services }, id, title);
      expect({ name, ...(await waiting) }).toMatchObject({ name, exit: 0, stdout: Buffer.from("Redis\n") });
      for (const service of Object.values(others)) {
        await expect.poll(() => shownOf(service, title)?.text, WAIT).toMatch(words);
        expect(shownOf(service, title)?.buttons).toEqual([]);
      }
      const outcome = async () => {
        await mail.look();
        return words.test(shownOf(mail, title)?.text ?? "");
      };
      if (!isMika) await expect.poll(outcome, WAIT).toBe(true);
      const edits = () => scene.heardOf(id).filter((event) => event === "question.notified edit").length;
      await expect.poll(edits, WAIT).toBeGreaterThanOrEqual(4);
      expect(scene.heardOf(id).slice(0, 7)).toEqual([
        "question.asked",
        ...Array.from({ length: 5 }, () => "question.notified message"),
        "question.answered",
      ]);
    }
    expect(all.flatMap(({ traffic }) => traffic.problems)).toEqual([]);
  },
  300_000,
);
