import { join } from "node:path";
import { engineOn, openChannels } from "../src/app.ts";
import type { ChannelSettings } from "../src/core/channel/channel-settings.ts";
import { SYSTEM } from "../src/core/people/actor.ts";
import { parseAsk } from "../src/core/question/ask-input.ts";
import type { Rules } from "../src/core/rules.ts";
import type { LocalEngine } from "../src/engine/local-engine.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";
import type { Store } from "../src/store/store.ts";
import { ADA, AGENT } from "../test/builders.ts";
import { MCP, ROOMY, said } from "../test/scene.ts";
import { withPlace } from "../test/proof/place.ts";
import { HttpChannel, REACH, UNLIMITED } from "../test/proof/reach/reach-task.ts";
import { settingsOf } from "../test/proof/reach/service.ts";
import { median } from "./loop.ts";
import { MessageSink } from "./message-sink.ts";
import { ServerProcess, serving } from "./server-process.ts";
import { type ServiceDelays, measureServices } from "./service-delay.ts";

// npm run bench:reach -- <questions one by one> <deliveries> <open questions> <rounds>
const [mode, ...numbers] = process.argv.slice(2);
const ONE_BY_ONE = Number(mode ?? 300);
const DELIVERIES = Number(numbers[0] ?? 2_000);
const OPEN = Number(numbers[1] ?? 10_000);
const ROUNDS = Number(numbers[2] ?? 3);
/** As many as a worker has in hand at once. */
const AT_ONCE = 128;
const WARM = 20;
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const SINK = "ASKD_BENCH_SINK";

if (mode === "serve") await serveOpen(numbers[1] ?? "", process.env[SINK] ?? "");
else {
  const sink = await MessageSink.start();
  try {
    const edited = await measureDelays(sink);
    const services = await measureServices(ONE_BY_ONE);
    printServices(services);
    printWorst([...edited, ...services]);
    for (const channel of HttpChannel.options) await measureRate(sink, channel);
    await measureMemory(sink);
  } finally {
    await sink.close();
  }
}

function rulesFor(channels: readonly HttpChannel[]): Rules {
  const limits = { ...ROOMY.limits, pending: 1_000_000, asksPerMinute: 1_000_000 };
  return { ...ROOMY, reach: channels.map((name) => REACH[name]), personChannel: true, attention: UNLIMITED, limits };
}

function settingsFor(url: string): ChannelSettings {
  const urls: Record<HttpChannel, string> = { telegram: url, ntfy: url, webhook: `${url}/hook` };
  return Object.assign(
    {},
    ...HttpChannel.options.map((channel) => settingsOf({ channel, url: urls[channel], secret: SECRET })),
  );
}

async function engineWith(store: Store, channels: readonly HttpChannel[], url: string): Promise<LocalEngine> {
  const rules = rulesFor(channels);
  const engine = engineOn(store, { rules, openChannel: openChannels(settingsFor(url), rules) });
  await engine.putPerson({ id: "mika", version: 0, groups: [], telegram: "77" }, SYSTEM);
  return engine;
}

async function ask(engine: LocalEngine, store: Store, mark: string) {
  const raw = { question: `${mark} Redis or Memcached?`, options: ["Redis", "Memcached"], timeout: "9d" };
  return (await engine.ask(parseAsk(raw, MCP, ROOMY, await store.now()), AGENT)).question.id;
}

/** From the commit of a question to its message at the service, and from an answer elsewhere to the edit. */
async function measureDelays(sink: MessageSink): Promise<Array<Pick<ServiceDelays, "name" | "editedMs">>> {
  const told = new Map<HttpChannel, number[]>(HttpChannel.options.map((name) => [name, []]));
  const edited = new Map<HttpChannel, number[]>(HttpChannel.options.map((name) => [name, []]));
  await withPlace("sqlite", async ({ address }) => {
    const store = await openSqliteStore(address);
    const engine = await engineWith(store, HttpChannel.options, sink.url);
    // People answer in another process: this one learns of it as it would there.
    const other = await openSqliteStore(address);
    const elsewhere = engineOn(other, { rules: rulesFor(HttpChannel.options) });
    void engine.work();
    for (let n = 0; n < ONE_BY_ONE + WARM; n += 1) {
      const mark = `D${n}mark`;
      const id = await ask(engine, store, mark);
      const askedMs = performance.now();
      await sink.until(() => HttpChannel.options.every((name) => sink.timesOf(name, mark).length > 0));
      await elsewhere.answer(id, said("1"), ADA);
      const answeredMs = performance.now();
      await sink.until(() => HttpChannel.options.every((name) => sink.timesOf(name, mark).length > 1));
      if (n < WARM) continue;
      for (const name of HttpChannel.options) {
        const [toldMs = Number.NaN, editedMs = Number.NaN] = sink.timesOf(name, mark);
        told.get(name)?.push(Math.max(0, toldMs - askedMs));
        edited.get(name)?.push(Math.max(0, editedMs - answeredMs));
      }
    }
    await elsewhere.stop();
    await engine.stop();
  });
  console.log(`${ONE_BY_ONE} questions one by one on three channels; SQLite, WAL, FULL; services on loopback`);
  console.table(
    HttpChannel.options.map((name) => {
      const [toldMs, editedMs] = [told.get(name) ?? [], edited.get(name) ?? []];
      return {
        "": name,
        "commit to message, p50 ms": at(toldMs, 0.5),
        "p99 ms": at(toldMs, 0.99),
        "answered in another process to edited, p50 ms": at(editedMs, 0.5),
        "p95 ms": at(editedMs, 0.95),
      };
    }),
  );
  return [...edited].map(([name, editedMs]) => ({ name, editedMs }));
}

