import type { Child } from "hono/jsx";
import { raw } from "hono/html";
import type { QuestionSnapshot } from "../../core/changes.ts";
import type { AwayMachine } from "../../core/run/machine.ts";
import type { PendingQuestion } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { answerWords } from "../words/answer-words.ts";
import { NAVIGATION, type PageName } from "./navigation.ts";
import { CHANGEABLE_KEYS, keyFor } from "./keymap.ts";
import { type PageReader, tell, tellKey } from "./page-reader.ts";
import { TimeLeft, finalTimeKey } from "./time.tsx";
import { type MessageKey, say } from "../words/words.ts";

/** Addresses of the script and the styles. */
export interface Assets {
  script: string;
  style: string;
  /** Style of the pages other than the inbox, so that the inbox stays small. */
  besideStyle: string;
}

/** The frame around every page. */
export interface PageFrame {
  reader: PageReader;
  assets: Assets;
  page: PageName;
  title: string;
  /** The page is neither the inbox nor a question. */
  isBeside?: boolean;
  /** Number of questions that wait for the reader. */
  waiting: number;
  /** The reader's own answer that can still be undone. */
  settling?: (QuestionSnapshot & { question: PendingQuestion; away?: AwayMachine | undefined }) | undefined;
  /** The last event that the page shows; live updates start after it. */
  cursor?: string | undefined;
}

// Messages that the script shows itself; everything else comes from the server.
const SCRIPT_WORDS: readonly MessageKey[] = [
  "run.left",
  "run.waiting",
  "run.since",
  "run.settling",
  "run.final",
  "run.ago",
  "unit.d",
  "unit.h",
  "unit.m",
  "unit.s",
  "live.on",
  "live.lost",
  "live.kept",
  "live.unsent.one",
  "live.unsent",
  "live.stay",
  "live.refused",
  "live.refused.open",
  "live.signedOut",
  "login.title",
  "arrived",
  "copied",
  "answer.say",
  "answer.choose",
  "answer.chooseFirst",
  "answer.wordFirst",
  "answer.write",
  "answer.sayResume",
  "answer.plain",
  "row.gone",
  "batch.single",
  "batch.sendWith",
  "palette.run",
  "palette.find",
];

/** A whole page. It works without its script. */
export function Layout({ frame, children }: { frame: PageFrame; children: Child }) {
  const { reader, assets, page, waiting, cursor } = frame;
  const words = SCRIPT_WORDS.map((key) => `${key}=${say(reader.language, key)}`).join("\n");
  const count = waiting > 0 ? `(${waiting}) ` : "";
  return (
    <>
      {raw("<!doctype html>")}
      <html lang={reader.language} data-theme={reader.theme === "auto" ? undefined : reader.theme}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width,initial-scale=1" />
          <meta name="color-scheme" content={reader.theme === "auto" ? "light dark" : reader.theme} />
          <title>{`${count}${makeVisible(frame.title)} · askd`}</title>
          <link rel="icon" href={`/favicon.svg?n=${Math.min(waiting, 99)}`} />
          <link rel="manifest" href="/manifest.webmanifest" />
          <link rel="stylesheet" href={assets.style} />
          {frame.isBeside ? <link rel="stylesheet" href={assets.besideStyle} /> : null}
          <script src={assets.script} defer></script>
        </head>
        <body
          data-page={page}
          data-cursor={cursor}
          data-waiting={waiting}
          data-me={reader.id}
          data-keys={reader.hasKeys ? "on" : "off"}
          data-keymap={JSON.stringify(reader.keymap)}
          data-zone={reader.zone ?? ""}
          data-words={words}
        >
          <a class="skip" href="#main">
            {tell(reader, "skip")}
          </a>
          <Top frame={frame} />
          <p id="offline" class="banner wait" role="status" hidden></p>
          {children}
          <p id="said" class="unseen" role="status"></p>
          <KeyHelp reader={reader} />
          <Palette reader={reader} />
        </body>
      </html>
    </>
  );
}

function Top({ frame }: { frame: PageFrame }) {
  const { reader, page } = frame;
  return (
    <header class="top">
      {page === "question" ? (
        <a class="to-list" href="/">
          {tell(reader, "to.list")}
        </a>
      ) : null}
      <a class="brand" href="/">
        askd
      </a>
      <Navigation frame={frame} />
      <Toast frame={frame} />
      <span id="live" class="live" hidden>
        {tell(reader, "live.on")}
      </span>
      <a class="me" href="/settings" title={tell(reader, "me", { name: reader.id })}>
        <span class="unseen">{tell(reader, "me", { name: reader.id })}</span>
        <span aria-hidden="true">{initials(reader.id)}</span>
      </a>
    </header>
  );
}

