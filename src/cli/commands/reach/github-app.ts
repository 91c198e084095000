import { randomBytes, timingSafeEqual } from "node:crypto";
import { type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { Refusal } from "../../../core/refusal.ts";
import type { Context } from "../../context.ts";
import { Interrupted } from "../../terminal/interrupted.ts";
import { findBrowser } from "../../terminal/browser.ts";
import { keepSecret, say } from "./secret-input.ts";

/** GitHub takes a code for an hour. */
const WAIT_MS = 60 * 60 * 1000;
const TIMEOUT_MS = 15_000;
const LOOK_MS = 1_000;
const STATE_BYTES = 16;
const PROJECT = "https://github.com/askd/askd";

/** The app that GitHub made from the manifest, with its secrets. */
const MadeApp = z.object({
  id: z.int(),
  html_url: z.url(),
  pem: z.string().startsWith("-----BEGIN "),
  webhook_secret: z.string().nullable(),
});
type MadeApp = z.infer<typeof MadeApp>;

interface AppPlace {
  /** The address of the REST API. */
  api: string;
  /** The organisation that owns the app; the person themselves if not given. */
  organisation: string | undefined;
}

/** Makes a GitHub App: a page on this machine posts its manifest, and GitHub hands its key to this machine alone. */
export async function makeGithubApp(
  place: AppPlace,
  context: Context,
): Promise<{ id: number; keyFile: string; secretFile: string | undefined; url: string }> {
  const made = await askForApp(place, context);
  const keyFile = await keepSecret("github-app-key.pem", made.pem.trim(), context);
  const secretFile =
    made.webhook_secret === null ? undefined : await keepSecret("github-webhook-secret", made.webhook_secret, context);
  return { id: made.id, keyFile, secretFile, url: made.html_url };
}

/** The permissions and the events that askd needs; without a public address it looks for comments itself. */
export function appManifest(
  callback: string,
  { publicUrl, organisation }: { publicUrl: string | undefined; organisation: string | undefined },
) {
  const hook = publicUrl === undefined ? undefined : `${publicUrl.replace(/\/+$/, "")}/hooks/github`;
  return {
    // Names of apps are unique on all of GitHub.
    name: `askd ${randomBytes(4).toString("hex")}`,
    url: PROJECT,
    redirect_url: callback,
    public: false,
    default_permissions: {
      issues: "write",
      pull_requests: "write",
      metadata: "read",
      // Only organisations have teams.
      ...(organisation === undefined ? {} : { members: "read" }),
    },
    ...(hook === undefined
      ? {}
      : { hook_attributes: { url: hook, active: true }, default_events: ["issue_comment", "issues"] }),
  };
}

async function askForApp(place: AppPlace, context: Context): Promise<MadeApp> {
  const state = randomBytes(STATE_BYTES).toString("hex");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const code = waitForCode(server, { own, state, place, publicUrl: context.rules.publicUrl });
    code.catch(() => undefined); // it is awaited below, and may fail before that
    say(context, `Open this page and agree to make the app: ${own}/`);
    await openBrowser(`${own}/`, context);
    return await exchange(place.api, await withinTime(code, context));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Serves the page with the manifest, and takes the code that GitHub sends the browser back with. */
function waitForCode(
  server: Server,
  { own, state, place, publicUrl }: { own: string; state: string; place: AppPlace; publicUrl: string | undefined },
): Promise<string> {
  const target = `${webAddress(place.api)}${newAppPath(place.organisation)}?state=${state}`;
  const manifest = JSON.stringify(appManifest(`${own}/made`, { publicUrl, organisation: place.organisation }));
  return new Promise((resolve) => {
    server.on("request", ({ url = "/", method, headers }, response: ServerResponse) => {
      const address = new URL(url, own);
      // A name that leads to this machine must not open the page from elsewhere.
      if (method !== "GET" || headers.host !== new URL(own).host) return void response.writeHead(404).end();
      if (address.pathname === "/") return sendPage(response, target, manifest);
      const code = address.searchParams.get("code") ?? "";
      const isOurs = isSame(address.searchParams.get("state") ?? "", state);
      if (address.pathname !== "/made" || !isOurs || !/^\w{1,100}$/.test(code)) {
        return void response.writeHead(404).end();
      }
      response.writeHead(200, { "content-type": "text/plain; charset=utf-8", "referrer-policy": "no-referrer" });
      response.end("The app is made. Go on in the terminal.\n", () => resolve(code));
    });
  });
}

function sendPage(response: ServerResponse, target: string, manifest: string): void {
  const origin = new URL(target).origin;
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; form-action ${origin}`,
    "referrer-policy": "no-referrer",
  });
  response.end(
    `<!doctype html><title>askd</title><h1>Make a GitHub App for askd</h1>` +
      `<p>It may read and write issues and pull requests of the repositories that you install it in, and in an organisation` +
      ` read who belongs to its teams.</p>` +
      `<form method="post" action="${escapeHtml(target)}">` +
      `<input type="hidden" name="manifest" value="${escapeHtml(manifest)}"><button>Make it on GitHub</button></form>`,
  );
}

/** The pages of GitHub beside its REST API. */
function webAddress(api: string): string {
  if (api === "https://api.github.com") return "https://github.com";
  return api.replace(/\/api\/v3$/, "");
}

function newAppPath(organisation: string | undefined): string {
  return organisation === undefined
    ? "/settings/apps/new"
    : `/organizations/${encodeURIComponent(organisation)}/settings/apps/new`;
}

async function exchange(api: string, code: string): Promise<MadeApp> {
  const response = await fetch(`${api}/app-manifests/${code}/conversions`, {
    method: "POST",
    headers: { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28", "user-agent": "askd" },
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const made = MadeApp.safeParse(await response.json().catch(() => undefined));
  if (response.status === 201 && made.success) return made.data;
  throw new Refusal("bad_input", `GitHub does not hand the app over (status ${response.status})`, {
    hint: "Delete it on GitHub and try again: askd setup github --app",
  });
}

async function openBrowser(url: string, context: Context): Promise<void> {
  const browser = findBrowser(context);
  if (!browser) return;
  // The address is printed in any case.
  await context.runChild({ argv: [...browser.argv, url], stdio: browser.stdio }).catch(() => undefined);
}

async function withinTime(code: Promise<string>, context: Context): Promise<string> {
  const interrupt = context.interrupt();
  const signal = AbortSignal.any([interrupt, AbortSignal.timeout(WAIT_MS)]);
  const late = new Promise<never>((_resolve, reject) => {
    const tooLate = new Refusal("bad_input", "Nobody made the app", { hint: "Try again: askd setup github --app" });
    const refuse = () => reject(interrupt.aborted ? new Interrupted() : tooLate);
    if (signal.aborted) refuse();
    signal.addEventListener("abort", refuse, { once: true });
  });
  return Promise.race([code, late]);
}

/** Waits until the app is installed in the repository; returns where its comments go. */
export async function waitForInstallation(context: Context): Promise<string> {
  const channel = await context.openChannel("github");
  const signal = context.interrupt();
  for (const end = Date.now() + WAIT_MS; ;) {
    try {
      return await channel.verify();
    } catch (error) {
      const isMissing = error instanceof Error && error.message.includes("is not installed in");
      if (!isMissing || Date.now() > end) throw error;
    }
    if (signal.aborted) throw new Interrupted();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
