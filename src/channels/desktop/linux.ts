import type { ChannelResult } from "../../core/channel/channel.ts";
import type { RunProgram } from "../outbound.ts";
import { Dbus, DbusError } from "./dbus.ts";
import type { DbusMessage, DbusValue } from "./dbus-message.ts";
import type { Notification, Notifier, Press } from "./notifier.ts";

const SERVICE = "org.freedesktop.Notifications";
const PATH = "/org/freedesktop/Notifications";
const URGENCY = { low: 0, normal: 1, critical: 2 } as const;
const SHORT_MS = 10_000;
const UNTIL_DISMISSED = 0;
/** Why a notification closed, by the specification: its time was over, or the person dismissed it. */
const PUT_AWAY: ReadonlySet<unknown> = new Set([1, 2]);
const OPEN = "default";

/** A notification on the bus: which bus, which service, who hears of its buttons, and its number. */
interface Shown {
  guid: string;
  service: string;
  client: string;
  id: number;
}

/**
 * Shows notifications by the Desktop Notifications Specification, over the session bus. The service tells only the
 * connection that showed a notification of a press on its buttons, so one connection stays open.
 */
export class LinuxNotifier implements Notifier {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #run: RunProgram;
  #bus: Promise<Dbus> | undefined;
  readonly #presses: Press[] = [];
  readonly #wake = new Set<() => void>();
  /** Ids of notifications that the person put away, and the links of those that have one. */
  readonly #putAway = new Set<number>();
  readonly #links = new Map<number, string>();
  /** The service that showed the last notification: it may end before anybody listens. */
  #shownBy: string | undefined;

  constructor(env: Readonly<Record<string, string | undefined>>, run: RunProgram) {
    this.#env = env;
    this.#run = run;
  }

  show(notification: Notification): Promise<ChannelResult> {
    return this.#try(async (bus) => ({ ok: true, outside: await this.#notify(bus, 0, notification) }));
  }

  replace(outside: string, notification: Notification): Promise<ChannelResult> {
    return this.#try(async (bus) => {
      const { guid, service, client, id } = readShown(outside);
      // Another service numbers its notifications anew: this number may be somebody else's now.
      if (guid !== bus.guid || service !== (await findService(bus)))
        return { ok: false, why: "the notification service was restarted", isGone: true };
      if (client === bus.name && this.#putAway.has(id)) return { ok: true };
      return { ok: true, outside: await this.#notify(bus, id, notification) };
    });
  }

