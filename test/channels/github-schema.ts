import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

/** A schema as far as its fields are looked for. */
type Schema = { properties?: object } & { [part in "oneOf" | "anyOf" | "allOf"]?: Schema[] };

interface Described {
  query: string[];
  request?: Schema;
  /** By status; null where GitHub publishes the status without a shape. */
  responses: Record<string, object | null>;
}

/** Statuses that GitHub documents for every operation: no token, no right, no such thing, another name, limits and its own faults. */
const EVERYWHERE = new Set([301, 401, 403, 404, 429, 500, 502, 503]);
const BASIC_ERROR = { $ref: "github#/components/schemas/basic-error" };

/** An operation of GitHub's REST API as GitHub publishes it. */
export interface Operation {
  method: string;
  /** The path with its parameters in braces. */
  path: string;
  parameters: Record<string, string>;
  query: ReadonlySet<string>;
  /** The fields of a request's body. */
  fields: ReadonlySet<string>;
  checkRequest(body: unknown): string | undefined;
  checkResponse(status: number, body: unknown): string | undefined;
}

/** Checks requests and replies against a cut of GitHub's published OpenAPI description. */
export class GithubSchema {
  readonly #ajv = new Ajv({ strict: false, allErrors: true });
  readonly #operations: Array<{ method: string; path: string; shape: RegExp; described: Described }>;
  readonly #compiled = new Map<object, ValidateFunction>();

  constructor() {
    const file = resolve("test/fixtures/github/schema.json"); // long proofs run from a bundle elsewhere
    const { components, operations } = JSON.parse(readFileSync(file, "utf8")) as {
      components: object;
      operations: Record<string, Described>;
    };
    addFormats.default(this.#ajv);
    this.#ajv.addFormat("repo.nwo", /^[\w.-]+\/[\w.-]+$/);
    this.#ajv.addSchema({ $id: "github", components });
    this.#operations = Object.entries(operations)
      .map(([name, described]) => {
        const [method = "", path = ""] = name.split(" ");
        const shape = new RegExp(`^${path.replaceAll("{ref}", "(?<ref>.+)").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
        return { method: method.toUpperCase(), path, shape, described };
      })
      .sort((one, other) => one.path.split("{").length - other.path.split("{").length);
  }

  find(method: string, pathname: string): Operation | undefined {
    const found = this.#operations.find((each) => each.method === method && each.shape.test(pathname));
    if (!found) return undefined;
    const { request, responses, query } = found.described;
    return {
      method,
      path: found.path,
      parameters: { ...found.shape.exec(pathname)?.groups },
      query: new Set(query),
      fields: new Set(request ? fieldsOf(request) : []),
      checkRequest: (body) => (request ? this.#check(request, body) : undefined),
      checkResponse: (status, body) => {
        const schema = responses[status] ?? (EVERYWHERE.has(status) ? BASIC_ERROR : undefined);
        if (responses[status] === null) return undefined;
        return schema ? this.#check(schema, body) : "GitHub describes no such reply";
      },
    };
  }

  #check(schema: object, body: unknown): string | undefined {
    let check = this.#compiled.get(schema);
    if (!check) this.#compiled.set(schema, (check = this.#ajv.compile(schema)));
    return check(body) ? undefined : this.#ajv.errorsText(check.errors);
  }
}

function fieldsOf(schema: Schema): string[] {
  const parts = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  return [...Object.keys(schema.properties ?? {}), ...parts.flatMap(fieldsOf)];
}
