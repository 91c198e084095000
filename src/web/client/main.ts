import { restoreDraft, deleteOldDrafts } from "./stored-draft.ts";
import { labelPrimary, watchForms } from "./form.ts";
import { watchKeys } from "./keys.ts";
import { followEvents, reportPresence, refreshSoon, showConnection } from "./live.ts";
import { sendTimeZone, updateTimes } from "./running-time.ts";
import { showCurrentRow } from "./merge-list.ts";
import { followLog } from "./log.ts";
import { watchPalette } from "./palette.ts";
import { watchSelection } from "./batch-selection.ts";
import { showBadge } from "./merge-page.ts";
import { find, parsePage } from "./dom.ts";

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

/** Loads the agent's changes into the card. Git takes a while, so the card does not wait for it. */
function showWork(): void {
  const place = find<HTMLElement>("#work[data-src]");
  if (place) readWork(place.dataset["src"] ?? "").catch(() => undefined); // the link to the changes stays
}

async function readWork(address: string): Promise<void> {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  const work = response.ok ? find("#work", parsePage(await response.text())) : null;
  if (work) find("#work")?.replaceWith(work);
}
