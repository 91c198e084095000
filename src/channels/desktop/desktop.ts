import type { Channel, InboundBatch, WireMessage } from "../../core/channel/channel.ts";
import type { DesktopSettings } from "../../core/channel/channel-settings.ts";
import { sayAnswerElsewhere } from "../../core/channel/answer-elsewhere.ts";
import { type QuestionMessage, choicesOf, countCharacters, cutText, fitText } from "../../core/channel/message.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { Outbound } from "../outbound.ts";
import { LinuxNotifier } from "./linux.ts";
import type { Notification, Notifier } from "./notifier.ts";
import { MACOS_PROGRAMS, WINDOWS_PROGRAMS, programNotifier } from "./program.ts";

const TITLE_CHARS = 200;
/** Desktops show some lines of text; a line break takes the room of half a line. */
const BODY_CHARS = 600;
const BREAK_CHARS = 30;
const LABEL_CHARS = 30;
/** GNOME shows three buttons. */
const MOST_BUTTONS = 3;

/**
 * Shows questions on the desktop of this machine. On Linux a notification has buttons; whoever presses one sits at this
 * machine, and answers as its user.
 */
export function desktopChannel({ platform, env }: DesktopSettings, outbound: Outbound): Channel {
  const notifier = notifierOf(platform, env, outbound);
  const strength = notifier.presses ? "local" : undefined;
  return {
    name: "desktop",
    strength,
    build: (message) => ({ ...buildNotification(message, strength) }),
    showsAll: (message) => fitBody(message).isWhole,
    send: (wire) => notifier.show(readWire(wire)),
    edit: (outside, wire) => notifier.replace(outside, readWire(wire)),
    remind: (outside, wire, text) => {
      const [title = ""] = text.split("\n");
      return notifier.repeat(outside, { ...readWire(wire), title: cutText(title, TITLE_CHARS, countCharacters).text });
    },
    // It tells of something that goes wrong, and stays until it is read.
    note: (text) => ({ ...wordsOf(text, "normal") }),
    respond: (_respondTo, text) => notifier.show(wordsOf(text, "low")),
    verify: () => notifier.verify(),
    ...(notifier.isHeard && { isHeard: (outside: string) => notifier.isHeard?.(outside) ?? Promise.resolve(true) }),
    ...(notifier.presses && { listen: (_cursor: string | undefined, signal: AbortSignal) => listen(notifier, signal) }),
  };
}

function notifierOf(platform: string, env: DesktopSettings["env"], { run }: Outbound): Notifier {
  if (platform === "darwin") return programNotifier(MACOS_PROGRAMS, run);
  // A Linux inside Windows has no desktop of its own, and reaches the one around it.
  const isWindows = platform === "win32" || (env["WSL_DISTRO_NAME"] !== undefined && !env["DBUS_SESSION_BUS_ADDRESS"]);
  return isWindows ? programNotifier(WINDOWS_PROGRAMS, run) : new LinuxNotifier(env, run);
}

function fitBody(message: QuestionMessage) {
  const isClosed = !message.isOpen;
  return fitText(isClosed ? { ...message, outcome: undefined, link: undefined } : { ...message, link: undefined }, {
    limit: BODY_CHARS,
    count: (text) => countCharacters(text) + BREAK_CHARS * (text.split("\n").length - 1),
    foreign: makeVisible,
    hasContext: false,
    hasTitle: isClosed,
    how:
      message.needsPerson || message.run === undefined
        ? sayAnswerElsewhere(message, "how.command")
        : `askd answer ${message.shortId}`,
  });
}

/** The title of a closed question tells its outcome, and the notification disappears by itself. */
function buildNotification(message: QuestionMessage, strength: Channel["strength"]): Notification {
  const { text, isWhole } = fitBody(message);
  const title = makeVisible(message.isOpen ? message.title : (message.outcome ?? message.title));
  return {
    title: cutText(title, TITLE_CHARS, countCharacters).text,
    body: text,
    urgency: urgencyOf(message),
    group: message.questionId,
    buttons: choicesOf(message, { isWhole, strength })
      .slice(0, MOST_BUTTONS)
      .map(({ key, label }) => ({
        key: `${message.token}:${key}`,
        label: cutText(`${key}) ${makeVisible(label)}`, LABEL_CHARS, countCharacters).text,
      })),
    link: message.link,
    openLabel: tellIn(message.language, "open"),
  };
}

/** A notification that is only words. */
function wordsOf(text: string, urgency: Notification["urgency"]): Notification {
  const body = cutText(makeVisible(text), BODY_CHARS, countCharacters).text;
  return { title: "askd", body, urgency, group: "", buttons: [], link: undefined, openLabel: "" };
}

/** News stay until they are read; what only shows an outcome goes by itself. */
function urgencyOf({ isOpen, risk, news }: QuestionMessage): Notification["urgency"] {
  if (isOpen && risk === "high") return "critical";
  return isOpen || news !== undefined ? "normal" : "low";
}

function readWire(wire: WireMessage): Notification {
  return wire as unknown as Notification; // as built above
}

async function* listen(notifier: Notifier, signal: AbortSignal): AsyncIterable<InboundBatch> {
  for await (const { id, key } of notifier.presses?.(signal) ?? []) {
    const [token = "", ...words] = key.split(":");
    const reply = { key: id, from: undefined, token, text: words.join(":"), respondTo: "" };
    yield { cursor: "", replies: [reply], pairings: [] };
  }
}
