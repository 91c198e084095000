import type { Context } from "hono";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types askd",
  "report-uri /csp-report",
].join("; ");

/** Policy of pages without a script. */
const PLAIN_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** Sends a page that may run only our own script. */
export function sendPage(context: Context, page: unknown, status = 200): Response | Promise<Response> {
  return send(context, page, { policy: POLICY, status });
}

/** Sends a page without a script. */
export function sendPlainPage(context: Context, page: unknown, status = 200): Response | Promise<Response> {
  return send(context, page, { policy: PLAIN_POLICY, status });
}

function send(context: Context, page: unknown, { policy, status }: { policy: string; status: number }) {
  context.header("Content-Security-Policy", policy);
  // With `no-referrer` browsers also hide the origin of our own forms, which we check.
  context.header("Referrer-Policy", "same-origin");
  context.status(status as 200); // the type lists every status
  return context.html(String(page));
}
