import { mergePage } from "./merge-page.ts";
import { body, card, find, parsePage, readField, say } from "./dom.ts";
import { listUnsent } from "./outbox.ts";
import { saySpan } from "./running-time.ts";

const TOGETHER_MS = 60;
const AGAIN_MS = 2_000;
const LOOK_MS = 12_000;
/** Status codes of a proxy without a server behind it, and of a server without its store. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504, 520, 521, 522, 523, 524]);

let source: EventSource | undefined;
let lostAt: number | undefined;
let cursor = body.dataset["cursor"];
let isWanted = false;
let isReading = false;
let isMissed = false;
let tookMs = 0;
const onBack = new Map<string, () => Promise<void>>();

/** Follows the event stream while the page is open. */
export function followEvents(): void {
  if (cursor === undefined) return;
  source = new EventSource(`/live?after=${encodeURIComponent(cursor)}`);
  source.addEventListener("open", connectionBack);
  source.addEventListener("message", (message) => {
    cursor = message.lastEventId || cursor;
    refreshSoon();
  });
  source.addEventListener("error", () => {
    connectionLost();
    // Browsers reconnect by themselves unless the server rejected the request.
    if (source?.readyState === EventSource.CLOSED) setTimeout(followEvents, AGAIN_MS);
  });
}

/** Runs work when the connection is back; the last one for each name. */
export function onReconnect(name: string, work: () => Promise<void>): void {
  onBack.set(name, work);
}

/** True if the response means that the server is not reachable. */
export function isServerAway({ status }: Response): boolean {
  return AWAY.has(status);
}

/** True while the server cannot be reached, as far as known. */
export function isConnectionLost(): boolean {
  return lostAt !== undefined;
}

/** Records that the server was not reached. */
export function connectionLost(): void {
  lostAt ??= Date.now();
  showConnection();
  // The open stream has not noticed; a new one reports when the server is back.
  if (source?.readyState !== EventSource.OPEN) return;
  source.close();
  setTimeout(followEvents, AGAIN_MS);
}

/** Shows how long the connection has been lost, or that it is live. */
export function showConnection(): void {
  const banner = find<HTMLElement>("#offline");
  if (!banner || banner.dataset["why"] !== undefined) return;
  banner.hidden = lostAt === undefined;
  const live = find<HTMLElement>("#live");
  if (live) live.hidden = lostAt !== undefined;
  if (lostAt === undefined) return;
  const unsent = listUnsent().length;
  const count = unsent === 0 ? "" : ` ${say(unsent === 1 ? "live.unsent.one" : "live.unsent", { n: unsent })}`;
  banner.textContent = say("live.lost", { span: saySpan(Date.now() - lostAt) }) + count;
}

/** Shows that a kept answer was not accepted, with the way to its question; the text is still there. */
export function showRefused(address: string): void {
  showReason("refused", "live.refused", { address, label: "live.refused.open" });
}

/** Refreshes the page soon, once for events that arrive together. */
export function refreshSoon(): void {
  if (isWanted) return;
  isWanted = true;
  // Under many events, refreshing takes at most a fifth of the time.
  setTimeout(() => void refresh(), Math.max(TOGETHER_MS, 4 * tookMs));
}

/**
 * Reports every few seconds that somebody looks at this page, so that their phone stays quiet, and which question is
 * open; shows who else has it open.
 */
export function reportPresence(): void {
  const report = async () => {
    const csrf = find<HTMLInputElement>("input[name=csrf]")?.value;
    if (csrf === undefined || document.hidden || lostAt !== undefined) return;
    const post = (path: string) => fetch(path, { method: "POST", body: new URLSearchParams({ csrf }) });
    if (cursor !== undefined && document.hasFocus()) await post("/here");
    const id = card()?.dataset["id"];
    if (id === undefined) return;
    const response = await post(`/q/${id}/look`);
    const seen = response.ok ? await readField(response, "seen") : undefined;
    const words = find("#seen p");
    if (words && seen !== undefined && card()?.dataset["id"] === id) words.textContent = seen;
  };
  const quietly = (): void => void report().catch(() => undefined); // the stream reports a lost connection
  setTimeout(quietly, 500);
  setInterval(quietly, LOOK_MS);
}

function connectionBack() {
  const wasLost = lostAt !== undefined;
  lostAt = undefined;
  showConnection();
  if (!wasLost) return;
  const waiting = [...onBack.values()];
  onBack.clear();
  void Promise.all(waiting.map((work) => work())).then(refreshSoon);
}

async function refresh() {
  isWanted = false;
  if (isReading) {
    isMissed = true;
    return;
  }
  isReading = true;
  const startedAt = performance.now();
  await read().catch(connectionLost);
  tookMs = performance.now() - startedAt;
  isReading = false;
  if (isMissed) refreshSoon();
  isMissed = false;
}

async function read() {
  const id = card()?.dataset["id"];
  const isPage = find("main.page, main.run") !== null;
  const query = [...new URLSearchParams(location.search)].filter(([name]) => name === "find" || name === "from");
  const list = query.length === 0 ? "" : `?${new URLSearchParams(query).toString()}`;
  const address = isPage || id === undefined ? location.pathname + location.search : `/q/${id}${list}`;
  const response = await fetch(address, { headers: { accept: "text/html" } });
  if (response.redirected && new URL(response.url).pathname === "/login") {
    signedOut();
    return;
  }
  if (response.ok) mergePage(parsePage(await response.text()));
  else if (isServerAway(response)) connectionLost();
}

function signedOut() {
  source?.close();
  const address = `/login?next=${encodeURIComponent(location.pathname)}`;
  showReason("signed-out", "live.signedOut", { address, label: "login.title" });
  const live = find<HTMLElement>("#live");
  if (live) live.hidden = true;
}

function showReason(why: string, words: string, to: { address: string; label: string }) {
  const banner = find<HTMLElement>("#offline");
  if (!banner) return;
  banner.dataset["why"] = why;
  const link = document.createElement("a");
  link.href = to.address;
  link.textContent = say(to.label);
  banner.replaceChildren(`${say(words)} `, link);
  banner.hidden = false;
}
