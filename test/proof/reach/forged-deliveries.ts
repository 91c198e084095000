import { createHmac, randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hono } from "hono";
import { isPending } from "../../../src/core/question/question.ts";
import { createApp } from "../../../src/server/app.ts";
import { loopbackDoors } from "../../../src/server/guard.ts";
import type { LocalEngine } from "../../../src/engine/local-engine.ts";
import { hooksPart } from "../../../src/server/hooks.ts";
import { GithubServer, HOOK_SECRET } from "../../channels/github-server.ts";
import { REPO } from "../../channels/github-view.ts";
import { Scene } from "../../scene.ts";

const SECRET = `whsec_${Buffer.from("a secret of twenty-four b").toString("base64")}`;
const OTHER = "another secret";
const SETTLE_MS = 100;

interface Delivery {
  path: string;
  body: string;
  headers: Record<string, string>;
}

/** Posts so many signed deliveries, each altered in one way; not one may be accepted. */
export async function forgeDeliveries(count: number): Promise<{ refused: number; problems: string[] }> {
  const service = await GithubServer.start();
  const scene = new Scene({ rules: { reach: [service.reach] }, openChannel: () => Promise.resolve(service.channel) });
  const problems: string[] = [];
  const app = appOf(scene, problems);
  try {
    const { question } = await scene.ask({ issue: { repo: REPO, number: 123 } });
    await scene.pass(0);
    const comment = service.add("A");
    const trueOnes = [
      { path: "/hooks/github", ...service.signedEvent("created", comment, "mika") },
      genericDelivery(scene, question.id),
    ];
    let refused = 0;
    for (let index = 0; index < count; index += 1) {
      const [kind, altered] = alter(trueOnes[index % trueOnes.length]!, index);
      const { status } = await post(app, altered);
      if (status === 401 || status === 400) refused += 1;
      else problems.push(`${kind}: ${status}`);
    }
    const { question: now } = await scene.engine.read(question.id);
    if (!isPending(now)) problems.push("a forged delivery answered the question");
    await sleep(SETTLE_MS); // the service has closed what was idle meanwhile, and this process has to notice
    for (const delivery of trueOnes) {
      const { status } = await post(app, delivery);
      if (status >= 300 && status !== 409) problems.push(`a true delivery was refused: ${delivery.path} ${status}`);
    }
    if (isPending((await scene.engine.read(question.id)).question)) problems.push("no true delivery answered");
    return { refused, problems: [...problems, ...service.traffic.problems] };
  } finally {
    await scene.engine.stop();
    await service.close();
  }
}

function appOf(scene: Scene, problems: string[]): Hono {
  const engine = scene.engine as LocalEngine; // the engine of a scene
  const onBug = (error: unknown) => void problems.push(String(error));
  const hooks = [{ name: "pager", readSecret: () => SECRET, isOnBehalf: false }];
  const part = hooksPart({ receive: engine.receiveHook, answers: { engine, hooks }, onBug });
  return createApp({ engine, doors: () => loopbackDoors(1), onBug, anonymousPerMinute: 1e9 }, [part]);
}

async function post(app: Hono, { path, body, headers }: Delivery): Promise<Response> {
  return app.request(`http://127.0.0.1:1${path}`, {
    method: "POST",
    body,
    headers: { ...headers, host: "127.0.0.1:1", "content-length": String(Buffer.byteLength(body)) },
  });
}

function genericDelivery(scene: Scene, questionId: string): Delivery {
  const body = JSON.stringify({ question_id: questionId, answer: "A" });
  const id = "msg_1";
  const seconds = String(Math.floor(Date.parse(scene.now) / 1000));
  return { path: "/hooks/pager", body, headers: signed(id, seconds, body, SECRET) };
}

