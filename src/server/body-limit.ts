import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { Refusal } from "../core/refusal.ts";

const MOST_BODY_BYTES = 1024 * 1024;

/** Refuses bodies that are too large. A body that says how long it is need not be touched for that. */
export function limitBody(): MiddlewareHandler {
  const countBytes = bodyLimit({ maxSize: MOST_BODY_BYTES, onError: refuse });
  return (context, next) => {
    const { req } = context;
    if (req.method === "GET" || req.method === "HEAD") return next();
    const length = req.header("content-length");
    if (length === undefined || req.header("transfer-encoding") !== undefined) return countBytes(context, next);
    return Number(length) > MOST_BODY_BYTES ? refuse() : next();
  };
}

function refuse(): never {
  throw new Refusal("too_large", `A request has at most ${MOST_BODY_BYTES} bytes`, {
    fact: { is: "large_body", limit: MOST_BODY_BYTES },
  });
}