/** Links to all pages; on narrow screens a menu named after the current page. */
function Navigation({ frame: { reader, page, waiting } }: { frame: PageFrame }) {
  const isHere = (name: PageName) => name === page || (name === "inbox" && page === "question");
  const links = NAVIGATION.map(({ href, key, name }) => (
    <a href={href} aria-current={isHere(name) ? "page" : undefined}>
      {tell(reader, key)}
      {name === "inbox" && waiting > 0 ? <span class="count"> {waiting}</span> : null}
    </a>
  ));
  const here = NAVIGATION.find(({ name }) => isHere(name));
  return (
    <nav aria-label={tell(reader, "nav.main")}>
      <div class="places">{links}</div>
      <details class="menu pages">
        <summary>{tell(reader, here?.key ?? "nav.menu")}</summary>
        <div class="panel">{links}</div>
      </details>
    </nav>
  );
}

/** The latest answer while it can be undone. It is in the top bar, where it cannot cover the focus. */
function Toast({ frame: { reader, settling } }: { frame: PageFrame }) {
  const reply = settling?.question.settling;
  return (
    <div id="toast" role="status">
      {settling && reply ? (
        <form
          class="toast"
          method="post"
          action={`/q/${settling.question.id}/undo`}
          data-ends={Date.parse(reply.until)}
        >
          <input type="hidden" name="csrf" value={reader.csrf} />
          <span>
            <a href={`/q/${settling.question.id}`}>#{settling.run.number}</a>
            <span class="cut">
              {tell(reader, "toast", { answer: answerWords(reader, settling.content, reply.answer) })}
            </span>{" "}
            {settling.away ? tell(reader, "runs.machine", { machine: makeVisible(settling.away.name) }) : null}{" "}
            <TimeLeft
              reader={reader}
              until={reply.until}
              as={settling.away ? "run.left" : finalTimeKey(settling.run, reply)}
            />
          </span>
          <button type="submit">
            {tell(reader, "undo")}
            <kbd>{tellKey(reader, "u")}</kbd>
          </button>
        </form>
      ) : null}
    </div>
  );
}

/** Keys shown in pairs below, so not listed again. */
const PAIRED_KEYS = ["j", "k", "u"];
const KEYS: ReadonlyArray<readonly [string, MessageKey]> = [
  ["j k", "keys.move"],
  ["Enter", "keys.open"],
  ["1-9", "keys.choose"],
  ["Ctrl/⌘+Enter", "keys.answer"],
  ["Shift j k", "keys.range"],
  ...CHANGEABLE_KEYS.filter(([key]) => !PAIRED_KEYS.includes(key)),
  ["u z", "keys.undo"],
  ["Ctrl/⌘+K", "keys.palette"],
  ["g i", "keys.inbox"],
  ["g r", "nav.runs"],
  ["g a", "nav.activity"],
  ["Esc", "keys.away"],
];

function KeyHelp({ reader }: { reader: PageReader }) {
  return (
    <dialog id="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">{tell(reader, "keys.title")}</h2>
      <dl>
        {KEYS.map(([key, about]) => (
          <div data-act={key}>
            <dt>
              {key.split(" ").map((each) => (
                <kbd>{key.startsWith("g ") ? each : shownKey(reader, each)}</kbd>
              ))}
            </dt>
            <dd>{tell(reader, about)}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        <a href="/settings">{tell(reader, "keys.settings")}</a>
      </p>
      <form method="dialog">
        <button autofocus>{tell(reader, "close")}</button>
      </form>
    </dialog>
  );
}

function shownKey(reader: PageReader, key: string) {
  return key === "Ctrl" ? tell(reader, "key.ctrl") : keyFor(reader.keymap, key);
}

/** The command palette; the script fills it. */
function Palette({ reader }: { reader: PageReader }) {
  const name = tell(reader, "keys.palette");
  return (
    <dialog id="palette" aria-label={name}>
      <input
        type="text"
        role="combobox"
        aria-label={name}
        aria-expanded="true"
        aria-controls="found"
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        placeholder={tell(reader, "palette.about")}
      />
      <ul id="found" role="listbox" aria-label={name}></ul>
    </dialog>
  );
}

function initials(name: string) {
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== "");
  const [first = "?", second] = parts;
  return (second ? first.charAt(0) + second.charAt(0) : first.slice(0, 2)).toUpperCase();
}
