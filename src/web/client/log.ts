import { refreshSoon } from "./live.ts";
import { all, find, parsePage } from "./dom.ts";

const GOING_MS = 1_000;
const QUIET_MS = 5_000;
const REFRESH_MS = 10_000;
const MOST_ROWS = 600;
const NEAR_END_PX = 40;

let refreshedAt = performance.now();

/** Appends new lines to the log while the page is open. */
export function followLog(): void {
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

async function read(log: HTMLElement): Promise<void> {
  if (document.hidden) return;
  const { src = "", next = "" } = log.dataset;
  const response = await fetch(`${src}?from=${encodeURIComponent(next)}`, { headers: { accept: "text/html" } });
  if (response.status !== 200 || response.redirected) return;
  const part = find<HTMLElement>("#log", parsePage(await response.text()));
  if (!part) return;
  log.dataset["next"] = part.dataset["next"] ?? next;
  const rows = all<HTMLElement>(":scope > div", part);
  if (rows.length === 0) return;
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END_PX;
  find(".log-none")?.remove();
  for (const row of rows) add(log, row);
  while (log.childElementCount > MOST_ROWS) log.firstElementChild?.remove();
  if (isAtEnd) log.scrollTop = log.scrollHeight;
  // No event reports the usage so far, so refresh now and then.
  if (performance.now() - refreshedAt < REFRESH_MS) return;
  refreshedAt = performance.now();
  refreshSoon();
}

function add(log: HTMLElement, row: HTMLElement): void {
  const last = log.lastElementChild;
  if (row.dataset["joined"] && last) last.append(row.textContent ?? "");
  else log.append(row);
}
