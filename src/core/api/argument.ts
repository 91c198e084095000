import type { Actor } from "../people/actor.ts";
import type { IdempotentChange } from "../trail/idempotency.ts";

/**
 * Where an argument of an engine's verb stands in the request of its route: the id in the path, the actor in a header, one
 * field of the body or of the query. `body` is an object with the fields of the body that no other argument names, `once`
 * the same with the key of the change, which comes in the header `Idempotency-Key`.
 */
export type Argument = "id" | "by" | "body" | "once" | `body.${string}` | `query.${string}`;

/** The parts of a request that carry arguments. */
export interface ArgumentRequest {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
  by?: Actor;
  key?: string | undefined;
}

/** The type of an argument, by where it stands in a request. */
export type ArgumentType<
  Name extends Argument,
  Takes extends readonly Argument[],
  Request extends { params: unknown; query: unknown; body: unknown },
> = Name extends "id"
  ? Field<Request["params"], "id">
  : Name extends "by"
    ? Actor
    : Name extends "body"
      ? Rest<Takes, Request["body"]>
      : Name extends "once"
        ? Rest<Takes, Request["body"]> & IdempotentChange
        : Name extends `body.${infer Key}`
          ? Field<Request["body"], Key>
          : Name extends `query.${infer Key}`
            ? Field<Request["query"], Key>
            : never;

// A field that is not there is unknown, which fits no argument of an engine.
type Field<Part, Key extends string> = Key extends keyof Part ? Part[Key] : unknown;
type Named<Takes extends readonly Argument[]> = Takes[number] extends infer Name
  ? Name extends `body.${infer Key}`
    ? Key
    : never
  : never;
type Rest<Takes extends readonly Argument[], Body> = Omit<Body, Named<Takes>>;

/** The request that says the same as these arguments. */
export function toRequest(takes: readonly Argument[], args: readonly unknown[]): ArgumentRequest {
  const request: ArgumentRequest = { params: {}, query: {}, body: {} };
  for (const [index, name] of takes.entries()) {
    const value = args[index];
    if (name === "id") request.params["id"] = value;
    else if (name === "by") request.by = value as Actor; // the table says that this verb takes one here
    else if (name === "body") Object.assign(request.body, value);
    else if (name === "once") {
      const { key, ...fields } = (value ?? {}) as IdempotentChange; // likewise
      request.key = key;
      Object.assign(request.body, fields);
    } else partOf(request, name)[fieldOf(name)] = value;
  }
  return request;
}

/** The arguments that say the same as this request. */
export function toArguments(takes: readonly Argument[], request: ArgumentRequest): unknown[] {
  const { params, by, key } = request;
  const named = takes.filter((name) => name.startsWith("body.")).map(fieldOf);
  const rest = Object.fromEntries(Object.entries(request.body).filter(([name]) => !named.includes(name)));
  return takes.map((name) => {
    if (name === "id") return params["id"];
    if (name === "by") return by;
    if (name === "body") return rest;
    if (name === "once") return { ...rest, key };
    return partOf(request, name)[fieldOf(name)];
  });
}

function partOf({ query, body }: ArgumentRequest, name: string): Record<string, unknown> {
  return name.startsWith("query.") ? query : body;
}

function fieldOf(name: string) {
  return name.slice(name.indexOf(".") + 1);
}
