import { desktopChannel } from "../../src/channels/desktop/desktop.ts";
import type { Channel } from "../../src/core/channel/channel.ts";
import type { Counterpart, ShownMessage, Traffic } from "./counterpart.ts";
import type { DesktopSession } from "./desktop-session.ts";
import { OUTBOUND } from "./loopback-server.ts";

/** A desktop with a person before it: a real notification service, whose buttons are really invoked. */
export class DesktopCounterpart implements Counterpart {
  readonly reach = { name: "desktop", person: "mika", isPersonal: false };
  readonly traffic: Traffic;
  readonly channel: Channel;
  readonly #session: DesktopSession;
  #requests = 0;
  #outside = "";
  #stopping: Promise<void> = Promise.resolve();

  static async start(session: DesktopSession): Promise<DesktopCounterpart> {
    await session.startService();
    return new DesktopCounterpart(session);
  }

  private constructor(session: DesktopSession) {
    this.#session = session;
    this.traffic = {
      problems: [],
      everythingSent: () => session.written(),
      requests: () => this.#requests,
      // A desktop fails by having no notification service.
      fail: () => void (this.#stopping = session.stopService()),
      recover: () => void (this.#stopping = session.startService()),
    };
    const inner = desktopChannel({ platform: "linux", env: session.env }, OUTBOUND);
    const counted = async (sending: () => ReturnType<Channel["send"]>) => {
      this.#requests += 1;
      await this.#stopping;
      const result = await sending();
      if (result.ok) this.#outside = result.outside ?? this.#outside;
      return result;
    };
    this.channel = {
      ...inner,
      send: (wire) => counted(() => inner.send(wire)),
      edit: (outside, wire) => counted(() => inner.edit?.(outside, wire) ?? inner.send(wire)),
      remind: (outside, wire, text) => counted(() => inner.remind(outside, wire, text)),
    };
  }

  shown(): ShownMessage[] {
    const groups = new Map(
      this.#session
        .taken()
        .filter(({ group }) => group !== "")
        .map((each) => [each.group, each]),
    );
    return [...groups.values()].map(({ title, body, actions }) => ({
      text: `${title}\n${body}`,
      buttons: actions.map(({ key, label }) => ({ label, press: () => this.#session.press(key) })),
    }));
  }

  responses(): string[] {
    return this.#session
      .taken()
      .filter(({ group }) => group === "")
      .map(({ body }) => body);
  }

  async forge(): Promise<void> {
    const [, , client = "", id = "0"] = this.#outside.split(" ");
    const key = this.#session.taken().at(-1)?.actions[0]?.key ?? "";
    // Another program of this user says that the button was pressed, and the service says so of one that is not ours.
    await this.#session.forgePress(client, Number(id), key);
    await this.#session.forgePress(client, Number(id), "d_00000000000000000000000000:A");
  }

  async close(): Promise<void> {
    await this.#stopping;
    await this.#session.stopService();
  }
}
