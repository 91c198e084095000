import { epochMs, type Instant } from "../../core/instant.ts";
import type { Span } from "../../core/trail/trace.ts";

const INTERNAL = 1;
const FAILED = 2;

/** Where spans are sent, as the environment variables of OpenTelemetry say. */
export interface OtlpTarget {
  url: string;
  headers: Record<string, string>;
  service: string;
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
export function otlpBody(spans: readonly Span[], { service, version }: { service: string; version: string }): string {
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

function attributes(values: Record<string, string | number>): object[] {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
  }));
}

/** Too large for a JSON number. */
function nanos(at: Instant): string {
  return `${epochMs(at)}000000`;
}

/** `name=value,name=value`, with values escaped as in addresses. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(",").flatMap((pair) => {
    const [name = "", ...value] = pair.split("=");
    return name.trim() === "" || value.length === 0 ? [] : [[name.trim(), decode(value.join("=").trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // it was not escaped
  }
}
