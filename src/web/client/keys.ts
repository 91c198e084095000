import { all, answerForm, body, find } from "./dom.ts";
import { activeBatchBar, chooseBatchAnswer, extendSelection, toggleRow } from "./batch-selection.ts";

const TEXT = "textarea, select, input:not([type=radio], [type=checkbox])";
const AFTER_G_MS = 1500;
const PLACES: Readonly<Record<string, string>> = { i: "/", r: "/runs", a: "/activity" };
const keymap = readKeymap();
let goneAt = -Infinity;

/** Handles single-key shortcuts. They choose, open and move; none of them answers. */
export function watchKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const form = activeBatchBar() ?? answerForm();
      const primary =
        form && (find<HTMLButtonElement>(".back[open] .send", form) ?? find<HTMLButtonElement>("button.p", form));
      if (!primary) return;
      event.preventDefault();
      form.requestSubmit(primary);
      return;
    }
    // Browsers submit a form on Enter in one of its fields; here only its buttons may do that.
    if (event.key === "Enter" && event.target instanceof HTMLInputElement && isKept(event.target.form)) {
      event.preventDefault();
      return;
    }
    if (event.key === "Escape") leave();
    if (event.ctrlKey || event.metaKey || event.altKey || body.dataset["keys"] === "off") return;
    const isTyping = event.target instanceof Element && event.target.closest(TEXT) !== null;
    if (isTyping || find("dialog[open]")) return;
    if (event.shiftKey ? pressShifted(event.key) : press(event.key)) event.preventDefault();
  });
}

/** True if only its buttons submit the form. */
function isKept(form: HTMLFormElement | null) {
  return form !== null && (form.id === "answer" || form.id === "batch");
}

/** Shift with a move key extends the selection; any other key acts as typed. */
function pressShifted(key: string) {
  const way = { j: 1, k: -1 }[meaning(key.toLowerCase())];
  if (way === undefined) return press(key);
  const [list, at] = here();
  return extendSelection(list[at], list[Math.min(list.length - 1, Math.max(0, at + way))]);
}

/** Runs the action of a key; false if it has none. */
function press(key: string) {
  const place = performance.now() - goneAt < AFTER_G_MS ? PLACES[key] : undefined;
  if (place !== undefined) {
    location.assign(place);
    return true;
  }
  goneAt = key === "g" ? performance.now() : -Infinity;
  if (/^[1-9]$/.test(key)) return choose(Number(key));
  const act = ACTS[meaning(key)];
  return act ? act() !== false : false;
}

/** The default key that a pressed key stands for; empty if the reader moved its action to another key. */
function meaning(key: string) {
  const own = Object.entries(keymap).find(([, chosen]) => chosen === key)?.[0];
  return own ?? (Object.hasOwn(keymap, key) ? "" : key);
}

const ACTS: Readonly<Record<string, () => void | boolean>> = {
  j: () => open(1),
  k: () => open(-1),
  x: () => toggleRow(here()[0][here()[1]]),
  e: () => open(1),
  r: () => write(),
  n: () => focus("#note"),
  m: () => menu(".menu.back", "#back"),
  y: () => pressButton("[data-key=y]"),
  h: () => menu(".menu.snooze", ".snooze button"),
  c: () => pressButton("[data-key=c]"),
  a: () => menu(".menu.more", "#to"),
  d: () => focus("#work summary, #work a"),
  "+": () => menu(".menu.more", '[name="by"]'),
  u: undo,
  z: undo,
  "/": () => focus("#list [type=search]"),
  "?": () => find<HTMLDialogElement>("#keys")?.showModal(),
};

/** Selector of the element that a key needs on the page. */
const NEEDS: Readonly<Record<string, string>> = {
  r: "#answer",
  n: "#note",
  m: ".menu.back",
  y: "[data-key=y]",
  h: ".menu.snooze",
  c: "[data-key=c]",
  a: "#to",
  d: "#work",
  "+": '[name="by"]',
  x: "#list .tick",
  e: "#list .row",
  "/": "#list [type=search]",
  "?": "#keys",
  u: ".undo-all button, #toast button, #state form[action$='/undo'] button",
};

/** True if the action of a key is available on this page. */
export function isKeyUsable(name: string): boolean {
  return NEEDS[name] !== undefined && find(NEEDS[name]) !== null;
}

/** Runs the action of a key. */
export function runKey(name: string): void {
  ACTS[name]?.();
}

/** Undoes the last batch or the last answer. */
function undo() {
  return pressButton(".undo-all button") || pressButton("#toast button, #state form[action$='/undo'] button");
}

/** Chooses an option of the focused item, or of the first one. */
function choose(place: number) {
  const used = activeBatchBar();
  if (used) return chooseBatchAnswer(used, place);
  const form = answerForm();
  if (!form) return false;
  const item = document.activeElement?.closest("fieldset.item") ?? find("fieldset.item", form);
  const option = item && all<HTMLInputElement>(".opt input", item)[place - 1];
  if (!option) return false;
  option.checked = option.type === "radio" || !option.checked;
  option.focus();
  option.dispatchEvent(new Event("input", { bubbles: true }));
  return true;
}

function write() {
  const used = activeBatchBar();
  if (used) return chooseBatchAnswer(used, all(".pill", used).length) || focus("#batch [name=said]");
  const item = find("#answer fieldset.item");
  const other = item && find<HTMLInputElement>("input[value=other]", item);
  if (other && !other.checked) {
    other.checked = true;
    other.dispatchEvent(new Event("input", { bubbles: true }));
  }
  return focus("#answer [data-words]");
}

function rows() {
  return all<HTMLAnchorElement>("#list .row").filter((row) => row.checkVisibility());
}

/** All visible rows, and the index of the focused or open one. */
function here(): [rows: HTMLAnchorElement[], at: number] {
  const list = rows();
  return [list, placeIn(list)];
}

function placeIn(list: readonly HTMLAnchorElement[]) {
  const at = document.activeElement?.closest("#list li");
  const focused = list.findIndex((row) => at !== undefined && row.parentElement === at);
  return focused >= 0 ? focused : list.findIndex((row) => row.hasAttribute("aria-current"));
}

function open(by: number) {
  const [list, at] = here();
  const next = list[at + by];
  next?.click();
  return next !== undefined;
}

function focus(selector: string) {
  const element = find<HTMLElement>(selector);
  element?.focus();
  return element !== null;
}

function menu(selector: string, inside: string) {
  const details = find<HTMLDetailsElement>(selector);
  if (!details) return false;
  details.open = true;
  return focus(inside);
}

function pressButton(selector: string) {
  const button = find<HTMLButtonElement>(selector);
  button?.form?.requestSubmit(button);
  return button !== null;
}

function leave() {
  const open = find<HTMLDetailsElement>(".menu[open]");
  if (open) {
    open.open = false;
    find<HTMLElement>("summary", open)?.focus();
    return;
  }
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

function readKeymap(): Record<string, string> {
  const given: unknown = JSON.parse(body.dataset["keymap"] ?? "{}");
  return given !== null && typeof given === "object" ? Object.fromEntries(Object.entries(given)) : {};
}
