import { all, announce, find, parsePage, say } from "./dom.ts";

const KEPT = "askd:selected";
const selected = new Set((sessionStorage.getItem(KEPT) ?? "").split(" ").filter((id) => id !== ""));
/** Ids for which the bar was last loaded. */
let shown = "";
/** Number of the latest request; replies to older ones are ignored. */
let asked = 0;
/** Start of a range. */
let from: HTMLInputElement | null = null;

/** Shows the batch bar while rows are selected. */
export function watchSelection(): void {
  if (!bar()) return;
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const box = event.target.closest<HTMLInputElement>("#list input[name=q]");
    if (box) clickBox(box, event.shiftKey);
    const button = event.target.closest<HTMLElement>("[data-select]");
    if (button) pressSelectionButton(button.dataset["select"]);
  });
  document.addEventListener("input", (event) => {
    if (event.target instanceof Element && event.target.closest("#batch-content")) labelBar();
  });
  restoreSelection();
}

/** Selects the same questions again in a list that may have changed. */
export function restoreSelection(): void {
  for (const box of boxes()) box.checked = idsOf(box).some((id) => selected.has(id));
  void showBar();
}

/** Selects or deselects a row. */
export function toggleRow(row: HTMLElement | undefined): boolean {
  const box = boxOf(row);
  row?.focus();
  if (box) clickBox(box, false, !box.checked);
  else if (row) announce(say("batch.single"));
  return row !== undefined;
}

/** Moves to the next row and selects it; moving back deselects. */
export function extendSelection(row: HTMLElement | undefined, next: HTMLElement | undefined): boolean {
  const [here, there] = [boxOf(row), boxOf(next)];
  if (!from?.isConnected || !from.checked) from = here ?? there;
  const isBack = there?.checked && here && here !== from;
  if (here) tick(here, !isBack);
  if (there) tick(there, true);
  next?.focus();
  void showBar();
  return next !== undefined;
}

/** The batch bar, if rows are selected and the list or the bar has the focus. */
export function activeBatchBar(): HTMLFormElement | undefined {
  const form = bar();
  return form && !form.hidden && document.activeElement?.closest("#list, #batch") ? form : undefined;
}

/** Chooses one of the answers in the batch bar. */
export function chooseBatchAnswer(form: HTMLFormElement, place: number): boolean {
  const pill = all<HTMLInputElement>(".pill input", form)[place - 1];
  if (!pill) return false;
  pill.checked = true;
  pill.dispatchEvent(new Event("input", { bubbles: true }));
  if (pill.value === "own") find<HTMLElement>("[name=said]", form)?.focus();
  return true;
}

/** Shows the outcome of a batch in the bar, or its form again after an undo. */
export function showBatchOutcomes(next: HTMLElement): void {
  const form = bar();
  if (!form) return;
  const back = (next.dataset["ids"] ?? "").split(" ").filter((id) => id !== "");
  for (const { value } of all<HTMLInputElement>("input[name=q]", next)) selected.delete(value);
  for (const id of back) selected.add(id);
  for (const box of boxes()) box.checked = idsOf(box).some((id) => selected.has(id));
  asked += 1;
  shown = back.length > 0 ? [...back].sort().join(" ") : tickedIds().join(" ");
  keep();
  place(form, next);
  const title = find<HTMLElement>("h2, .banner", next);
  title?.focus({ preventScroll: true });
  announce(title?.textContent ?? "");
}

function clickBox(box: HTMLInputElement, isRange: boolean, isOn = box.checked) {
  const all = boxes();
  const [start, end] = [all.indexOf(from ?? box), all.indexOf(box)].sort((one, other) => one - other);
  for (const each of isRange && from ? all.slice(start, (end ?? 0) + 1) : [box]) tick(each, isOn);
  from = box;
  void showBar();
}

function pressSelectionButton(what: string | undefined) {
  if (what === "close") {
    shown = "";
    find("[data-done]")?.removeAttribute("data-done");
  } else for (const box of boxes()) tick(box, what === "all");
  if (what !== "all") find<HTMLElement>("#list .row[aria-current], #list .row")?.focus();
  void showBar();
}

function tick(box: HTMLInputElement, isOn: boolean) {
  box.checked = isOn;
  for (const id of idsOf(box)) {
    if (isOn) selected.add(id);
    else selected.delete(id);
  }
  keep();
}

/** Loads the answers offered for the selection and keeps what is chosen and written. */
async function showBar() {
  const form = bar();
  if (!form) return;
  const ids = tickedIds();
  if (ids.length > 0 ? ids.join(" ") === shown : find("[data-done]", form)) return; // an outcome stays until it is closed
  shown = ids.join(" ");
  asked += 1;
  const mine = asked;
  if (ids.length === 0) {
    form.hidden = true;
    return;
  }
  const fields = new URLSearchParams(ids.map((id) => ["q", id]));
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && name !== "q") fields.append(name, value);
  }
  try {
    const headers = { "x-askd": "1", accept: "text/html" };
    const response = await fetch("/batch/edit", { method: "POST", body: fields, headers });
    const next = response.ok ? find<HTMLElement>("#batch-content", parsePage(await response.text())) : null;
    if (!next) shown = ""; // the next selection asks again
    else if (mine === asked) place(form, next);
  } catch {
    shown = ""; // the stream reports a lost connection, and the next selection asks again
  }
}

function place(form: HTMLFormElement, next: HTMLElement) {
  const name = document.activeElement?.closest("#batch-content") && document.activeElement.getAttribute("name");
  find("#batch-content", form)?.replaceWith(next);
  form.hidden = false;
  labelBar();
  announce(find("#selected", next)?.textContent ?? "");
  if (name) find<HTMLElement>(`[name="${name}"]:not([type=radio]), [name="${name}"]:checked`, next)?.focus();
}

/** Repeats the choice on the button that sends it. */
function labelBar() {
  const button = find<HTMLElement>("#batch-content button.p");
  const label = button && find(".label", button);
  if (!button || !label) return;
  const chosen = find<HTMLInputElement>("#batch-content [name=as]:checked");
  const own = find<HTMLInputElement>("#batch-content [name=said]")?.value.trim() ?? "";
  const answer = chosen && chosen.value !== "own" ? (chosen.dataset["label"] ?? "") : own;
  button.setAttribute("aria-disabled", String(answer === ""));
  const n = button.dataset["n"] ?? "";
  // Without shared options there is nothing to choose, only to write.
  const isWritten = chosen ? chosen.value === "own" : !find("#batch-content [name=as]");
  const missing = isWritten ? "answer.write" : "answer.choose";
  label.textContent = answer === "" ? say(missing) : say("batch.sendWith", { n, answer });
}

function bar() {
  return find<HTMLFormElement>("#batch");
}

function boxes() {
  return all<HTMLInputElement>("#list input[name=q]");
}

function boxOf(row: HTMLElement | undefined) {
  return row?.closest("li")?.querySelector<HTMLInputElement>("input[name=q]") ?? null;
}

function idsOf({ value }: HTMLInputElement) {
  return value.split(" ");
}

function tickedIds() {
  return boxes()
    .filter(({ checked }) => checked)
    .flatMap(idsOf)
    .sort();
}

function keep() {
  sessionStorage.setItem(KEPT, [...selected].join(" "));
}
