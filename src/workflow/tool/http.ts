import { z } from "zod";
import { parseInput } from "./step-input.ts";
import { StepError, type StepTool } from "./tool.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const;

const HttpInput = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  method: z
    .string()
    .transform((method) => method.toUpperCase())
    .pipe(z.enum(METHODS))
    .optional(),
  headers: z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[^\r\n]*$/)).optional(),
  body: z.string().optional(),
  json: z.unknown().optional(),
});

/** Sends a request to a public address; a reply that is no 2xx fails the step. */
export const http: StepTool = {
  isRepeatable: false,
  keys: Object.keys(HttpInput.shape),
  async run(input, { outside, signal, key }) {
    const { url, method, headers, body, json } = parseInput(HttpInput, input, "http");
    const { username, password } = new URL(url);
    if (username !== "" || password !== "") {
      throw new StepError("bad_input", "Credentials do not belong in an address; send them in a header");
    }
    const text = json === undefined ? body : JSON.stringify(json);
    const response = await outside.request({
      url,
      method: method ?? (text === undefined ? "GET" : "POST"),
      headers: {
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        // Services that know this header do the same step once.
        "idempotency-key": key,
        ...headers,
      },
      body: text,
      signal,
    });
    if (response.status >= 200 && response.status < 300) return { ...response, json: parseJson(response.body) };
    const said = response.body.trim();
    throw new StepError("http_status", `The reply has status ${response.status}${said === "" ? "" : `: ${said}`}`);
  },
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not every reply is JSON
  }
}
