import { setTimeout } from "node:timers/promises";
import { engineOn } from "../src/app.ts";
import type { Channel, ChannelResult, WireMessage } from "../src/core/channel/channel.ts";
import { SYSTEM } from "../src/core/people/actor.ts";
import { parseAsk } from "../src/core/question/ask-input.ts";
import { ROOMY, MCP, said } from "../test/scene.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";
import { ADA, AGENT } from "../test/builders.ts";
import type { Counterpart } from "../test/channels/counterpart.ts";
import { GithubServer } from "../test/channels/github-server.ts";
import { MailCounterpart, stopSharedMailServer } from "../test/channels/mail-counterpart.ts";
import { SlackServer } from "../test/channels/slack-server.ts";
import { withPlace } from "../test/proof/place.ts";
import { UNLIMITED } from "../test/proof/reach/reach-task.ts";

const WARM = 5;

/** The times from a commit to the message, and from an answer to the edit, in milliseconds. */
export interface ServiceDelays {
  name: string;
  toldMs: number[];
  editedMs: number[];
}

/**
 * Measures Slack, GitHub and mail together: services that check each request by the published shapes, and a real mail
 * server, which has taken a mail when its submission is done.
 */
export async function measureServices(count: number): Promise<ServiceDelays[]> {
  const mail = await MailCounterpart.start();
  const services: Counterpart[] = [await SlackServer.start(), await GithubServer.start({ pollMs: 3_600_000 }), mail];
  const watched = services.map((service) => new WatchedChannel(service));
  const limits = { ...ROOMY.limits, pending: 1_000_000, asksPerMinute: 1_000_000 };
  const rules = {
    ...ROOMY,
    reach: services.map(({ reach }) => reach),
    personChannel: true,
    attention: UNLIMITED,
    limits,
  };
  const openChannel = (name: string) => {
    const found = watched.find(({ service }) => service.reach.name === name);
    return found ? Promise.resolve(found.channel) : Promise.reject(new Error(`no channel ${name}`));
  };
  try {
    await withPlace("sqlite", async ({ address }) => {
      const store = await openSqliteStore(address);
      const engine = engineOn(store, { rules, openChannel });
      const elsewhere = engineOn(await openSqliteStore(address), { rules });
      await engine.putPerson({ id: "mika", version: 0, groups: [], ...mail.person }, SYSTEM);
      void engine.work();
      for (let n = 0; n < count + WARM; n += 1) {
        const raw = { question: `Redis or Memcached, ${n}?`, options: ["Redis", "Memcached"], timeout: "9d" };
        const { question } = await engine.ask(parseAsk(raw, MCP, rules, await store.now()), AGENT);
        const askedMs = performance.now();
        for (const each of watched) await each.wait("toldMs", n + 1, askedMs);
        await elsewhere.answer(question.id, said("1"), ADA);
        const answeredMs = performance.now();
        for (const each of watched) await each.wait("editedMs", n + 1, answeredMs);
      }
      await elsewhere.stop();
      await engine.stop();
    });
    const [problem] = services.flatMap(({ traffic }) => traffic.problems);
    if (problem !== undefined) throw new Error(problem);
    return watched.map(({ delays }) => ({
      ...delays,
      toldMs: delays.toldMs.slice(WARM),
      editedMs: delays.editedMs.slice(WARM),
    }));
  } finally {
    for (const service of services) await service.close();
    await stopSharedMailServer();
  }
}

/** A channel that remembers when the service has taken a message and its edit. */
class WatchedChannel {
  readonly service: Counterpart;
  readonly channel: Channel;
  readonly delays: ServiceDelays;
  readonly #taken: Record<"toldMs" | "editedMs", number[]> = { toldMs: [], editedMs: [] };

  constructor(service: Counterpart) {
    this.service = service;
    this.delays = { name: service.reach.name, toldMs: [], editedMs: [] };
    const { channel } = service;
    const edit = channel.edit?.bind(channel);
    const keep = (kind: "toldMs" | "editedMs", result: ChannelResult) => {
      if (result.ok) this.#taken[kind].push(performance.now());
      return result;
    };
    this.channel = {
      ...channel,
      send: async (wire: WireMessage) => keep(this.#kindOfNext(), await channel.send(wire)),
      ...(edit && { edit: async (outside, wire) => keep("editedMs", await edit(outside, wire)) }),
    };
  }

  /** A mail cannot be changed: the outcome comes as another one in its thread. */
  #kindOfNext(): "toldMs" | "editedMs" {
    const { toldMs, editedMs } = this.#taken;
    return this.service.channel.edit === undefined && toldMs.length > editedMs.length ? "editedMs" : "toldMs";
  }

  async wait(kind: "toldMs" | "editedMs", count: number, sinceMs: number): Promise<void> {
    while (this.#taken[kind].length < count) await setTimeout(1);
    this.delays[kind].push(Math.max(0, (this.#taken[kind][count - 1] ?? Number.NaN) - sinceMs));
  }
}
