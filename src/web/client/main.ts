import { restoreDraft, deleteOldDrafts } from "./stored-draft.ts";
import { labelPrimary, watchForms } from "./form.ts";
import { watchKeys } from "./keys.ts";
import { followEvents, reportPresence, refreshSoon, showConnection } from "./live.ts";
import { sendTimeZone, updateTimes } from "./running-time.ts";
import { showCurrentRow } from "./merge-list.ts";
import { watchPalette } from "./palette.ts";
import { watchSelection } from "./batch-selection.ts";
import { showBadge } from "./merge-page.ts";
import { find, parsePage, all } from "./dom.ts";

const SECOND_MS = 1000;

restoreDraft();
watchForms();
watchKeys();
watchSelection();
watchPalette();
showBadge();
followEvents();
reportPresence();
deleteOldDrafts();
showWork();
followLog();
showConnection();
showCurrentRow();
if (sendTimeZone()) refreshSoon();
setInterval(() => {
  updateTimes();
  showConnection();
}, SECOND_MS);
// A page restored from the back/forward cache is as old as when it was left.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  refreshSoon();
  labelPrimary();
});
const GOING_MS = 1_000;
const QUIET_MS = 5_000;
const REFRESH_MS = 10_000;
const MOST_ROWS = 600;
/** Rows kept for a reader who looks at earlier ones; then new ones wait until the reader is back at the end. */
const MOST_READ_ROWS = 10_000;
const NEAR_END_PX = 40;

let refreshedAt = performance.now();

/** Loads the agent's changes into the card. Git takes a while, so the card does not wait for it. */
function showWork() {
  const place = find<HTMLElement>("#work[data-src]");
  if (place) readWork(place.dataset["src"] ?? "").catch(() => undefined); // the link to the changes stays
}

async function readWork(address: string) {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  const work = response.ok ? find("#work", parsePage(await response.text())) : null;
  if (work) find("#work")?.replaceWith(work);
}

/** Appends new lines to the log while the page is open. */
function followLog() {
  const log = find<HTMLElement>("#log");
  if (!log) return;
  log.scrollTop = log.scrollHeight;
  const again = (): void => {
    const isGoing = find<HTMLElement>("main")?.dataset["going"] === "yes";
    setTimeout(
      () =>
        void read(log)
          .catch(() => undefined)
          .finally(again),
      isGoing ? GOING_MS : QUIET_MS,
    );
  };
  again();
}

async function read(log: HTMLElement) {
  if (document.hidden || (!isAtEnd(log) && log.childElementCount >= MOST_READ_ROWS)) return;
  const { src = "", next = "" } = log.dataset;
  const response = await fetch(`${src}?from=${encodeURIComponent(next)}`, { headers: { accept: "text/html" } });
  if (response.status !== 200 || response.redirected) return;
  const part = find<HTMLElement>("#log", parsePage(await response.text()));
  if (!part) return;
  log.dataset["next"] = part.dataset["next"] ?? next;
  const rows = all<HTMLElement>(":scope > div", part);
  if (rows.length === 0) return;
  const isFollowing = isAtEnd(log);
  find(".log-none")?.remove();
  for (const row of rows) add(log, row);
  if (isFollowing) {
    while (log.childElementCount > MOST_ROWS) log.firstElementChild?.remove();
    log.scrollTop = log.scrollHeight;
  }
  // No event reports the usage so far, so refresh now and then.
  if (performance.now() - refreshedAt < REFRESH_MS) return;
  refreshedAt = performance.now();
  refreshSoon();
}

function isAtEnd(log: HTMLElement) {
  return log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END_PX;
}

function add(log: HTMLElement, row: HTMLElement) {
  const last = log.lastElementChild;
  if (row.dataset["joined"] && last) last.append(row.textContent ?? "");
  else log.append(row);
}