  repeat(outside: string | undefined, notification: Notification): Promise<ChannelResult> {
    return this.#try(async (bus) => {
      const shown = outside === undefined ? undefined : readShown(outside);
      if (shown?.guid === bus.guid && shown.service === (await findService(bus)))
        await callService(bus, "CloseNotification", [{ type: "u", value: shown.id }]);
      return { ok: true, outside: await this.#notify(bus, 0, notification) };
    });
  }

  async verify(): Promise<string> {
    const bus = await this.#open();
    const [name = "a notification service"] = await callService(bus, "GetServerInformation");
    return `${String(name)}${(await findAbilities(bus)).has("actions") ? "" : ", without buttons"}`;
  }

  async isHeard(outside: string): Promise<boolean> {
    const { guid, service, client } = readShown(outside);
    const bus = await this.#open();
    if (guid !== bus.guid || service !== (await findService(bus))) return false;
    const [isThere] = await bus.callBus("NameHasOwner", client);
    return Boolean(isThere);
  }

  async *presses(signal: AbortSignal): AsyncIterable<Press> {
    const bus = await this.#open();
    let service = this.#shownBy ?? (await findService(bus));
    const stop = () => this.#wakeAll();
    signal.addEventListener("abort", stop, { once: true });
    try {
      while (!signal.aborted) {
        const press = this.#presses.shift();
        if (press) {
          yield press;
          continue;
        }
        const now = await findService(bus);
        // With the service its notifications are gone: whoever listens anew shows them again.
        if (service !== undefined && now !== service) {
          this.#shownBy = undefined;
          throw new Error("the notification service has ended");
        }
        service = now;
        if (this.#presses.length === 0 && !signal.aborted) await new Promise<void>((wake) => this.#wake.add(wake));
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async #notify(bus: Dbus, replaces: number, { title, body, urgency, group, buttons, link, openLabel }: Notification) {
    const abilities = await findAbilities(bus);
    const actions = [
      ...(link === undefined ? [] : [OPEN, openLabel]),
      ...buttons.flatMap(({ key, label }) => [key, label]),
    ];
    const [id] = await callService(bus, "Notify", [
      { type: "s", value: "askd" },
      { type: "u", value: replaces },
      { type: "s", value: "" },
      { type: "s", value: title },
      { type: "s", value: abilities.has("body-markup") ? escapeMarkup(body) : body },
      { type: "as", value: abilities.has("actions") ? actions : [] },
      {
        type: "a{sv}",
        value: [
          ["urgency", { type: "y", value: URGENCY[urgency] }],
          ["desktop-entry", { type: "s", value: "askd" }],
          ...(group === "" ? [] : [["x-dunst-stack-tag", { type: "s", value: group }] as const]),
          ...(urgency === "low" ? [["transient", { type: "b", value: true }] as const] : []),
        ],
      },
      { type: "i", value: urgency === "low" ? SHORT_MS : UNTIL_DISMISSED },
    ]);
    const number = Number(id);
    this.#putAway.delete(number);
    if (link === undefined) this.#links.delete(number);
    else this.#links.set(number, link);
    this.#shownBy = await findService(bus);
    return sayShown({ guid: bus.guid, service: this.#shownBy ?? "", client: bus.name, id: number });
  }

  async #try(act: (bus: Dbus) => Promise<ChannelResult>): Promise<ChannelResult> {
    try {
      return await act(await this.#open());
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const isMissing = error instanceof DbusError && /ServiceUnknown|NameHasNoOwner/.test(error.errorName);
      return { ok: false, why: isMissing ? "no notification service runs" : error.message };
    }
  }

  #open(): Promise<Dbus> {
    this.#bus ??= this.#connect().catch((error: unknown) => {
      this.#bus = undefined;
      throw error;
    });
    return this.#bus;
  }

  async #connect() {
    const bus = await Dbus.open(
      this.#env,
      (signal, from) => void this.#take(from, signal).catch(() => from.close()),
      () => {
        this.#bus = undefined;
        this.#wakeAll();
      },
    );
    await bus.callBus("AddMatch", `type='signal',interface='${SERVICE}',path='${PATH}'`);
    await bus.callBus("AddMatch", `type='signal',member='NameOwnerChanged',arg0='${SERVICE}'`);
    return bus;
  }

  async #take(bus: Dbus, { member, interface: name, sender, serial, body }: DbusMessage) {
    if (member === "NameOwnerChanged") return this.#wakeAll();
    // Any program of this user can send a signal: only the notification service knows of a press.
    if (name !== SERVICE || sender === undefined || sender !== (await findService(bus))) return;
    const [id, detail] = body;
    if (member === "NotificationClosed" && PUT_AWAY.has(detail)) this.#putAway.add(Number(id));
    if (member !== "ActionInvoked") return;
    if (detail === OPEN) return this.#follow(Number(id));
    this.#presses.push({ id: `${bus.guid}${sender}/${serial}`, key: String(detail) });
    this.#wakeAll();
  }

  async #follow(id: number) {
    const link = this.#links.get(id);
    if (link !== undefined) await this.#run(["xdg-open", link]);
  }

  #wakeAll() {
    const waiting = [...this.#wake];
    this.#wake.clear();
    for (const wake of waiting) wake();
  }
}

function callService(bus: Dbus, member: string, body: readonly DbusValue[] = []): Promise<unknown[]> {
  return bus.call({ destination: SERVICE, path: PATH, interface: SERVICE, member, body });
}

/** The abilities of the service; asking for them starts it where the desktop starts it on demand. */
async function findAbilities(bus: Dbus): Promise<ReadonlySet<unknown>> {
  const [abilities] = await callService(bus, "GetCapabilities");
  return new Set(Array.isArray(abilities) ? abilities : []);
}

/** The connection of the notification service; undefined if none runs. */
async function findService(bus: Dbus): Promise<string | undefined> {
  try {
    const [owner] = await bus.callBus("GetNameOwner", SERVICE);
    return String(owner);
  } catch (error) {
    if (error instanceof DbusError) return undefined;
    throw error;
  }
}

function escapeMarkup(text: string) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function sayShown({ guid, service, client, id }: Shown) {
  return [guid, service, client, id].join(" ");
}

function readShown(outside: string): Shown {
  const [guid = "", service = "", client = "", id = "0"] = outside.split(" ");
  return { guid, service, client, id: Number(id) };
}
