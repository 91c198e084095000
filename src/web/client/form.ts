import { deleteDraft, storeDraft } from "./stored-draft.ts";
import {
  isServerAway,
  connectionLost,
  isConnectionLost,
  refreshSoon,
  onReconnect,
  showConnection,
  showRefused,
} from "./live.ts";
import { mergePage } from "./merge-page.ts";
import { dropUnsent, isAnswer, keepUnsent, listUnsent } from "./outbox.ts";
import { showBatchOutcomes } from "./batch-selection.ts";
import { all, announce, answerForm, card, find, parsePage, readField, say } from "./dom.ts";

const LONGEST_LABEL = 48;

/** Sends forms without leaving the page, keeps their text when that fails, and repeats the choice on the button. */
export function watchForms(): void {
  document.addEventListener("input", (event) => {
    if (event.target instanceof HTMLTextAreaElement) chooseWritten(event.target);
    if (event.target instanceof Element && event.target.closest("#answer")) storeDraft();
    sayMissing("");
    labelPrimary();
  });
  document.addEventListener("submit", (event) => {
    if (event.target instanceof HTMLFormElement && event.target.method === "post") void submit(event, event.target);
  });
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const copy = event.target.closest<HTMLElement>("[data-copy]");
    if (copy) void copyFrom(copy);
    const link = event.target.closest<HTMLAnchorElement>("a[href^='/']");
    // The browser's error page would replace the only page that works.
    if (link && isConnectionLost() && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      void visit(link.href);
    }
    for (const menu of all<HTMLDetailsElement>(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
  // A panel may open below the visible area.
  document.addEventListener(
    "toggle",
    ({ target }) => {
      if (!(target instanceof HTMLDetailsElement) || !target.open) return;
      const seen = target.closest(".panel") ? target : find(".panel", target);
      seen?.scrollIntoView({ block: "nearest" });
    },
    true,
  );
  for (const button of all<HTMLElement>("[data-copy]")) button.hidden = false;
  labelPrimary();
  if (listUnsent().length > 0) void sendUnsent();
}

/** Opens a page if the server is there; otherwise this page stays. */
async function visit(address: string) {
  const response = await fetch(address, { method: "HEAD" }).catch(() => undefined);
  if (response && !isServerAway(response)) location.assign(address);
  else announce(say("live.stay"));
}

/** Chooses the option that a text belongs to. */
function chooseWritten(text: HTMLTextAreaElement) {
  const option = text.closest(".opt");
  const button = option && find<HTMLInputElement>("input[data-writes]", option);
  if (button && text.value.trim() !== "") button.checked = true;
}

/** Says beside the button why nothing was sent. */
function sayMissing(text: string) {
  const missing = find("#missing");
  if (missing && missing.textContent !== text) missing.textContent = text;
}

/** Repeats the choice on the button that sends it. */
export function labelPrimary(): void {
  const form = answerForm();
  const button = form && find<HTMLButtonElement>("button.p", form);
  const label = button && find(".label", button);
  if (!form || !button || !label) return;
  const chosen = all<HTMLElement>("fieldset.item", form).map(chosenIn);
  const word = find<HTMLInputElement>("#word", form);
  const isReady = chosen.every((text) => text !== "");
  const isDenied = find("input[data-denies]:checked", form) !== null; // a no needs no word
  const isTyped = !word || isDenied || word.value.trim() === word.dataset["word"];
  button.setAttribute("aria-disabled", String(!isReady || !isTyped));
  const answer = chosen.join("; ");
  const shown = answer.length > LONGEST_LABEL ? `${answer.slice(0, LONGEST_LABEL - 1)}…` : answer;
  const key = button.dataset["resumes"] === "yes" ? "answer.sayResume" : "answer.say";
  const missing = isReady ? undefined : all<HTMLElement>("fieldset.item", form)[chosen.indexOf("")];
  label.textContent = missing
    ? say(isForWords(missing) ? "answer.write" : "answer.choose")
    : say(key, { answer: shown });
}

/** True if an item is answered with text: it has no options, or the free-text option is chosen. */
function isForWords(item: HTMLElement) {
  return !find("input[type=radio], input[type=checkbox]", item) || find("input[data-writes]:checked", item) !== null;
}

function chosenIn(item: HTMLElement) {
  const checked = all<HTMLInputElement>("input:checked", item);
  const isOwn =
    checked.some(({ dataset }) => dataset["writes"] !== undefined) ||
    !find("input[type=radio], input[type=checkbox]", item);
  const written = isOwn
    ? all<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>("[data-words]", item).map(({ value }) =>
        value.trim(),
      )
    : [];
  const plain = checked.filter(({ dataset }) => dataset["writes"] === undefined);
  const labels = plain.flatMap((input) => input.dataset["label"] ?? []);
  const isHalf = isOwn && checked.length > 0 && written.every((text) => text === "") && labels.length === 0;
  return isHalf ? "" : [...labels, ...written.filter((text) => text !== "")].join(", ");
}

/** Sends a form without leaving the page, so that nothing is lost if the server is away. */
async function submit(event: SubmitEvent, form: HTMLFormElement) {
  const button = event.submitter instanceof HTMLButtonElement ? event.submitter : undefined;
  const action = button?.getAttribute("formaction") ?? form.getAttribute("action") ?? "";
  const isPlain = form.hasAttribute("data-plain") || button?.hasAttribute("data-plain");
  if (action === "/logout" || action === "/login" || isPlain) return;
  event.preventDefault();
  if (button?.getAttribute("aria-disabled") === "true") {
    find<HTMLElement>("fieldset.item input, fieldset.item textarea, #word, [name=as]", form)?.focus();
    const isChosen = find<HTMLInputElement>("fieldset.item input:checked", form) !== null;
    const word = find<HTMLElement>("#word", form);
    if (isChosen) word?.focus();
    sayMissing(say(isChosen && word ? "answer.wordFirst" : "answer.chooseFirst"));
    return;
  }
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") fields.append(name, value);
  if (button?.name) fields.append(button.name, button.value);
  fields.set("once", newKey());
  await send(action, fields, button?.closest<HTMLElement>(".panel") ?? undefined);
}

/** Sends form fields; a problem is shown in the panel that they came from, if any. */
async function send(action: string, fields: URLSearchParams, panel?: HTMLElement) {
  if (isAnswer(action)) keepUnsent(action, fields);
  const response = await post(action, fields);
  if (!response) {
    keepForLater(action, fields);
    return;
  }
  if (!isSignedOut(response)) dropUnsent(action);
  await showResponse(action, response, panel);
}

/** Posts form fields; undefined if the server was not reached. */
async function post(action: string, fields: URLSearchParams) {
  const headers = { "x-askd": "1", accept: "text/html" };
  // Only network errors end here; every other response comes from the server or a proxy.
  const response = await fetch(action, { method: "POST", body: fields, headers }).catch(() => undefined);
  return response && !isServerAway(response) ? response : undefined;
}

function isSignedOut(response: Response) {
  return response.status === 401 || (response.redirected && new URL(response.url).pathname === "/login");
}

/** Sends the kept answers, one tab at a time. Each has its own key, so one that arrived before counts once. */
async function sendUnsent() {
  if (navigator.locks) await navigator.locks.request("askd-outbox", sendEach);
  else await sendEach();
  showConnection();
}

async function sendEach() {
  for (const { action, fields: kept } of listUnsent()) {
    const fields = new URLSearchParams(kept);
    // The session may be a new one.
    fields.set("csrf", find<HTMLInputElement>("input[name=csrf]")?.value ?? "");
    const response = await post(action, fields);
    if (!response) {
      connectionLost();
      onReconnect("outbox", sendUnsent);
      return;
    }
    if (isSignedOut(response)) return;
    dropUnsent(action);
    if (action === answerForm()?.getAttribute("action")) await showResponse(action, response);
    else if (!isJson(response)) showRefused(action.replace(/\/answer$/, ""));
  }
  refreshSoon();
}

function isJson(response: Response) {
  return response.headers.get("content-type")?.includes("json") ?? false;
}

async function showResponse(action: string, response: Response, panel?: HTMLElement) {
  if (isJson(response)) {
    const go = await readField(response, "go");
    if (action.endsWith("/amend")) deleteDraft(card()?.dataset["id"]);
    for (const menu of all<HTMLDetailsElement>(".menu[open], .correct[open]")) menu.open = false;
    for (const text of all<HTMLTextAreaElement>("#comment, #correction, #kept")) text.value = "";
    // Pages other than the inbox show a change only after a reload.
    if (go !== undefined && (go !== location.pathname || find("main.page"))) {
      location.assign(go);
      return;
    }
    // Without focus in the form, the refresh may replace it.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    refreshSoon();
    return;
  }
  showAgain(parsePage(await response.text()), panel);
}

/** Shows the server's reply to a form: a problem, a lost race or a preview. */
function showAgain(page: Document, panel?: HTMLElement) {
  const batch = find<HTMLElement>("#batch-content", page);
  if (batch && !find("main", page)) {
    showBatchOutcomes(batch);
    refreshSoon();
    return;
  }
  const form = answerForm();
  if (!form || !find("#answer", page)) {
    if (find("main[data-id]", page)) mergePage(page);
    else location.reload();
    return;
  }
  find("#problem")?.remove();
  const problem = find<HTMLElement>("#problem", page);
  const wrong = markWrong(form, page);
  if (problem && wrong) wrong.before(problem);
  else if (problem) (panel ?? form).prepend(problem);
  const preview = find("#preview", page);
  if (preview) find("#preview")?.replaceWith(preview);
  if (problem && panel) find<HTMLElement>("input, textarea", panel)?.focus();
  else for (const menu of all<HTMLDetailsElement>(".menu[open]")) menu.open = false;
  (problem ?? find("#preview pre"))?.scrollIntoView({ block: "center" });
}

/** Marks the fields that the server rejected and focuses the first. */
function markWrong(form: HTMLFormElement, page: Document) {
  const fields = all<HTMLElement>(".field [data-words]", form);
  for (const field of fields) field.ariaInvalid = page.getElementById(field.id)?.ariaInvalid ?? null;
  const wrong = fields.find(({ ariaInvalid }) => ariaInvalid === "true");
  wrong?.focus();
  return wrong;
}

/** Idempotency key of a request: it may have arrived although its reply was lost. */
function newKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
}

function keepForLater(action: string, fields: URLSearchParams) {
  storeDraft();
  connectionLost();
  announce(say("live.kept"));
  if (isAnswer(action)) onReconnect("outbox", sendUnsent);
  else onReconnect(action, () => send(action, fields));
}

async function copyFrom(button: HTMLElement) {
  const from = find<HTMLElement>(button.dataset["copy"] ?? "");
  if (!from) return;
  await navigator.clipboard.writeText(from instanceof HTMLTextAreaElement ? from.value : (from.textContent ?? ""));
  const before = button.textContent;
  button.textContent = say("copied");
  setTimeout(() => (button.textContent = before), 1500);
}
