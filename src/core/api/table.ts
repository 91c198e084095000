import { MEMORY_ROUTES } from "./memory-route.ts";
import { PEOPLE_ROUTES } from "./people-route.ts";
import { QUESTION_ROUTES } from "./question-route.ts";
import type { Argument, ArgumentType } from "./argument.ts";
import type { Route } from "./route.ts";
import { REACH_ROUTES } from "./reach-route.ts";
import { RUN_ROUTES } from "./run-route.ts";

/** Everything that can be done over HTTP, by the engine's verbs. */
export const ROUTES = { ...QUESTION_ROUTES, ...RUN_ROUTES, ...PEOPLE_ROUTES, ...REACH_ROUTES, ...MEMORY_ROUTES };

export type Verb = keyof typeof ROUTES;
type Parts<V extends Verb> =
  (typeof ROUTES)[V] extends Route<infer Params, infer Query, infer Body, infer Rows, infer Takes>
    ? { params: Params; query: Query; body: Body; rows: Rows; takes: Takes }
    : never;

/** A parsed request of that verb. */
export type RequestOf<V extends Verb> = Pick<Parts<V>, "params" | "query" | "body">;
/** The result of the engine's verb. */
export type RowsOf<V extends Verb> = Parts<V>["rows"];

/** How the engine's arguments stand in a request of that verb; never for verbs that are written out. */
type TakesOf<V extends Verb> = Extract<Parts<V>["takes"], readonly Argument[]>;
type ArgumentsOf<V extends Verb, Takes extends readonly Argument[]> = {
  -readonly [Index in keyof Takes]: ArgumentType<Takes[Index], Takes, RequestOf<V>>;
};

/** Verbs whose request says how it carries the arguments of the engine. */
export type DerivedVerb = { [V in Verb]: [TakesOf<V>] extends [never] ? never : V }[Verb];
/** These verbs as the table describes them; an engine has to fit. */
export type DerivedVerbs = {
  [V in DerivedVerb]: ArgumentsOf<V, TakesOf<V>> extends infer Args extends unknown[]
    ? (...args: Args) => Promise<RowsOf<V>>
    : never;
};

export const VERBS = Object.keys(ROUTES) as Verb[]; // the keys of the table
