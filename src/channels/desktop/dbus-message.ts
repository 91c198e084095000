/** D-Bus messages as bytes, by the D-Bus specification; only the types that notifications use. */

const LITTLE_ENDIAN = 0x6c; // "l"
const PROTOCOL = 1;
const FIXED_BYTES = 16;
/** The longest message that is read; a notification service sends short ones. */
const MOST_BYTES = 1024 * 1024;

export const MESSAGE_TYPE = { call: 1, result: 2, error: 3, signal: 4 } as const;
const FIELD = {
  path: 1,
  interface: 2,
  member: 3,
  error: 4,
  replyTo: 5,
  destination: 6,
  sender: 7,
  signature: 8,
} as const;

/** A value with its D-Bus type: byte, boolean, integer, text, a list of texts, or a table of named values. */
export type DbusValue =
  | { type: "y" | "u" | "i"; value: number }
  | { type: "b"; value: boolean }
  | { type: "s" | "o" | "g"; value: string }
  | { type: "as"; value: readonly string[] }
  | { type: "a{sv}"; value: ReadonlyArray<readonly [string, DbusValue]> };

export interface DbusCall {
  destination: string;
  path: string;
  interface: string;
  member: string;
  body?: readonly DbusValue[];
}

/** A message from the bus. */
export interface DbusMessage {
  type: number;
  serial: number;
  sender: string | undefined;
  interface: string | undefined;
  member: string | undefined;
  errorName: string | undefined;
  replyTo: number | undefined;
  body: unknown[];
}

/** Writes a call as bytes. */
export function encodeCall(call: DbusCall, serial: number): Buffer {
  const body = new Writer();
  for (const each of call.body ?? []) body.value(each);
  const signature = (call.body ?? []).map(({ type }) => type).join("");
  const fields: Array<[number, DbusValue]> = [
    [FIELD.path, { type: "o", value: call.path }],
    [FIELD.interface, { type: "s", value: call.interface }],
    [FIELD.member, { type: "s", value: call.member }],
    [FIELD.destination, { type: "s", value: call.destination }],
    ...(signature === "" ? [] : [[FIELD.signature, { type: "g", value: signature }] satisfies [number, DbusValue]]),
  ];
  const head = new Writer();
  for (const byte of [LITTLE_ENDIAN, MESSAGE_TYPE.call, 0, PROTOCOL]) head.value({ type: "y", value: byte });
  head.value({ type: "u", value: body.length });
  head.value({ type: "u", value: serial });
  head.array(8, () => {
    for (const [code, value] of fields) {
      head.align(8);
      head.value({ type: "y", value: code });
      head.variant(value);
    }
  });
  head.align(8);
  return Buffer.concat([head.bytes(), body.bytes()]);
}

/** Takes the first whole message off the bytes that came; undefined until all of it is there. */
export function decodeMessage(bytes: Buffer): { message: DbusMessage; length: number } | undefined {
  if (bytes.length < FIXED_BYTES) return undefined;
  const reader = new Reader(bytes);
  const bodyBytes = reader.number(4);
  const serial = reader.number(8);
  const headBytes = Math.ceil((FIXED_BYTES + reader.number(12)) / 8) * 8;
  const length = headBytes + bodyBytes;
  if (length > MOST_BYTES) throw new Error("the bus sent a message that is too long");
  if (bytes.length < length) return undefined;
  const fields = new Map<number, unknown>();
  reader.at = FIXED_BYTES;
  const end = FIXED_BYTES + reader.number(12);
  while (reader.at < end) {
    reader.align(8);
    const code = reader.read("y");
    fields.set(Number(code), reader.read("v"));
  }
  reader.at = headBytes;
  const text = (code: number) => (fields.has(code) ? String(fields.get(code)) : undefined);
  const signature = text(FIELD.signature) ?? "";
  const replyTo = fields.get(FIELD.replyTo);
  return {
    length,
    message: {
      type: bytes[1] ?? 0,
      serial,
      sender: text(FIELD.sender),
      interface: text(FIELD.interface),
      member: text(FIELD.member),
      errorName: text(FIELD.error),
      replyTo: replyTo === undefined ? undefined : Number(replyTo),
      body: readBody(reader, signature),
    },
  };
}

