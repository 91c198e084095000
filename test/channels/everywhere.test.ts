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
import { NtfyServer } from "./ntfy-server.ts";
import { CHAT, TOKEN, TelegramServer } from "./telegram-server.ts";

const WAIT = { timeout: 60_000, interval: 100 };
const Listed = z.array(z.looseObject({ id: z.string(), title: z.string() }));

/** The built server with Telegram and ntfy on loopback, and a page that follows its events. */
class Everywhere extends BuiltScene {
  readonly heard: Heard[] = [];
  url = "";

  async start(telegram: TelegramServer, ntfy: NtfyServer): Promise<void> {
    const token = join(this.home, "telegram-token");
    writeFileSync(token, TOKEN, { mode: 0o600 });
    const settings = {
      "channels.ntfy.url": ntfy.base,
      "channels.ntfy.topic": "askd-q-9f3k",
      "channels.ntfy.reply_topic": "askd-a-7h2m",
      "channels.telegram.url": telegram.base,
      "channels.telegram.token_file": token,
    };
    for (const [key, value] of Object.entries(settings)) await this.type("config", "set", "--user", key, value);
    await this.#serve();
    await this.type("user", "add", "mika");
    const link = (await this.type("setup", "telegram", "--pair", "mika")).stdout.toString();
    await telegram.say(`/start ${/start=([\w-]+)/.exec(link)?.[1] ?? ""}`, CHAT);
    await until("the account is paired", () => telegram.responses().join().includes("paired as mika"));
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

/** Each way to answer with the first option, and the words that show it elsewhere. */
const WAYS: Record<string, { answer: (at: Stage, id: string, title: string) => Promise<unknown>; words: RegExp }> = {
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
}

test("a question that is on the terminal, the web, Telegram and ntfy is answered on any of them, and the others show it in order", async () => {
  const [telegram, ntfy] = [await TelegramServer.start(), await NtfyServer.start({ isOpen: true })];
  onTestFinished(async () => {
    await telegram.close();
    await ntfy.close();
  });
  const scene = new Everywhere();
  await scene.start(telegram, ntfy);
  for (const [name, { answer, words }] of Object.entries(WAYS)) {
    const title = `Which cache, asked by ${name}?`;
    const waiting = scene.type("ask", title, "-o", "Redis", "-o", "Memcached", "--wait", "55s");
    await expect
      .poll(() => [telegram, ntfy].map((each) => shownOf(each, title) !== undefined), WAIT)
      .toEqual([true, true]);
    const id = await scene.find(title);
    await answer({ scene, telegram, ntfy }, id, title);
    expect(await waiting).toMatchObject({ exit: 0, stdout: Buffer.from("Redis\n") });
    for (const service of [telegram, ntfy]) {
      await expect.poll(() => shownOf(service, title)?.text, WAIT).toMatch(words);
      expect(shownOf(service, title)?.buttons).toEqual([]);
    }
    await expect.poll(() => scene.heardOf(id).length, WAIT).toBe(6);
    expect(scene.heardOf(id)).toEqual([
      "question.asked",
      ...Array.from({ length: 2 }, () => "question.notified message"),
      "question.answered",
      ...Array.from({ length: 2 }, () => "question.notified edit"),
    ]);
  }
  expect([...telegram.traffic.problems, ...ntfy.traffic.problems]).toEqual([]);
}, 300_000);
