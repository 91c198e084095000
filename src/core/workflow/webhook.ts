/** A signed request of a program, that may start workflows. */
export interface Webhook {
  /** The name in its address. */
  name: string;
  /** The id that its sender gave it: the same id again is the same request. */
  id: string;
  body: unknown;
}

/** The runs that a request to a webhook has started; `refused` are workflows that wait for it and could not begin. */
export interface WebhookResult {
  runs: ReadonlyArray<{ runId: string; number: number; workflow: string }>;
  refused: ReadonlyArray<{ workflow: string; code: string; detail: string }>;
}
