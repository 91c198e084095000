import { type Socket, connect } from "node:net";
import { type DbusCall, type DbusMessage, MESSAGE_TYPE, decodeMessage, encodeCall } from "./dbus-message.ts";

const REPLY_MS = 5_000;
const BUS = "org.freedesktop.DBus";
const LONGEST_LINE = 4_096;

type Env = Readonly<Record<string, string | undefined>>;

/** A connection to the session bus of this user's desktop. */
export class Dbus {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, { resolve(message: DbusMessage): void; reject(error: Error): void }>();
  readonly #onSignal: (signal: DbusMessage, bus: Dbus) => void;
  #serial = 0;
  #bytes: Buffer = Buffer.alloc(0);
  /** Names this bus; another one has another name, also after a restart. */
  guid = "";
  /** Our own name on the bus. */
  name = "";
  isOpen = true;

  /** Connects, proves which user this is, and says hello. */
  static async open(env: Env, onSignal: (signal: DbusMessage, bus: Dbus) => void, onClose: () => void): Promise<Dbus> {
    const socket = await connectTo(findAddress(env));
    const bus = new Dbus(socket, onSignal);
    try {
      bus.guid = await authenticate(socket);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    socket.on("data", (chunk: Buffer) => bus.#read(chunk));
    socket.on("close", () => {
      bus.#fail(new Error("the desktop's bus is gone"));
      onClose();
    });
    const [name] = await bus.callBus("Hello");
    bus.name = String(name);
    socket.unref(); // an open connection keeps no command from ending; a call that waits does
    return bus;
  }

  private constructor(socket: Socket, onSignal: (signal: DbusMessage, bus: Dbus) => void) {
    this.#socket = socket;
    this.#onSignal = onSignal;
    socket.on("error", () => socket.destroy());
  }

  /** Calls a method and returns its values; a service that does not reply in time is an error. */
  async call(call: DbusCall): Promise<unknown[]> {
    if (!this.isOpen) throw new Error("the desktop's bus is gone");
    const serial = (this.#serial += 1);
    let timer: NodeJS.Timeout | undefined;
    try {
      const reply = await new Promise<DbusMessage>((resolve, reject) => {
        this.#waiting.set(serial, { resolve, reject });
        timer = setTimeout(() => reject(new Error("the notification service does not reply")), REPLY_MS);
        this.#socket.write(encodeCall(call, serial));
      });
      if (reply.type === MESSAGE_TYPE.error) throw new DbusError(reply.errorName ?? "");
      return reply.body;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(serial);
    }
  }

  /** Calls the bus itself. */
  callBus(member: string, ...texts: string[]): Promise<unknown[]> {
    const body = texts.map((value) => ({ type: "s" as const, value }));
    return this.call({ destination: BUS, path: "/org/freedesktop/DBus", interface: BUS, member, body });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer) {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    try {
      for (let next = decodeMessage(this.#bytes); next; next = decodeMessage(this.#bytes)) {
        this.#bytes = this.#bytes.subarray(next.length);
        this.#take(next.message);
      }
    } catch {
      this.#socket.destroy(); // bytes that are no message: everything after them would be misread
    }
  }

  #take(message: DbusMessage) {
    if (message.type === MESSAGE_TYPE.signal) return this.#onSignal(message, this);
    if (message.replyTo !== undefined) this.#waiting.get(message.replyTo)?.resolve(message);
  }

  #fail(error: Error) {
    this.isOpen = false;
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

/** An error that the other side of a call reports. */
export class DbusError extends Error {
  readonly errorName: string;

  constructor(errorName: string) {
    super(`the notification service refuses: ${errorName}`);
    this.errorName = errorName;
  }
}

/** The socket of the session bus: as the desktop says, or where systemd puts it. */
function findAddress(env: Env): string {
  for (const address of (env["DBUS_SESSION_BUS_ADDRESS"] ?? "").split(";")) {
    const [, key, value] = /^unix:(?:.*,)?(path|abstract)=([^,]+)/.exec(address) ?? [];
    if (value !== undefined) return `${key === "abstract" ? "\0" : ""}${decodeURIComponent(value)}`;
  }
  if (env["XDG_RUNTIME_DIR"]) return `${env["XDG_RUNTIME_DIR"]}/bus`;
  throw new Error("there is no desktop session: DBUS_SESSION_BUS_ADDRESS is not set");
}

function connectTo(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const fail = () => reject(new Error("there is no desktop session: its bus cannot be reached"));
    socket.once("error", fail);
    socket.once("connect", () => {
      socket.off("error", fail);
      resolve(socket);
    });
  });
}

/** The bus learns our user from the socket itself; the reply names the bus. */
async function authenticate(socket: Socket): Promise<string> {
  const uid = Buffer.from(String(process.getuid?.() ?? 0)).toString("hex");
  socket.write(`\0AUTH EXTERNAL ${uid}\r\n`);
  const [word, guid = ""] = (await readLine(socket)).split(" ");
  if (word !== "OK") throw new Error("the desktop's bus refuses this user");
  socket.write("BEGIN\r\n");
  return guid;
}

function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => end(new Error("the desktop's bus does not reply")), REPLY_MS);
    const end = (result: string | Error) => {
      clearTimeout(timer);
      socket.off("data", take);
      socket.off("close", lose);
      if (typeof result === "string") resolve(result);
      else reject(result);
    };
    const lose = () => end(new Error("the desktop's bus is gone"));
    const take = (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (text.endsWith("\r\n")) end(text.trim());
      else if (text.length > LONGEST_LINE) end(new Error("the desktop's bus speaks another language"));
    };
    socket.on("data", take);
    socket.once("close", lose);
  });
}