/** The values of a body, up to the first of a type that nobody here needs. */
function readBody(reader: Reader, signature: string): unknown[] {
  const values: unknown[] = [];
  for (const type of signature.match(/as|[ybuisog]|./g) ?? []) {
    if (!/^(as|[ybuisog])$/.test(type)) break;
    values.push(reader.read(type));
  }
  return values;
}

/** Appends values, each aligned as its type demands. */
class Writer {
  readonly #parts: Buffer[] = [];
  length = 0;

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  align(to: number): void {
    const missing = (to - (this.length % to)) % to;
    if (missing > 0) this.#push(Buffer.alloc(missing));
  }

  value(given: DbusValue): void {
    switch (given.type) {
      case "y":
        return this.#push(Buffer.from([given.value]));
      case "u":
      case "i":
      case "b":
        return this.#number(Number(given.value));
      case "s":
      case "o": {
        const text = Buffer.from(given.value.replaceAll("\0", ""));
        this.#number(text.length);
        return this.#push(Buffer.concat([text, Buffer.alloc(1)]));
      }
      case "g":
        return this.#push(Buffer.from([given.value.length, ...Buffer.from(given.value), 0]));
      case "as":
        return this.array(4, () => {
          for (const value of given.value) this.value({ type: "s", value });
        });
      case "a{sv}":
        return this.array(8, () => {
          for (const [name, value] of given.value) {
            this.align(8);
            this.value({ type: "s", value: name });
            this.variant(value);
          }
        });
      default:
        throw new Error("a value of an unknown type");
    }
  }

  variant(value: DbusValue): void {
    this.value({ type: "g", value: value.type });
    this.value(value);
  }

  /** The length of an array comes before its first aligned element, and counts from there. */
  array(alignment: number, write: () => void): void {
    this.#number(0);
    const place = this.#parts.length - 1;
    this.align(alignment);
    const start = this.length;
    write();
    this.#parts[place]?.writeUInt32LE(this.length - start);
  }

  #number(value: number) {
    this.align(4);
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value | 0);
    this.#push(bytes);
  }

  #push(bytes: Buffer) {
    this.#parts.push(bytes);
    this.length += bytes.length;
  }
}

/** Reads values in the byte order that the message names. */
class Reader {
  at = 0;
  readonly #bytes: Buffer;
  readonly #isLittle: boolean;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#isLittle = bytes[0] === LITTLE_ENDIAN;
  }

  number(place: number): number {
    return this.#isLittle ? this.#bytes.readUInt32LE(place) : this.#bytes.readUInt32BE(place);
  }

  align(to: number): void {
    this.at = Math.ceil(this.at / to) * to;
  }

  read(type: string): unknown {
    switch (type) {
      case "y":
        return this.#bytes[this.at++];
      case "b":
      case "u":
      case "i":
        return this.#number();
      case "s":
      case "o":
        return this.#text(this.#number());
      case "g":
        return this.#text(this.#bytes[this.at++] ?? 0);
      case "v":
        return this.read(String(this.read("g")));
      case "as": {
        const length = this.#number();
        const end = this.at + length;
        const texts: unknown[] = [];
        while (this.at < end) texts.push(this.read("s"));
        return texts;
      }
      default:
        throw new Error(`the bus sent a value of the type ${type}`);
    }
  }

  #number() {
    this.align(4);
    this.at += 4;
    return this.number(this.at - 4);
  }

  #text(length: number) {
    const text = this.#bytes.toString("utf8", this.at, this.at + length);
    this.at += length + 1;
    return text;
  }
}
