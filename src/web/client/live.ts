import { merge } from "./merge-page.ts";
import { body, card, find, parsePage, readField, say } from "./dom.ts";
import { saySpan } from "./running-time.ts";

const TOGETHER_MS = 60;
const AGAIN_MS = 2_000;
const LOOK_MS = 12_000;
/** A proxy replies so when nobody is behind it, and the server when its store is away. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504, 520, 521, 522, 523, 524]);

let source: EventSource | undefined;
let lostAt: number | undefined;
let cursor = body.dataset["cursor"];
let isWanted = false;
let isReading = false;
let isMissed = false;
let tookMs = 0;
const onBack = new Map<string, () => Promise<void>>();

/** Follows what happens, for as long as the page is open. */
export function follow(): void {
  if (cursor === undefined) return;
  source = new EventSource(`/live?after=${encodeURIComponent(cursor)}`);
  source.addEventListener("open", back);
  source.addEventListener("message", (message) => {
    cursor = message.lastEventId || cursor;
    refreshSoon();
  });
  source.addEventListener("error", () => {
    lost();
    // A browser tries again by itself, unless the server said no.
    if (source?.readyState === EventSource.CLOSED) setTimeout(follow, AGAIN_MS);
  });
}

/** Does this as soon as the connection is back; of several by one name the last. */
export function whenBack(name: string, work: () => Promise<void>): void {
  onBack.set(name, work);
}

/** Says whether whoever replied has no server to pass a request on to. */
export function isAway({ status }: Response): boolean {
  return AWAY.has(status);
}

/** Notes that the server was not reached. */
export function lost(): void {
  lostAt ??= Date.now();
  showLost();
  // The stream has not noticed yet; a new one says when the server is back.
  if (source?.readyState !== EventSource.OPEN) return;
  source.close();
  setTimeout(follow, AGAIN_MS);
}

/** Says for how long there was no connection. */
export function showLost(): void {
  const banner = find<HTMLElement>("#offline");
  if (!banner || banner.dataset["why"] === "signed-out") return;
  banner.hidden = lostAt === undefined;
  const live = find<HTMLElement>("#live");
  if (live) live.hidden = lostAt !== undefined;
  if (lostAt !== undefined) banner.textContent = say("live.lost", { span: saySpan(Date.now() - lostAt) });
}

/** Reads the page anew, once for all that happens at a time. */
export function refreshSoon(): void {
  if (isWanted) return;
  isWanted = true;
  // Where much happens, reading takes at most a fifth of the time.
  setTimeout(() => void refresh(), Math.max(TOGETHER_MS, 4 * tookMs));
}

/** Tells the others that this question is being looked at, and asks who else does. */
export function lookEverySoOften(): void {
  const look = async (): Promise<void> => {
    const id = card()?.dataset["id"];
    const csrf = find<HTMLInputElement>("input[name=csrf]")?.value;
    if (id === undefined || csrf === undefined || document.hidden || lostAt !== undefined) return;
    const response = await fetch(`/q/${id}/look`, { method: "POST", body: new URLSearchParams({ csrf }) });
    if (!response.ok) return;
    const seen = await readField(response, "seen");
    const words = find("#seen p");
    if (words && seen !== undefined && card()?.dataset["id"] === id) words.textContent = seen;
  };
  const quietly = (): void => void look().catch(() => undefined); // the stream says that the connection is lost
  setTimeout(quietly, 500);
  setInterval(quietly, LOOK_MS);
}

function back(): void {
  const wasLost = lostAt !== undefined;
  lostAt = undefined;
  showLost();
  if (!wasLost) return;
  const waiting = [...onBack.values()];
  onBack.clear();
  void Promise.all(waiting.map((work) => work())).then(refreshSoon);
}

async function refresh(): Promise<void> {
  isWanted = false;
  if (isReading) {
    isMissed = true;
    return;
  }
  isReading = true;
  const startedAt = performance.now();
  await read().catch(lost);
  tookMs = performance.now() - startedAt;
  isReading = false;
  if (isMissed) refreshSoon();
  isMissed = false;
}

async function read(): Promise<void> {
  const id = card()?.dataset["id"];
  const isPage = find("main.page, main.run") !== null;
  const wish = [...new URLSearchParams(location.search)].filter(([name]) => name === "find" || name === "from");
  const list = wish.length === 0 ? "" : `?${new URLSearchParams(wish).toString()}`;
  const address = isPage || id === undefined ? location.pathname + location.search : `/q/${id}${list}`;
  const response = await fetch(address, { headers: { accept: "text/html" } });
  if (response.redirected && new URL(response.url).pathname === "/login") {
    signedOut();
    return;
  }
  if (response.ok) merge(parsePage(await response.text()));
  else if (isAway(response)) lost();
}

function signedOut(): void {
  const banner = find<HTMLElement>("#offline");
  source?.close();
  if (!banner) return;
  banner.dataset["why"] = "signed-out";
  const link = document.createElement("a");
  link.href = `/login?next=${encodeURIComponent(location.pathname)}`;
  link.textContent = say("login.title");
  banner.replaceChildren(`${say("live.signedOut")} `, link);
  banner.hidden = false;
  const live = find<HTMLElement>("#live");
  if (live) live.hidden = true;
}
