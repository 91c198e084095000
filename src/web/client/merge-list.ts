import { all, find, say } from "./dom.ts";

/** Updates the list without moving the row that is being read: new rows are added below it. */
export function mergeList(list: HTMLElement, fresh: HTMLElement): void {
  const anchor = anchorOf(list);
  list.className = fresh.className;
  const open = new Set(all<HTMLDetailsElement>("details[open]", list).map(groupOf));
  if (!anchor) {
    for (const section of all("section", list)) section.remove();
    list.append(...all("section", fresh));
    for (const details of all<HTMLDetailsElement>("details", list)) details.open ||= open.has(groupOf(details));
    return;
  }
  const next = new Map(all<HTMLElement>("li[data-id]", fresh).map((row) => [row.dataset["id"], row]));
  for (const row of all<HTMLElement>("li[data-id]", list)) updateRow(row, next.get(row.dataset["id"]), anchor);
  const listed = new Set(all<HTMLElement>("li[data-id]:not(.gone)", list).map((row) => row.dataset["id"]));
  let after = sectionOf(anchor);
  for (const section of all<HTMLElement>("section", fresh)) {
    after = mergeSection({ list, section, anchor, after, listed });
  }
  dropEmpty(list, fresh, anchor);
}

/** Scrolls only the list to the open row. */
export function showCurrentRow(): void {
  const list = find<HTMLElement>("#list");
  const row = find<HTMLElement>(".row[aria-current]", list ?? document);
  if (!list || !row) return;
  const [inside, outside] = [row.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inside.bottom > outside.bottom) list.scrollTop += inside.bottom - outside.bottom;
}

/** The focused row, or else the open one. */
function anchorOf(list: HTMLElement) {
  const focused = document.activeElement?.closest<HTMLElement>("#list li");
  return focused ?? find<HTMLElement>(".row[aria-current]", list)?.closest("li") ?? undefined;
}

/** Updates a row. A row that is gone is removed, or crossed out if its removal would move the anchor. */
function updateRow(row: HTMLElement, next: HTMLElement | undefined, anchor: HTMLElement) {
  const isHere = next && groupOf(next) === groupOf(row);
  if (isHere) {
    for (const part of [".q", ".m"]) {
      const [old, now] = [find(part, row), find(part, next)];
      if (old && now && !old.isEqualNode(now)) old.replaceWith(now.cloneNode(true));
    }
    mergeTick(row, next);
    row.classList.remove("gone");
    return;
  }
  if (row !== anchor && !isBefore(row, anchor)) {
    row.remove();
    return;
  }
  row.classList.add("gone");
  find(".tick input", row)?.remove();
  const state = find(".m", row);
  if (state && row !== anchor) state.textContent = say("row.gone");
}

/** Updates the check box of a row and the ids that it stands for. */
function mergeTick(row: HTMLElement, next: HTMLElement) {
  const [old, now] = [find(".tick", row), find(".tick", next)];
  if (now ? old?.isEqualNode(now) : !old) return;
  old?.remove();
  if (now) row.prepend(now.cloneNode(true));
  if (next.dataset["ids"] === undefined) delete row.dataset["ids"];
  else row.dataset["ids"] = next.dataset["ids"];
}

interface Merging {
  list: HTMLElement;
  /** The new state of the group. */
  section: HTMLElement;
  anchor: HTMLElement;
  /** The element after which a new group is inserted. */
  after: Element;
  /** Ids of the rows that the list already has. */
  listed: ReadonlySet<string | undefined>;
}

/** Adds the new rows of a group in place, or below the anchor if their place is above it. */
function mergeSection({ list, section, anchor, after, listed }: Merging) {
  const group = section.dataset["group"] ?? "";
  const here = find<HTMLElement>(`section[data-group="${group}"]`, list);
  const rows = all<HTMLElement>("li[data-id]", section).filter((row) => !listed.has(row.dataset["id"]));
  const heading = here && find("h2", here);
  if (heading) heading.textContent = find("h2", section)?.textContent ?? "";
  if (here === sectionOf(anchor)) {
    placeAround(anchor, rows);
    return here;
  }
  if (here && !isBefore(here, anchor)) {
    find("ul", here)?.append(...rows);
    return here;
  }
  if (rows.length === 0) return after;
  // Its place is above the anchor, so the group is added below for now.
  const copy = section.cloneNode(true);
  if (!(copy instanceof HTMLElement)) return after;
  find("ul", copy)?.replaceChildren(...rows);
  after.after(copy);
  return copy;
}

/** Adds rows right below the anchor, in order. */
function placeAround(anchor: HTMLElement, rows: readonly HTMLElement[]) {
  let place: Element = anchor;
  for (const row of rows) {
    place.after(row);
    place = row;
  }
}

function dropEmpty(list: HTMLElement, fresh: HTMLElement, anchor: HTMLElement) {
  for (const section of all<HTMLElement>("section", list)) {
    const isEmpty = !find("li", section);
    if (isEmpty && !isBefore(section, anchor)) section.remove();
    const isGone = !find(`section[data-group="${section.dataset["group"]}"]`, fresh);
    const heading = find("h2", section);
    if (isGone && heading) heading.textContent = (heading.textContent ?? "").replace(/\d+/, "0");
  }
}

function sectionOf(row: Element) {
  return row.closest("section") ?? row;
}

function groupOf(element: Element) {
  return element.closest<HTMLElement>("[data-group]")?.dataset["group"];
}

function isBefore(one: Node, other: Node) {
  return (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}
