import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import { webhookChannel } from "../../src/channels/webhook/webhook.ts";
import type { Channel } from "../../src/core/channel/channel.ts";
import type { WebhookFormat } from "../../src/core/channel/channel-settings.ts";
import type { Counterpart, ShownMessage } from "./counterpart.ts";
import { LoopbackServer, type LoopbackRequest, OUTBOUND } from "./loopback-server.ts";

const SECRET = `whsec_${randomBytes(24).toString("base64")}`;

const Run = z.strictObject({
  id: z.string(),
  number: z.int(),
  name: z.string().nullable(),
  agent: z.string().nullable(),
  repo: z.string().nullable(),
  branch: z.string().nullable(),
  unverified: z.array(z.enum(["agent", "repo", "labels"])),
});
const Option = z.strictObject({
  key: z.string(),
  value: z.string().nullable(),
  label: z.string(),
  description: z.string().nullable(),
  recommended: z.boolean(),
});
/** The shape that the documentation promises. */
const Standard = z.strictObject({
  type: z.enum(["question.asked", "question.changed", "question.reminded"]),
  timestamp: z.iso.datetime(),
  data: z.strictObject({
    question: z.strictObject({
      id: z.string(),
      url: z.string().nullable(),
      title: z.string(),
      status: z.enum(["open", "closed"]),
      kind: z.enum(["question", "approval"]),
      options: z.array(Option),
      multiple: z.boolean(),
      allow_text: z.boolean(),
      risk: z.enum(["low", "medium", "high"]),
      risk_source: z.enum(["measured", "person", "asker"]),
      confidence: z.number().nullable(),
      due_at: z.string().nullable(),
      on_timeout: z.strictObject({ action: z.string(), answer: z.string().nullable() }).nullable(),
      outcome: z.string().nullable(),
    }),
    // A digest and a test message are about no run.
    run: Run.nullable(),
    answer_url: z.string().nullable(),
    text: z.string().max(4_000),
    is_whole: z.boolean(),
  }),
});
const Note = z.strictObject({
  type: z.literal("note"),
  timestamp: z.iso.datetime(),
  data: z.strictObject({ text: z.string() }),
});
const Slack = z.strictObject({
  text: z.string().min(1).max(4_000),
  unfurl_links: z.literal(false),
  unfurl_media: z.literal(false),
});
const Discord = z.strictObject({
  content: z.string().min(1).max(2_000),
  allowed_mentions: z.strictObject({ parse: z.tuple([]) }),
});
const Teams = z.strictObject({
  type: z.literal("message"),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal("application/vnd.microsoft.card.adaptive"),
      content: z.strictObject({
        type: z.literal("AdaptiveCard"),
        version: z.string(),
        body: z.tuple([z.strictObject({ type: z.literal("TextBlock"), text: z.string().min(1), wrap: z.boolean() })]),
      }),
    }),
  ]),
});

/** A receiver of webhooks: it checks the signature, or the form of the chat service, and keeps the last of each question. */
export class WebhookServer implements Counterpart {
  readonly reach = { name: "webhook", person: undefined, isPersonal: false };
  readonly channel: Channel;
  readonly traffic: LoopbackServer;
  readonly #format: WebhookFormat;
  readonly #seen = new Map<string, string>();
  /** The types of the standard webhooks, in the order in which they came. */
  readonly types: string[] = [];
  /** The ids of the standard webhooks, in the order in which they came, refused ones included. */
  readonly ids: string[] = [];

  static async start(format: WebhookFormat): Promise<WebhookServer> {
    const server = new LoopbackServer();
    const webhook = new WebhookServer(server, await server.listen(), format);
    server.handle = (request, response) => webhook.handle(request, response);
    return webhook;
  }

  private constructor(server: LoopbackServer, base: string, format: WebhookFormat) {
    this.traffic = server;
    this.#format = format;
    const settings = { readUrl: () => `${base}/hook`, format, readSecret: () => SECRET };
    this.channel = webhookChannel(settings, OUTBOUND);
  }

  shown(): ShownMessage[] {
    return [...this.#seen.values()].map((text) => ({ text, buttons: [] }));
  }

  responses(): string[] {
    return [];
  }

  async close(): Promise<void> {
    await this.traffic.close();
  }

  handle({ headers, text }: LoopbackRequest, response: ServerResponse): void {
    this.traffic.count();
    this.traffic.keep(text);
    this.ids.push(String(headers["webhook-id"]));
    const failure = this.traffic.nextFailure();
    if (failure) {
      const after = failure.retryAfterS === undefined ? {} : { "retry-after": String(failure.retryAfterS) };
      return void response.writeHead(failure.status, after).end();
    }
    try {
      this.#keep(text, headers as Record<string, string>);
      response.writeHead(204).end();
    } catch (error) {
      this.traffic.problems.push(String(error));
      response.writeHead(400).end();
    }
  }

  #keep(text: string, headers: Record<string, string>): void {
    const body: unknown = JSON.parse(text);
    if (this.#format !== "standard") {
      this.#seen.set(this.#format, readText(this.#format, body));
      return;
    }
    new Webhook(SECRET).verify(text, headers);
    if (Note.safeParse(body).success) return;
    const { data, type } = Standard.parse(body);
    this.types.push(type);
    if (type !== "question.reminded") this.#seen.set(data.question.id, data.text);
  }
}

function readText(format: Exclude<WebhookFormat, "standard">, body: unknown) {
  if (format === "slack") return Slack.parse(body).text;
  if (format === "discord") return Discord.parse(body).content;
  return Teams.parse(body).attachments[0].content.body[0].text;
}
