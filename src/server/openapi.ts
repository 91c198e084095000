import { Hono } from "hono";
import { z } from "zod";
import { API_PATH, type Route, scopesOf } from "../core/api/route.ts";
import { ROUTES, VERBS, type Verb } from "../core/api/table.ts";
import { REFUSALS } from "../core/refusal.ts";
import type { RouteGroup } from "./app.ts";

const PROBLEM = {
  type: "object",
  required: ["type", "title", "status", "code", "detail"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string", enum: [...Object.keys(REFUSALS), "internal"] },
    detail: { type: "string" },
    hint: { type: "string" },
  },
};

/** Changes that count once however often they are sent, besides those of which the table says so. */
const ONCE: ReadonlySet<Verb> = new Set(["answer", "extend"] as const);

/** Serves the description of the API. */
export function openapiPart(version: string): RouteGroup {
  const app = new Hono();
  let text: string | undefined;
  app.get("/openapi.json", (context) => {
    text ??= JSON.stringify(openapi(version));
    context.header("Content-Type", "application/json");
    return context.body(text);
  });
  return { path: "/", public: app };
}

/** OpenAPI 3.1 from the table of routes; the operations' ids are the engine's verbs and stay. */
export function openapi(version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const verb of VERBS) {
    const row: Route = ROUTES[verb];
    const path = `${API_PATH}${row.path}`;
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation(verb, row) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "askd",
      version,
      summary: "An agent that runs without a person beside it asks one.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: { Problem: PROBLEM },
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
  };
}

function operation(verb: Verb, row: Route): object {
  const isWrite = row.method !== "GET";
  const hasBody = isWrite && Object.keys(propertiesOf(row.body)).length > 0;
  return {
    operationId: verb,
    summary: row.summary,
    ...(row.may === "no_token" && { security: [] }),
    "x-scopes": scopesOf(row),
    parameters: [
      ...parametersOf(row.params, "path"),
      ...parametersOf(row.query, "query"),
      ...(verb === "ask"
        ? [header("Idempotency-Key", "Names the ask: the same key is the same question for ever")]
        : []),
      ...(ONCE.has(verb) || row.takes?.includes("once")
        ? [header("Idempotency-Key", "Names the change: sent again with the same key, it counts once")]
        : []),
      ...(isWrite && row.path.startsWith("/questions/{id}")
        ? [header("If-Match", "The ETag of an earlier reply")]
        : []),
      ...(verb === "readFeed" ? [header("Last-Event-ID", "Go on after this event")] : []),
    ],
    ...(hasBody && { requestBody: { content: json(schemaOf(row.body, "input")) } }),
    responses: {
      "200": { description: "Done", content: { ...json(schemaOf(row.reply.schema, "output")), ...stream(verb) } },
      ...(verb === "ask" && { "201": { description: "Asked", content: json(schemaOf(row.reply.schema, "output")) } }),
      default: {
        description: "Refused",
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    },
  };
}

function parametersOf(schema: z.ZodType, place: "path" | "query") {
  const required = requiredOf(schema);
  return Object.entries(propertiesOf(schema)).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    schema: property,
  }));
}

function header(name: string, description: string): object {
  return { name, in: "header", required: false, description, schema: { type: "string" } };
}

function json(schema: object): object {
  return { "application/json": { schema } };
}

function stream(verb: Verb): object {
  return verb === "readFeed" ? { "text/event-stream": { schema: { type: "string" } } } : {};
}

function schemaOf(schema: z.ZodType, io: "input" | "output") {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

function propertiesOf(schema: z.ZodType): Record<string, unknown> {
  const { properties } = schemaOf(schema, "input");
  return properties !== null && typeof properties === "object" ? { ...properties } : {};
}

function requiredOf(schema: z.ZodType) {
  const { required } = schemaOf(schema, "input");
  return Array.isArray(required) ? required.map(String) : [];
}
