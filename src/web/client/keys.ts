import { all, answerForm, body, find } from "./dom.ts";
import { barInUse, choosePill, extendTo, tickRow } from "./batch-selection.ts";

const TEXT = "textarea, select, input:not([type=radio], [type=checkbox])";
const AFTER_G_MS = 1500;
const PLACES: Readonly<Record<string, string>> = { i: "/", r: "/runs", a: "/activity" };
const keymap = readKeymap();
let goneAt = -Infinity;

/** Single keys: they choose, open and move. None of them answers. */
export function watchKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const form = barInUse() ?? answerForm();
      const primary =
        form && (find<HTMLButtonElement>(".back[open] .send", form) ?? find<HTMLButtonElement>("button.p", form));
      if (!primary) return;
      event.preventDefault();
      form.requestSubmit(primary);
      return;
    }
    // Browsers send a form when Enter is pressed in one of its fields; here only its buttons do that.
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

/** A form that only its buttons send. */
function isKept(form: HTMLFormElement | null): boolean {
  return form !== null && (form.id === "answer" || form.id === "batch");
}

/** With the shift key, moving takes along; keys that need it to be typed are what they are. */
function pressShifted(key: string): boolean {
  const way = { j: 1, k: -1 }[meaning(key.toLowerCase())];
  if (way === undefined) return press(key);
  const [list, at] = here();
  return extendTo(list[at], list[Math.min(list.length - 1, Math.max(0, at + way))]);
}

/** Does what a key is for; says whether it is for anything. */
function press(key: string): boolean {
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

/** What a key stands for: itself, unless it was changed, or another one was put in its place. */
function meaning(key: string): string {
  const own = Object.entries(keymap).find(([, chosen]) => chosen === key)?.[0];
  return own ?? (Object.hasOwn(keymap, key) ? "" : key);
}

const ACTS: Readonly<Record<string, () => void | boolean>> = {
  j: () => move(1),
  k: () => move(-1),
  x: () => tickRow(here()[0][here()[1]]),
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

/** Where a key has something to act on. */
const NEEDS: Readonly<Record<string, string>> = {
  ...{ r: "#answer", n: "#note", m: ".menu.back", y: "[data-key=y]", h: ".menu.snooze", c: "[data-key=c]", a: "#to" },
  ...{ d: "#work", "+": '[name="by"]', x: "#list .tick", e: "#list .row", "/": "#list [type=search]", "?": "#keys" },
  u: ".undo-all button, #toast button, #state form[action$='/undo'] button",
};

/** Says whether a key has something to act on here. */
export function isAble(name: string): boolean {
  return NEEDS[name] !== undefined && find(NEEDS[name]) !== null;
}

/** Does what a key is for, by whatever was pressed instead. */
export function doAct(name: string): void {
  ACTS[name]?.();
}

/** What was answered last: several at once, or one. */
function undo(): boolean {
  return pressButton(".undo-all button") || pressButton("#toast button, #state form[action$='/undo'] button");
}

/** Chooses an option of the item that one is in, or of the first. */
function choose(place: number): boolean {
  const used = barInUse();
  if (used) return choosePill(used, place);
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

function write(): boolean {
  const used = barInUse();
  if (used) return choosePill(used, all(".pill", used).length) || focus("#batch [name=said]");
  const item = find("#answer fieldset.item");
  const other = item && find<HTMLInputElement>("input[value=other]", item);
  if (other && !other.checked) {
    other.checked = true;
    other.dispatchEvent(new Event("input", { bubbles: true }));
  }
  return focus("#answer [data-words]");
}

function rows(): HTMLAnchorElement[] {
  return all<HTMLAnchorElement>("#list .row").filter((row) => row.checkVisibility());
}

/** All rows, and which of them one is on. */
function here(): [rows: HTMLAnchorElement[], at: number] {
  const list = rows();
  return [list, placeIn(list)];
}

function placeIn(list: readonly HTMLAnchorElement[]): number {
  const at = document.activeElement?.closest("#list li");
  const focused = list.findIndex((row) => at !== undefined && row.parentElement === at);
  return focused >= 0 ? focused : list.findIndex((row) => row.hasAttribute("aria-current"));
}

function move(by: number): boolean {
  const [list, at] = here();
  const next = list[Math.min(list.length - 1, Math.max(0, at + by))];
  next?.focus();
  return next !== undefined;
}

function open(by: number): boolean {
  const [list, at] = here();
  const next = list[at + by];
  if (next) location.assign(next.href);
  return next !== undefined;
}

function focus(selector: string): boolean {
  const element = find<HTMLElement>(selector);
  element?.focus();
  return element !== null;
}

function menu(selector: string, inside: string): boolean {
  const details = find<HTMLDetailsElement>(selector);
  if (!details) return false;
  details.open = true;
  return focus(inside);
}

function pressButton(selector: string): boolean {
  const button = find<HTMLButtonElement>(selector);
  button?.form?.requestSubmit(button);
  return button !== null;
}

function leave(): void {
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