function signed(id: string, seconds: string, body: string, secret: string): Record<string, string> {
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : secret;
  const signature = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${signature}`,
  };
}

type Alter = (delivery: Delivery) => Delivery;

const BODY: Record<string, Alter> = {
  "a changed character": (given) => ({ ...given, body: flip(given.body) }),
  "one character more": (given) => ({ ...given, body: `${given.body} ` }),
  "one character less": (given) => ({ ...given, body: given.body.slice(0, -1) }),
  "another order": (given) => ({ ...given, body: JSON.stringify(JSON.parse(given.body), undefined, 1) }),
  nothing: (given) => ({ ...given, body: "" }),
};
const GITHUB: Record<string, Alter> = {
  ...BODY,
  "a changed signature": (given) => withHeader(given, "x-hub-signature-256", flipHex),
  "a short signature": (given) => withHeader(given, "x-hub-signature-256", (text) => text.slice(0, randomInt(8, 70))),
  "a long signature": (given) => withHeader(given, "x-hub-signature-256", (text) => `${text}00`),
  capitals: (given) => withHeader(given, "x-hub-signature-256", (text) => text.toUpperCase()),
  "no signature": (given) => withHeader(given, "x-hub-signature-256", () => undefined),
  "an empty signature": (given) => withHeader(given, "x-hub-signature-256", () => "sha256="),
  "the old header": (given) =>
    withHeader(
      withHeader(given, "x-hub-signature", () => `sha1=${mac("sha1", HOOK_SECRET, given.body)}`),
      "x-hub-signature-256",
      () => undefined,
    ),
  "another secret": (given) =>
    withHeader(given, "x-hub-signature-256", () => `sha256=${mac("sha256", OTHER, given.body)}`),
  "an empty secret": (given) =>
    withHeader(given, "x-hub-signature-256", () => `sha256=${mac("sha256", "", given.body)}`),
};
const GENERIC: Record<string, Alter> = {
  ...BODY,
  "another id": (given) => withHeader(given, "webhook-id", (text) => `${text}${randomInt(1_000)}`),
  "no id": (given) => withHeader(given, "webhook-id", () => undefined),
  "another time": (given) => withHeader(given, "webhook-timestamp", (text) => String(Number(text) + randomInt(1, 200))),
  "no time": (given) => withHeader(given, "webhook-timestamp", () => undefined),
  "a time that is none": (given) => withHeader(given, "webhook-timestamp", (text) => `${text}.0`),
  "an old time, signed": (given) => restamp(given, -301 - randomInt(10_000)),
  "a future time, signed": (given) => restamp(given, 301 + randomInt(10_000)),
  "a changed signature": (given) => withHeader(given, "webhook-signature", (text) => `v1,${flip(text.slice(3))}`),
  "a signature without its end": (given) => withHeader(given, "webhook-signature", (text) => text.replace(/=+$/, "")),
  "another version": (given) => withHeader(given, "webhook-signature", (text) => text.replace("v1,", "v2,")),
  "no signature": (given) => withHeader(given, "webhook-signature", () => undefined),
  "many wrong signatures": (given) =>
    withHeader(given, "webhook-signature", () =>
      Array.from({ length: 20 }, () => `v1,${flip("A".repeat(43))}=`).join(" "),
    ),
  "another secret": (given) => ({
    ...given,
    headers: signed(given.headers["webhook-id"] ?? "", given.headers["webhook-timestamp"] ?? "", given.body, OTHER),
  }),
};

function alter(delivery: Delivery, index: number): [kind: string, altered: Delivery] {
  const ways = Object.entries(delivery.path.endsWith("github") ? GITHUB : GENERIC);
  const [kind, way] = ways[Math.floor(index / 2) % ways.length]!;
  return [`${delivery.path} with ${kind}`, way(delivery)];
}

function restamp(given: Delivery, byS: number): Delivery {
  const seconds = String(Number(given.headers["webhook-timestamp"]) + byS);
  return { ...given, headers: signed(given.headers["webhook-id"] ?? "", seconds, given.body, SECRET) };
}

function withHeader(given: Delivery, name: string, change: (text: string) => string | undefined): Delivery {
  const { [name]: old = "", ...rest } = given.headers;
  const text = change(old);
  return { ...given, headers: text === undefined ? rest : { ...rest, [name]: text } };
}

/** Another character at some place. */
function flip(text: string) {
  const at = randomInt(text.length);
  const old = text.charAt(at);
  const other = old === "x" ? "y" : "x";
  return `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
}

function flipHex(text: string) {
  const at = randomInt("sha256=".length, text.length);
  const other = ((Number.parseInt(text.charAt(at), 16) + 1 + randomInt(15)) % 16).toString(16);
  return `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
}

function mac(kind: string, secret: string, body: string) {
  return createHmac(kind, secret).update(body).digest("hex");
}
