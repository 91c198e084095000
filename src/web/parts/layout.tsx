import type { Child } from "hono/jsx";
import { raw } from "hono/html";
import type { Read } from "../../core/changes.ts";
import type { AwayMachine } from "../../core/run/machine.ts";
import type { Pending } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { answerWords } from "../answer-words.ts";
import { NAVIGATION, type PageName } from "./navigation.ts";
import { CHANGEABLE, keyFor } from "./keymap.ts";
import { type Reader, tell, tellKey } from "./reader.ts";
import { Left, finalAs } from "./time.tsx";
import { type Key, say } from "../words/words.ts";

/** Where the script and the style of the pages are. */
export interface Assets {
  script: string;
  style: string;
  /** What only pages beside the inbox have, so that the inbox stays light. */
  besideStyle: string;
}

/** What every page has around it. */
export interface Frame {
  reader: Reader;
  assets: Assets;
  page: PageName;
  title: string;
  /** It is neither the inbox nor a question. */
  isBeside?: boolean;
  /** How many questions wait for the reader. */
  waiting: number;
  /** An answer of the reader that can still be taken back. */
  settling?: (Read & { question: Pending; away?: AwayMachine | undefined }) | undefined;
  /** The last event that the page shows; live updates begin after it. */
  cursor?: string | undefined;
}

// What the script says itself; everything else comes from the server.
const SCRIPT_WORDS: readonly Key[] = [
  ...(["run.left", "run.waiting", "run.since", "run.settling", "run.final", "run.ago"] as const),
  ...(["unit.d", "unit.h", "unit.m", "unit.s"] as const),
  ...([
    "live.on",
    "live.lost",
    "live.kept",
    "live.signedOut",
    "login.title",
    "arrived",
    "copied",
    "answer.say",
    "answer.choose",
    "answer.write",
  ] as const),
  ...(["answer.sayResume", "answer.plain", "row.gone", "pick.alone", "batch.sendWith"] as const),
  ...(["palette.run", "palette.find"] as const),
];

/** A whole page, which works without its script. */
export function Layout({ frame, children }: { frame: Frame; children: Child }) {
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

function Top({ frame }: { frame: Frame }) {
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
      <Places frame={frame} />
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

/** All pages in a row; where there is no room for that, in a menu that is called like the page. */
function Places({ frame: { reader, page, waiting } }: { frame: Frame }) {
  const isHere = (name: PageName): boolean => name === page || (name === "inbox" && page === "question");
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

/** What was just answered, for as long as it can be taken back. It stands in the bar, where it covers nothing. */
function Toast({ frame: { reader, settling } }: { frame: Frame }) {
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
            <Left reader={reader} until={reply.until} as={settling.away ? "run.left" : finalAs(settling.run, reply)} />
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

/** In pairs, and those that cannot be changed; the others follow from the list of those that can. */
const TOGETHER = ["j", "k", "u"];
const KEYS: ReadonlyArray<readonly [string, Key]> = [
  ["j k", "keys.move"],
  ["Enter", "keys.open"],
  ["1-9", "keys.choose"],
  ["Ctrl/⌘+Enter", "keys.answer"],
  ["Shift j k", "keys.range"],
  ...CHANGEABLE.filter(([key]) => !TOGETHER.includes(key)),
  ["u z", "keys.undo"],
  ["Ctrl/⌘+K", "keys.palette"],
  ["g i", "keys.inbox"],
  ["g r", "nav.runs"],
  ["g a", "nav.activity"],
  ["Esc", "keys.away"],
];

function KeyHelp({ reader }: { reader: Reader }) {
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

function shownKey(reader: Reader, key: string): string {
  return key === "Ctrl" ? tell(reader, "key.ctrl") : keyFor(reader.keymap, key);
}

/** Everything that can be gone to or done, by its name; the script fills it. */
function Palette({ reader }: { reader: Reader }) {
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

function initials(name: string): string {
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== "");
  const [first = "?", second] = parts;
  return (second ? first.charAt(0) + second.charAt(0) : first.slice(0, 2)).toUpperCase();
}
