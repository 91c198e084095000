import type { Channel, ChannelResult, WireMessage } from "../../core/channel/channel.ts";
import type { AppriseSettings } from "../../core/channel/channel-settings.ts";
import { sayAnswerElsewhere } from "../../core/channel/answer-elsewhere.ts";
import { type QuestionMessage, countCharacters, cutText, fitText } from "../../core/channel/message.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { neutraliseMentions } from "../../core/text/mention.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { Outbound } from "../outbound.ts";

/** Services behind apprise cut at different lengths; SMS and the like at less, and then apprise splits the text. */
const BODY_CHARS = 1_500;
const TITLE_CHARS = 200;
const NOT_FOUND = 127;
/** Arguments that apprise does not understand, and addresses that it does not know. */
const FINAL: ReadonlySet<number> = new Set([2, 3]);

/** Tells people through whatever service `apprise` reaches; it brings no replies and edits nothing. */
export function appriseChannel({ readUrls }: AppriseSettings, { run }: Outbound): Channel {
  const urls = readUrls();
  const deliver = async ({ title, body, type }: WireMessage): Promise<ChannelResult> => {
    const argv = ["apprise", "--input-format=text", `--notification-type=${String(type)}`, `--title=${String(title)}`];
    // Everybody on this machine can read command lines: addresses and the question go another way.
    const { exitCode, stderr } = await run(argv, { env: { APPRISE_URLS: urls }, input: String(body) });
    if (exitCode === 0) return { ok: true };
    if (exitCode === NOT_FOUND) return { ok: false, why: "apprise is not installed", isRefused: true };
    return { ok: false, why: sayFailure(stderr, urls), isFinal: FINAL.has(exitCode) };
  };
  return {
    name: "apprise",
    strength: undefined,
    build: (message) => ({ ...buildMessage(message) }),
    showsAll: (message) => fitBody(message).isWhole,
    send: deliver,
    // Only news of weight is a new message: who claims a question is not.
    edit: (_outside, wire) => deliver(wire),
    remind: (_outside, wire, text) =>
      deliver({ ...wire, body: cutText(plain(text), BODY_CHARS, countCharacters).text }),
    note: (text) => ({
      title: "askd",
      body: cutText(plain(text), BODY_CHARS, countCharacters).text,
      type: "warning",
    }),
    verify: async () => {
      const { exitCode, stderr } = await run(["apprise", "--version"]);
      if (exitCode === NOT_FOUND) throw new Error("apprise is not installed: install it with: pipx install apprise");
      if (exitCode !== 0) throw new Error(sayFailure(stderr, urls));
      const count = urls.split(/[\s,]+/).length;
      return `${count} ${count === 1 ? "address" : "addresses"} of apprise`;
    },
  };
}

function fitBody(message: QuestionMessage) {
  return fitText(
    { ...message, notes: [] },
    {
      limit: BODY_CHARS,
      count: countCharacters,
      foreign: plain,
      hasContext: false,
      hasTitle: true,
      how: sayAnswerElsewhere(message, "how.command"),
    },
  );
}

function buildMessage(message: QuestionMessage) {
  const word = message.news !== undefined ? "news" : message.isOpen ? "question.of" : "closed";
  const title = tellIn(message.language, word, { about: message.about });
  return {
    title: cutText(plain(title), TITLE_CHARS, countCharacters).text,
    body: fitBody(message).text,
    type:
      message.news !== undefined ? "info" : message.isOpen ? (message.risk === "high" ? "warning" : "info") : "success",
  };
}

/** The last line that apprise wrote, without the addresses, which hold secrets. */
function sayFailure(stderr: string, urls: string) {
  const line = stderr.trim().split("\n").at(-1)?.trim() ?? "";
  const isSafe = line !== "" && urls.split(/[\s,]+/).every((url) => !line.includes(url)) && !/:\/\//.test(line);
  return isSafe ? line : "apprise could not deliver it";
}

const plain = (text: string) => neutraliseMentions(makeVisible(text));