/** The goal is for every surface: the slowest of all counts. */
function printWorst(all: ReadonlyArray<Pick<ServiceDelays, "name" | "editedMs">>): void {
  const worst = Math.max(...all.map(({ editedMs }) => Number(at(editedMs, 0.95))));
  const names = all.map(({ name }) => name).join(", ");
  console.log(`answered to edited elsewhere (${names}): p95 ${worst.toFixed(1)} ms (goal 2,000 ms)`);
}

function printServices(services: readonly ServiceDelays[]): void {
  console.log(
    `${ONE_BY_ONE} questions one by one on Slack, GitHub and mail, until the service has taken the message or edit`,
  );
  console.table(
    services.map(({ name, toldMs, editedMs }) => ({
      "": name,
      "commit to message, p50 ms": at(toldMs, 0.5),
      "p99 ms": at(toldMs, 0.99),
      "answered in another process to edited, p50 ms": at(editedMs, 0.5),
      "p95 ms": at(editedMs, 0.95),
    })),
  );
}

/** Deliveries per second of a channel, against the same requests sent by a bare client, in turn. */
async function measureRate(sink: MessageSink, channel: HttpChannel): Promise<void> {
  const rates: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    sink.forget();
    rates.ours.push(
      await withPlace("sqlite", async ({ address }) => {
        const store = await openSqliteStore(address);
        const engine = await engineWith(store, [channel], sink.url);
        await inWaves(DELIVERIES, (n) => ask(engine, store, `R${n}mark`));
        const startedMs = performance.now();
        void engine.work();
        await sink.until(() => sink.requests.length >= DELIVERIES);
        const perSecond = DELIVERIES / ((performance.now() - startedMs) / 1000);
        await engine.stop();
        return perSecond;
      }),
    );
    const requests = [...sink.requests];
    sink.forget();
    const startedMs = performance.now();
    await inWaves(DELIVERIES, async (n) => {
      const request = requests[n];
      if (!request) throw new Error("a request is missing");
      const { path, headers, body } = request;
      await (await fetch(`${sink.url}${path}`, { method: "POST", headers, body })).arrayBuffer();
    });
    rates.bare.push(DELIVERIES / ((performance.now() - startedMs) / 1000));
  }
  const parts = rates.ours.map((rate, round) => (rate / (rates.bare[round] ?? Number.NaN)) * 100);
  console.log(
    `${channel}: ${median(rates.ours).toFixed(0)} deliveries/s, bare fetch ${median(rates.bare).toFixed(0)}/s: ` +
      `${median(parts).toFixed(0)} % (${Math.min(...parts).toFixed(0)}–${Math.max(...parts).toFixed(0)} %), ${ROUNDS} rounds of ${DELIVERIES}`,
  );
}

/** The memory of a process that has so many open questions on three channels, each with its message. */
async function measureMemory(sink: MessageSink): Promise<void> {
  sink.forget();
  process.env[SINK] = sink.url;
  const server = await ServerProcess.start(String(OPEN));
  try {
    const emptyBytes = await server.call("memory");
    await server.call("fill");
    await sink.until(() => sink.requests.length >= OPEN * HttpChannel.options.length);
    const fullBytes = await server.call("memory");
    const mb = (bytes: number) => (bytes / 1024 / 1024).toFixed(0);
    const each = ((fullBytes - emptyBytes) / OPEN / 1024).toFixed(1);
    console.log(
      `${OPEN} open questions on ${HttpChannel.options.length} channels: ${mb(fullBytes)} MB, ${mb(emptyBytes)} MB without; ${each} kB each`,
    );
  } finally {
    await server.stop();
  }
}

/** The other side: a process that asks, sends and listens. */
async function serveOpen(directory: string, url: string): Promise<void> {
  const store = await openSqliteStore(join(directory, "askd.db"));
  const engine = await engineWith(store, HttpChannel.options, url);
  void engine.work();
  const fill = async () => {
    await inWaves(Number(numbers[0]), (n) => ask(engine, store, `M${n}mark`));
    return 0;
  };
  serving({ port: 0, token: "" }, { fill });
}

/** Does it so many times, as many at once as a worker would. */
async function inWaves(count: number, act: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const loop = async () => {
    for (let n = next++; n < count; n = next++) await act(n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, loop));
}

function at(values: readonly number[], part: number): string {
  const sorted = [...values].sort((one, other) => one - other);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(1);
}
