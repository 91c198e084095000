import { TLSSocket } from "node:tls";
import PostalMime from "postal-mime";
import type { Stop } from "./stop-point.ts";

/** Lets this process say how far a mail has come on its way to the server, and that one is about to be read. */
export function stopInMail(stop: Stop): void {
  const { write } = TLSSocket.prototype;
  TLSSocket.prototype.write = function (this: TLSSocket, ...args: unknown[]): boolean {
    const [chunk] = args;
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk as Uint8Array).toString("latin1");
    if (text === "DATA\r\n") stop("addressed");
    const given = args.findLast((arg) => typeof arg === "function") as (() => void) | undefined;
    const isWhole = /(?:^|\n)\.\r\n$/.test(text);
    // The line that ends a mail has left when the callback comes; the reply comes later.
    const done = () => {
      given?.();
      if (isWhole) stop("written");
    };
    return Reflect.apply(write, this, [...args.filter((arg) => typeof arg !== "function"), done]) as boolean;
  };
  const { parse } = PostalMime;
  PostalMime.parse = (...args) => {
    stop("fetched");
    return parse.apply(PostalMime, args);
  };
}
