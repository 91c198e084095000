import { type LogLevel, type Logger, WebClient, type WebClientOptions } from "@slack/web-api";

const TIMEOUT_MS = 15_000;

/** The clients write to the console; what they would say is in the errors that they throw. */
export const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  // The level is an enumeration, which only the library itself can name.
  getLevel: () => "error" as LogLevel,
  setName: () => undefined,
};

/** One attempt with an end: the client's own ten attempts would keep a message in memory for half an hour. */
export function clientOptions(url: string): WebClientOptions {
  return {
    slackApiUrl: `${url}/`,
    logger: SILENT,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: TIMEOUT_MS,
  };
}

/** Calls a method of the Web API; throws the client's error. */
export async function callSlack(
  { url, token, fetch }: { url: string; token: string; fetch: WebClientOptions["fetch"] },
  method: string,
  args: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  return new WebClient(token, { ...clientOptions(url), fetch }).apiCall(method, { ...args });
}
