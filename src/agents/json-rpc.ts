import type { Readable, Writable } from "node:stream";
import { createInterface } from "node:readline";
import { SECOND_MS } from "../core/instant.ts";
import { type Json, isJson, parseJson, textAt } from "./json.ts";

const REPLY_MS = 60 * SECOND_MS;
const NOT_FOUND = -32_601;

/** A message that the other side sends on its own; a request has an id and expects a reply. */
export interface Incoming {
  method: string;
  params: unknown;
  id?: string | number;
}

/** Speaks JSON-RPC with a program, one message on a line. */
export class JsonRpc {
  readonly #output: Writable;
  readonly #waiting = new Map<string | number, { take(result: unknown): void; fail(error: Error): void }>();
  #lastId = 0;
  #isOver = false;

  constructor(streams: { input: Readable; output: Writable }, onIncoming: (message: Incoming) => void) {
    this.#output = streams.output;
    // A write to a program that has ended is lost; its end is noticed elsewhere.
    streams.output.on("error", () => undefined);
    createInterface({ input: streams.input, crlfDelay: Infinity })
      .on("line", (line) => this.#take(line, onIncoming))
      .once("close", () => this.#end());
  }

  /** The result, or why there is none; an other side that says nothing is waited for only so long. */
  request(method: string, params: unknown): Promise<Json> {
    if (this.#isOver) return Promise.reject(new Error(`${method}: the program has ended`));
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        reject(new Error(`${method}: ${error.message}`, { cause: error }));
      };
      const timer = setTimeout(() => fail(new Error(`no reply in ${REPLY_MS / SECOND_MS} s`)), REPLY_MS);
      const take = (result: unknown): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(isJson(result) ? result : {});
      };
      this.#waiting.set(id, { take, fail });
      this.#write({ id, method, params });
    });
  }

  notify(method: string): void {
    this.#write({ method });
  }

  reply(id: string | number, result: object): void {
    this.#write({ id, result });
  }

  /** Says that nothing here can deal with the request. */
  refuse(id: string | number, why: string): void {
    this.#write({ id, error: { code: NOT_FOUND, message: why } });
  }

  #write(message: object): void {
    if (!this.#isOver) this.#output.write(`${JSON.stringify(message)}\n`);
  }

  #take(line: string, onIncoming: (message: Incoming) => void): void {
    const message = parseJson(line);
    if (!message) return; // programs print words between their lines
    const { id } = message;
    const isNamed = typeof id === "string" || typeof id === "number";
    const method = textAt(message, "method");
    if (method !== undefined) return onIncoming({ method, params: message["params"], ...(isNamed && { id }) });
    const waiting = isNamed ? this.#waiting.get(id) : undefined;
    if ("error" in message) waiting?.fail(new Error(textAt(message, "error", "message") ?? "an error without words"));
    else waiting?.take(message["result"]);
  }

  #end(): void {
    this.#isOver = true;
    for (const { fail } of this.#waiting.values()) fail(new Error("the program has ended"));
  }
}
