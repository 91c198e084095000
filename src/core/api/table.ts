import { MEMORY_ROUTES } from "./memory-route.ts";
import { PEOPLE_ROUTES } from "./people-route.ts";
import { QUESTION_ROUTES } from "./question-route.ts";
import type { Route } from "./route.ts";
import { RUN_ROUTES } from "./run-route.ts";

/** Everything that can be done over HTTP, by the engine's verbs. */
export const ROUTES = { ...QUESTION_ROUTES, ...RUN_ROUTES, ...PEOPLE_ROUTES, ...MEMORY_ROUTES };

export type Verb = keyof typeof ROUTES;
type Parts<V extends Verb> =
  (typeof ROUTES)[V] extends Route<infer Params, infer Query, infer Body, infer Rows>
    ? { params: Params; query: Query; body: Body; rows: Rows }
    : never;

/** What a request of that verb says, once parsed. */
export type RequestOf<V extends Verb> = Pick<Parts<V>, "params" | "query" | "body">;
/** What the engine gives for it. */
export type RowsOf<V extends Verb> = Parts<V>["rows"];

export const VERBS = Object.keys(ROUTES) as Verb[]; // the keys of the table
