import type { KeptEvent } from "../../core/trail/event.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import { endsQuestion, traceRun, type Span } from "../../core/trail/trace.ts";
import type { Engine } from "../../engine/engine.ts";
import { SECOND_MS, epochMs, type Instant } from "../../core/instant.ts";

const MOST_RUNS = 1_000;
const REMEMBERED = 10_000;

export interface TracerDeps {
  engine: Pick<Engine, "findRun" | "readChain">;
  sender: SpanSender;
  onFailure(error: unknown): void;
}
const MOST_WAITING = 4_096;
const BATCH = 512;
const TIMEOUT_MS = 10 * SECOND_MS;

interface SenderDeps {
  target: OtlpTarget;
  version: string;
  everyMs: number;
  /** Reports spans that did not arrive; they are not sent again. */
  onFailure(error: unknown, spans: number): void;
}
const INTERNAL = 1;
const FAILED = 2;

/** Where spans are sent, as the environment variables of OpenTelemetry say. */
export interface OtlpTarget {
  url: string;
  headers: Record<string, string>;
  service: string;
}

/** Makes the spans of questions that are over, from the events of their runs. */
export class Tracer {
  readonly #deps: TracerDeps;
  readonly #runs = new Set<RunId>();
  readonly #sent = new Set<QuestionId>();
  #working: Promise<void> | undefined;

  constructor(deps: TracerDeps) {
    this.#deps = deps;
  }

  take(events: readonly KeptEvent[]): void {
    for (const { event } of events) {
      // Too many to look at: spans left out are missing from the traces only.
      if (endsQuestion(event) && this.#runs.size < MOST_RUNS) this.#runs.add(event.runId);
    }
    if (this.#runs.size > 0) this.#working ??= this.#work();
  }

  /** Sends queued spans and stops. */
  async stop(): Promise<void> {
    await this.#working;
    await this.#deps.sender.flush();
  }

  async #work() {
    for (const id of this.#runs) {
      this.#runs.delete(id);
      await this.#trace(id).catch((error: unknown) => this.#deps.onFailure(error));
    }
    this.#working = undefined;
  }

  async #trace(id: RunId) {
    const run = await this.#deps.engine.findRun(id);
    if (!run) return;
    const kept = await this.#deps.engine.readChain(id);
    const spans = traceRun(
      run,
      kept.map(({ event }) => event),
    );
    for (const [questionId, made] of spans) {
      if (this.#sent.has(questionId)) continue;
      this.#remember(questionId);
      this.#deps.sender.add(made);
    }
  }

  #remember(id: QuestionId): void {
    this.#sent.add(id);
    const [oldest] = this.#sent;
    if (this.#sent.size > REMEMBERED && oldest !== undefined) this.#sent.delete(oldest);
  }
}

/** Sends spans in batches. A receiver that is slow or away costs a bounded memory and nothing else. */
export class SpanSender {
  readonly #deps: SenderDeps;
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  add(spans: readonly Span[]): void {
    const room = MOST_WAITING - this.#waiting.length;
    this.#waiting.push(...spans.slice(0, room));
    if (spans.length > room) this.#deps.onFailure(new Error("too many spans wait"), spans.length - room);
    this.#timer ??= setTimeout(() => void this.flush(), this.#deps.everyMs).unref();
  }

  /** Sends queued spans; never fails. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#sending.then(() => this.#sendAll());
    return this.#sending;
  }

  async #sendAll() {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      this.#waiting = this.#waiting.slice(BATCH);
      await this.#send(batch).catch((error: unknown) => this.#deps.onFailure(error, batch.length));
    }
  }

  async #send(batch: readonly Span[]) {
    const { target, version } = this.#deps;
    const response = await fetch(target.url, {
      method: "POST",
      redirect: "error",
      headers: { ...target.headers, "content-type": "application/json" },
      body: otlpBody(batch, { service: target.service, version }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the receiver of traces replied ${response.status}`);
  }
}

/** Reads the variables of OpenTelemetry; without an endpoint nothing is sent. */
export function readTarget(env: Readonly<Record<string, string | undefined>>): OtlpTarget | undefined {
  const base = env["OTEL_EXPORTER_OTLP_ENDPOINT"]?.replace(/\/+$/, "");
  const url = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || (base && `${base}/v1/traces`);
  if (!url || env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return undefined;
  const headers = env["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] ?? env["OTEL_EXPORTER_OTLP_HEADERS"] ?? "";
  return { url, headers: readHeaders(headers), service: env["OTEL_SERVICE_NAME"] || "askd" };
}

/** One request of OTLP over HTTP, as JSON. */
function otlpBody(spans: readonly Span[], { service, version }: { service: string; version: string }) {
  const resource = { attributes: attributes({ "service.name": service, "service.version": version }) };
  const scopeSpans = [{ scope: { name: "askd", version }, spans: spans.map(saySpan) }];
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] });
}

function saySpan(span: Span): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentId,
    name: span.name,
    kind: INTERNAL,
    startTimeUnixNano: nanos(span.startAt),
    endTimeUnixNano: nanos(span.endAt),
    attributes: attributes(span.attributes),
    ...(span.linkedId !== undefined && { links: [{ traceId: span.traceId, spanId: span.linkedId }] }),
    status: span.isError ? { code: FAILED } : {},
  };
}

function attributes(values: Record<string, string | number>) {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
  }));
}

/** Too large for a JSON number. */
function nanos(at: Instant) {
  return `${epochMs(at)}000000`;
}

/** `name=value,name=value`, with values escaped as in addresses. */
function readHeaders(text: string) {
  const pairs = text.split(",").flatMap((pair) => {
    const [name = "", ...value] = pair.split("=");
    return name.trim() === "" || value.length === 0 ? [] : [[name.trim(), decode(value.join("=").trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decode(text: string) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // it was not escaped
  }
}
