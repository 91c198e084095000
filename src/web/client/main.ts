import { restoreDraft, sweepDrafts } from "./stored-draft.ts";
import { labelPrimary, watchForms } from "./form.ts";
import { watchKeys } from "./keys.ts";
import { follow, lookEverySoOften, refreshSoon, showLost } from "./live.ts";
import { tellZone, tick } from "./running-time.ts";
import { showCurrentRow } from "./merge-list.ts";
import { followLog } from "./log.ts";
import { watchPalette } from "./palette.ts";
import { watchPicks } from "./batch-selection.ts";
import { showBadge } from "./badge.ts";
import { showWork } from "./work.ts";

const SECOND_MS = 1000;

restoreDraft();
watchForms();
watchKeys();
watchPicks();
watchPalette();
showBadge();
follow();
lookEverySoOften();
sweepDrafts();
showWork();
followLog();
showLost();
showCurrentRow();
if (tellZone()) refreshSoon();
setInterval(() => {
  tick();
  showLost();
}, SECOND_MS);
// A page that comes back out of the browser's memory is as old as when it was left.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  refreshSoon();
  labelPrimary();
});
