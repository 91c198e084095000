import { runKey, isKeyUsable } from "./keys.ts";
import { all, body, find, say } from "./dom.ts";

const MOST = 12;

/** An entry of the palette. */
interface Entry {
  label: string;
  /** More text to find it by. */
  about: string;
  key?: string | undefined;
  run: () => void;
}

let entries: Entry[] = [];
let shown: Entry[] = [];
let at = 0;

/** The command palette: pages, questions and actions, found by typing. */
export function watchPalette(): void {
  const dialog = find<HTMLDialogElement>("#palette");
  const input = dialog && find<HTMLInputElement>("input", dialog);
  if (!dialog || !input) return;
  document.addEventListener("keydown", (event) => {
    const isAsked = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
    if (!isAsked || event.altKey || event.shiftKey || body.dataset["keys"] === "off") return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else if (!find("dialog[open]")) open(dialog, input);
  });
  input.addEventListener("input", () => list(input));
  input.addEventListener("keydown", (event) => {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way !== undefined) select(input, (at + way + shown.length) % Math.max(1, shown.length));
    else if (event.key === "Enter") pick(dialog, at);
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => {
    const option = event.target instanceof Element && event.target.closest("[role=option]");
    if (option) pick(dialog, all("[role=option]", dialog).indexOf(option));
    else if (event.target === dialog) dialog.close();
  });
}

function open(dialog: HTMLDialogElement, input: HTMLInputElement) {
  entries = [...actions(), ...links(".top nav a"), ...links("#list .row")];
  input.value = "";
  list(input);
  dialog.showModal();
}

function actions() {
  return all<HTMLElement>("#keys [data-act]").flatMap((row) => {
    const act = row.dataset["act"] ?? "";
    const name = act.split(" ")[0] ?? "";
    if (!isKeyUsable(name)) return [];
    const [key, label] = [find("kbd", row)?.textContent ?? "", find("dd", row)?.textContent ?? ""];
    return [{ label, about: "", key, run: () => runKey(name) }];
  });
}

function links(selector: string) {
  return all<HTMLAnchorElement>(selector).map((link) => ({
    label: (find(".q", link) ?? link.firstChild ?? link).textContent?.trim() ?? "",
    about: aboutOf(link),
    run: () => location.assign(link.href),
  }));
}

/** The run of a row, and its group if it does not wait for the reader. */
function aboutOf(link: Element) {
  const run = find(".m > .cut", link)?.textContent ?? "";
  const part = link.closest("section:not([data-group=waiting])");
  const where = part && find("h2", part)?.textContent?.replace(/ \(\d+\)$/, "");
  return where ? `${where}, ${run}` : run;
}

/** Entries for runs and questions that are not on this page. */
function elsewhere(text: string): Entry[] {
  if (text === "") return [];
  const go = (label: string, path: string): Entry => ({ label, about: "", run: () => location.assign(path) });
  const n = /^#?(\d+)$/.exec(text)?.[1];
  return [
    ...(n === undefined ? [] : [go(say("palette.run", { n }), `/r/${n}`)]),
    go(say("palette.find", { text }), `/?find=${encodeURIComponent(text)}`),
  ];
}

function list(input: HTMLInputElement) {
  const text = input.value.trim();
  const words = text.toLowerCase().split(/\s+/);
  const found = entries.filter(({ label, about }) =>
    words.every((word) => `${label} ${about}`.toLowerCase().includes(word)),
  );
  const more = elsewhere(text);
  shown = [...found.slice(0, MOST - more.length), ...more];
  find("#found")?.replaceChildren(...shown.map(optionFor));
  select(input, 0);
}

function optionFor({ label, about, key }: Entry, index: number) {
  const option = document.createElement("li");
  option.id = `found-${index}`;
  option.role = "option";
  const add = (name: string, text: string): void => {
    const part = document.createElement(name);
    part.textContent = text;
    option.append(part);
  };
  add("span", label);
  if (about !== "") add("small", about);
  if (key !== undefined) add("kbd", key);
  return option;
}

function select(input: HTMLInputElement, place: number) {
  at = place;
  for (const [index, option] of all("#found [role=option]").entries()) {
    option.setAttribute("aria-selected", String(index === at));
    if (index === at) option.scrollIntoView({ block: "nearest" });
  }
  input.setAttribute("aria-activedescendant", `found-${at}`);
}

function pick(dialog: HTMLDialogElement, place: number) {
  const entry = shown[place];
  if (!entry) return;
  dialog.close();
  entry.run();
}
