import { restoreDraft } from "./stored-draft.ts";
import { all, announce, body, card, find, say } from "./dom.ts";
import { mergeList } from "./merge-list.ts";
import { restoreSelection } from "./batch-selection.ts";

const ANNOUNCE_MS = 60_000;
let announcedAt = -Infinity;
let known = new Set(rowIds(document));

/** Updates the page from a newer one without moving what is read or losing what is written. */
export function mergePage(page: Document): void {
  mergeHead(page);
  mergePart("#toast", page);
  const list = find<HTMLElement>("#list");
  const fresh = find<HTMLElement>("#list", page);
  tellArrivals(page);
  if (list && fresh) {
    mergeList(list, fresh);
    restoreSelection();
  }
  if (find("main.run")) mergeRun(page);
  else mergeMain(page);
  for (const { id } of all("[data-live]")) mergePart(`#${id}`, page);
  all<HTMLElement>("[data-copy]").forEach((button) => (button.hidden = false));
}

function mergeHead(page: Document) {
  document.title = page.title;
  body.dataset["waiting"] = page.body.dataset["waiting"] ?? "";
  showBadge();
  const [icon, next] = [find<HTMLLinkElement>("link[rel=icon]"), find<HTMLLinkElement>("link[rel=icon]", page)];
  if (icon && next && icon.getAttribute("href") !== next.getAttribute("href")) icon.replaceWith(next);
  mergePart(".top nav", page);
}

/** Shows the number of waiting questions on the app icon, if the page is installed. */
export function showBadge(): void {
  if (!("setAppBadge" in navigator)) return;
  const waiting = Number(body.dataset["waiting"] ?? 0);
  // Rejected if the page is not installed; its title and icon show the number as well.
  (waiting > 0 ? navigator.setAppBadge(waiting) : navigator.clearAppBadge()).catch(() => undefined);
}

/** Announces new questions to screen readers, at most once a minute. */
function tellArrivals(page: Document) {
  const ids = rowIds(page);
  const arrived = ids.find((id) => !known.has(id));
  known = new Set(ids);
  if (arrived === undefined || performance.now() - announcedAt < ANNOUNCE_MS) return;
  announcedAt = performance.now();
  const title = find(`li[data-id="${arrived}"] .q, li[data-ids~="${arrived}"] .q`, page)?.textContent ?? "";
  announce(say("arrived", { n: ids.length, title }));
}

function rowIds(page: ParentNode) {
  return all<HTMLElement>('[data-group="waiting"] li[data-id]', page).flatMap((row) =>
    (row.dataset["ids"] ?? row.dataset["id"] ?? "").split(" "),
  );
}

function mergeMain(page: Document) {
  const [main, next] = [find<HTMLElement>("main"), find<HTMLElement>("main", page)];
  if (!main || !next || main.classList.contains("page")) return;
  if (!card() || main.dataset["id"] !== next.dataset["id"]) {
    if (!main.isEqualNode(next)) main.replaceWith(next);
    restoreDraft();
    return;
  }
  for (const part of [".crumb", "#chips", "#seen", "#terminal", "#activity", "#comments", "#notices"])
    mergePart(part, page);
  const isSame = main.dataset["state"] === next.dataset["state"];
  if (isSame && find("#answer")) return;
  mergePart("#state", page, isSame);
  for (const name of ["state", "by"]) main.dataset[name] = next.dataset[name] ?? "";
  main.className = next.className;
  restoreDraft();
}

/** Updates the question above a log and keeps what was written. */
function mergeRun(page: Document) {
  const [main, next] = [find<HTMLElement>("main"), find<HTMLElement>("main", page)];
  if (!main || !next || !next.classList.contains("run")) return;
  const isSame = main.dataset["id"] === next.dataset["id"] && main.dataset["state"] === next.dataset["state"];
  if (isSame && find("#answer")) mergePart("#notices", page);
  else mergePart("#asks", page, isSame);
  for (const name of ["id", "state", "by", "going"]) {
    const value = next.dataset[name];
    if (value === undefined) delete main.dataset[name];
    else main.dataset[name] = value;
  }
  restoreDraft();
}

/** Replaces a changed part, unless it has the focus or unsent text. */
function mergePart(selector: string, page: Document, isGentle = true) {
  const [part, next] = [find(selector), find(selector, page)];
  if (!part || !next || part.isEqualNode(next)) return;
  const isBusy =
    part.contains(document.activeElement) || all<HTMLTextAreaElement>("textarea", part).some(({ value }) => value);
  if (isGentle && isBusy) return;
  part.replaceWith(next);
}
