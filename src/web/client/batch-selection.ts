import { all, announce, find, parsePage, say } from "./dom.ts";

const KEPT = "askd:picked";
const picked = new Set((sessionStorage.getItem(KEPT) ?? "").split(" ").filter((id) => id !== ""));
/** What the bar was last made for. */
let shown = "";
/** Of several bars that are on their way the last counts. */
let asked = 0;
/** Where a range began. */
let from: HTMLInputElement | null = null;

/** Rows that are ticked get one answer, in a bar that is there as long as one is. */
export function watchPicks(): void {
  if (!bar()) return;
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const box = event.target.closest<HTMLInputElement>("#list input[name=q]");
    if (box) clickBox(box, event.shiftKey);
    const button = event.target.closest<HTMLElement>("[data-pick]");
    if (button) pressPick(button.dataset["pick"]);
  });
  document.addEventListener("input", (event) => {
    if (event.target instanceof Element && event.target.closest("#together")) labelBar();
  });
  restorePicks();
}

/** Ticks again what was ticked, in a list that may be another one by now. */
export function restorePicks(): void {
  for (const box of boxes()) box.checked = idsOf(box).some((id) => picked.has(id));
  void showBar();
}

/** Ticks or unticks the row that somebody stands on. */
export function tickRow(row: HTMLElement | undefined): boolean {
  const box = boxOf(row);
  row?.focus();
  if (box) clickBox(box, false, !box.checked);
  else if (row) announce(say("pick.alone"));
  return row !== undefined;
}

/** Goes from one row to the next and takes it along; on the way back it is left again. */
export function extendTo(row: HTMLElement | undefined, next: HTMLElement | undefined): boolean {
  const [here, there] = [boxOf(row), boxOf(next)];
  if (!from?.isConnected || !from.checked) from = here ?? there;
  const isBack = there?.checked && here && here !== from;
  if (here) tick(here, !isBack);
  if (there) tick(there, true);
  next?.focus();
  void showBar();
  return next !== undefined;
}

/** The bar, where somebody works with it: rows are ticked, and the list or the bar itself has the focus. */
export function barInUse(): HTMLFormElement | undefined {
  const form = bar();
  return form && !form.hidden && document.activeElement?.closest("#list, #batch") ? form : undefined;
}

/** Chooses one of the answers in the bar. */
export function choosePill(form: HTMLFormElement, place: number): boolean {
  const pill = all<HTMLInputElement>(".pill input", form)[place - 1];
  if (!pill) return false;
  pill.checked = true;
  pill.dispatchEvent(new Event("input", { bubbles: true }));
  if (pill.value === "own") find<HTMLElement>("[name=said]", form)?.focus();
  return true;
}

/** Puts into the bar what became of the answers, or the form again after they were taken back. */
export function showTogether(next: HTMLElement): void {
  const form = bar();
  if (!form) return;
  const back = (next.dataset["ids"] ?? "").split(" ").filter((id) => id !== "");
  for (const { value } of all<HTMLInputElement>("input[name=q]", next)) picked.delete(value);
  for (const id of back) picked.add(id);
  for (const box of boxes()) box.checked = idsOf(box).some((id) => picked.has(id));
  asked += 1;
  shown = back.length > 0 ? [...back].sort().join(" ") : tickedIds().join(" ");
  keep();
  place(form, next);
  const title = find<HTMLElement>("h2, .banner", next);
  title?.focus({ preventScroll: true });
  announce(title?.textContent ?? "");
}

function clickBox(box: HTMLInputElement, isRange: boolean, isOn = box.checked): void {
  const all = boxes();
  const [start, end] = [all.indexOf(from ?? box), all.indexOf(box)].sort((one, other) => one - other);
  for (const each of isRange && from ? all.slice(start, (end ?? 0) + 1) : [box]) tick(each, isOn);
  from = box;
  void showBar();
}

function pressPick(what: string | undefined): void {
  if (what === "close") shown = "";
  else for (const box of boxes()) tick(box, what === "all");
  if (what !== "all") find<HTMLElement>("#list .row[aria-current], #list .row")?.focus();
  void showBar();
}

function tick(box: HTMLInputElement, isOn: boolean): void {
  box.checked = isOn;
  for (const id of idsOf(box)) {
    if (isOn) picked.add(id);
    else picked.delete(id);
  }
  keep();
}

/** Asks the server what those that are ticked can be answered with; what is chosen and written goes along. */
async function showBar(): Promise<void> {
  const form = bar();
  if (!form) return;
  const ids = tickedIds();
  const isDone = find("[data-done]", form) !== null;
  if (ids.join(" ") === shown && (ids.length > 0 || isDone)) return;
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
    const next = response.ok ? find<HTMLElement>("#together", parsePage(await response.text())) : null;
    if (!next) shown = ""; // the next tick asks again
    else if (mine === asked) place(form, next);
  } catch {
    shown = ""; // the network said no; the stream tells, and the next tick asks again
  }
}

function place(form: HTMLFormElement, next: HTMLElement): void {
  const name = document.activeElement?.closest("#together") && document.activeElement.getAttribute("name");
  find("#together", form)?.replaceWith(next);
  form.hidden = false;
  labelBar();
  announce(find("#picked", next)?.textContent ?? "");
  if (name) find<HTMLElement>(`[name="${name}"]:not([type=radio]), [name="${name}"]:checked`, next)?.focus();
}

/** Repeats the choice on the button that sends it. */
function labelBar(): void {
  const button = find<HTMLElement>("#together button.p");
  const label = button && find(".label", button);
  if (!button || !label) return;
  const chosen = find<HTMLInputElement>("#together [name=as]:checked");
  const own = find<HTMLInputElement>("#together [name=said]")?.value.trim() ?? "";
  const answer = chosen && chosen.value !== "own" ? (chosen.dataset["label"] ?? "") : own;
  button.setAttribute("aria-disabled", String(answer === ""));
  const n = button.dataset["n"] ?? "";
  // Where nothing is shared there is nothing to choose, only to write.
  const isWritten = chosen ? chosen.value === "own" : !find("#together [name=as]");
  const missing = isWritten ? "answer.write" : "answer.choose";
  label.textContent = answer === "" ? say(missing) : say("batch.sendWith", { n, answer });
}

function bar(): HTMLFormElement | null {
  return find<HTMLFormElement>("#batch");
}

function boxes(): HTMLInputElement[] {
  return all<HTMLInputElement>("#list input[name=q]");
}

function boxOf(row: HTMLElement | undefined): HTMLInputElement | null {
  return row?.closest("li")?.querySelector<HTMLInputElement>("input[name=q]") ?? null;
}

function idsOf({ value }: HTMLInputElement): string[] {
  return value.split(" ");
}

function tickedIds(): string[] {
  return boxes()
    .filter(({ checked }) => checked)
    .flatMap(idsOf)
    .sort();
}

function keep(): void {
  sessionStorage.setItem(KEPT, [...picked].join(" "));
}
