import { z } from "zod";
import type {
  Channel,
  InboundBatch,
  MessageFailure,
  Recipient,
  Reply,
  WireMessage,
} from "../../core/channel/channel.ts";
import type { EmailSettings } from "../../core/channel/channel-settings.ts";
import { type QuestionMessage, countCharacters, cutText } from "../../core/channel/message.ts";
import type { Strength } from "../../core/people/actor.ts";
import { hashText } from "../../core/question/content.ts";
import { Refusal } from "../../core/refusal.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { Outbound } from "../outbound.ts";
import { isFromProgram } from "./automatic-mail.ts";
import { concernsUs, readIncoming } from "./incoming-mail.ts";
import { type MailAddress, bounceAddress, messageId, parseAddress, replyAddress } from "./mail-address.ts";
import { readHeaders } from "./mail-header.ts";
import { fitMail, mailHtml, sentLines, subjectOf } from "./mail-text.ts";
import { readMailbox, verifyMailbox } from "./mailbox.ts";
import { answerText } from "./reply-answer.ts";
import { extractReply } from "./reply-text.ts";
import { type OutgoingMail, sendMail, verifySmtp } from "./smtp.ts";

const MOST_REFERENCES_CHARS = 2_000;
const NOTE_SUBJECT_CHARS = 100;

/** The mail that a response belongs to. */
const Thread = z.object({
  to: z.string(),
  token: z.string(),
  id: z.string(),
  references: z.string(),
  subject: z.string(),
});

/**
 * Sends questions by mail and reads the replies from a mailbox, so nothing of askd has to be reachable from outside. A
 * mail cannot be changed once it is sent: of what happens later only the outcome is worth another one.
 */
export function emailChannel(settings: EmailSettings, outbound: Outbound): Channel {
  const { smtp, imap, authserv } = settings;
  const own = requireAddress(settings.from);
  const strength = imap === undefined ? undefined : authserv === undefined ? "bearer" : "person";
  const sender = { ...settings, own, strength } as const;
  return {
    name: "email",
    strength,
    isQuiet: true,
    showsAll: (message) => fitMail(message, strength).isWhole,
    build: (message, to) => ({ ...buildMail(message, to, sender) }),
    face: (message, to) => (isWorthMail(message, to) ? { outcome: message.outcome } : "asked"),
    send: (wire) => sendMail(smtp, asMail(wire)),
    note: (text, to) => ({ ...noteMail(text, to, sender) }),
    remind: (_outside, wire, text) => sendMail(smtp, reminder(asMail(wire), text)),
    ...(imap === undefined
      ? {}
      : {
          respond: (respondTo: string, text: string) => sendMail(smtp, response(respondTo, text, sender)),
          isAutomatic: isFromProgram,
          extract: (reply: Reply, message: QuestionMessage) => extract(reply, message, strength),
          listen: (cursor: string | undefined, signal: AbortSignal) =>
            listen({ ...settings, imap, own }, { cursor, signal, nowMs: () => outbound.nowMs() }),
        }),
    verify: async () => {
      await verifySmtp(smtp);
      if (imap) await verifyMailbox(imap);
      return `mail from ${own.local}@${own.domain} through ${smtp.host}${imap ? `, replies from ${imap.host}` : ", without replies"}`;
    },
  };
}

function requireAddress(from: string): MailAddress {
  const own = parseAddress(from);
  if (own) return own;
  throw new Refusal("bad_input", "channels.email.from is not an address", {
    hint: "Type: askd config set --user channels.email.from answers@example.com",
  });
}

/** A mail tells how a question ended, unless its recipient ended it. */
function isWorthMail({ isOpen, isSettling, closedBy }: QuestionMessage, { person }: Recipient) {
  return !isOpen && !isSettling && (person === undefined || closedBy !== person);
}

type Sender = EmailSettings & { own: MailAddress; strength: Strength | undefined };

function buildMail(message: QuestionMessage, to: Recipient, sender: Sender): OutgoingMail {
  const { own, strength, hasTags } = sender;
  // News begin a mail of their own, in the thread of the run.
  const isOpen = message.isOpen || message.news !== undefined;
  const token = message.token || "test"; // a message that only tests belongs to no delivery
  const { text, isWhole } = fitMail(message, strength);
  const replyTo =
    strength !== undefined && hasTags && message.news === undefined ? replyAddress(own, token) : undefined;
  const first = messageId(token, "", own);
  const run = `<run.${message.runId.replace(/[^\w-]/g, "")}@${own.domain}>`;
  const subject = subjectOf(message);
  return {
    from: sender.from.includes("<") ? sender.from : `askd <${sender.from}>`,
    to: to.address === undefined ? sender.to : to.address.split(","),
    subject: isOpen ? subject : `Re: ${subject}`,
    text: `${text}\n`,
    html: mailHtml(text, message, { replyTo, strength, isWhole }),
    messageId: isOpen ? first : messageId(token, "outcome", own),
    inReplyTo: isOpen ? run : first,
    references: isOpen ? run : `${run} ${first}`,
    replyTo,
    returnPath: (hasTags ? bounceAddress(own, token) : undefined) ?? `${own.local}@${own.domain}`,
    headers: { ...AUTOMATIC, "List-Id": `askd <askd.${own.domain}>` },
  };
}

/** Says to programs that nobody waits for their reply. */
const AUTOMATIC = { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" } as const;

function asMail(wire: WireMessage): OutgoingMail {
  return wire as unknown as OutgoingMail; // as built above
}

/** A reminder is a mail in the same thread, with the question again below it. */
function reminder(mail: OutgoingMail, text: string): OutgoingMail {
  const part = `reminder-${hashText(text).slice(0, 8)}`;
  const said = makeVisible(text);
  return {
    ...mail,
    subject: `Re: ${mail.subject}`,
    text: `${said}\n\n${mail.text}`,
    html: undefined,
    messageId: mail.messageId.replace("@", `.${part}@`),
    inReplyTo: mail.messageId,
    references: `${mail.references ?? ""} ${mail.messageId}`.trim(),
  };
}

/** A mail about no question: its first line is the subject, and nobody has to reply. */
function noteMail(text: string, { address }: Recipient, sender: Sender): OutgoingMail {
  const { own } = sender;
  const said = makeVisible(text);
  return {
    from: sender.from.includes("<") ? sender.from : `askd <${sender.from}>`,
    to: address === undefined ? sender.to : address.split(","),
    subject: cutText(said.split("\n")[0] ?? "", NOTE_SUBJECT_CHARS, countCharacters).text,
    text: `${said}\n`,
    messageId: messageId(hashText(`${address ?? ""}${said}`).slice(0, 32), "note", own),
    returnPath: `${own.local}@${own.domain}`,
    headers: { ...AUTOMATIC },
  };
}

/** A response to a reply that was unclear or late; what a program replies to it is never taken for an answer. */
function response(respondTo: string, text: string, sender: Sender): OutgoingMail {
  const { own, hasTags } = sender;
  const { to, token, id, references, subject } = Thread.parse(JSON.parse(respondTo));
  return {
    from: sender.from.includes("<") ? sender.from : `askd <${sender.from}>`,
    to: [to],
    subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
    text: `${makeVisible(text)}\n`,
    messageId: messageId(token, `response-${hashText(`${id}${text}`).slice(0, 12)}`, own),
    inReplyTo: id,
    references: `${references} ${id}`.trim().slice(-MOST_REFERENCES_CHARS),
    replyTo: hasTags ? replyAddress(own, token) : undefined,
    returnPath: `${own.local}@${own.domain}`,
    headers: { ...AUTOMATIC, "Auto-Submitted": "auto-replied" },
  };
}

/** The answer in a reply, with the names of files that were attached and are not taken. */
function extract({ text, name, attached = [] }: Reply, message: QuestionMessage, strength: Strength | undefined) {
  const said = extractReply({ text, senderName: name, sent: sentLines(message, strength) });
  const answer = answerText(said, message);
  if (attached.length === 0 || answer === "") return answer;
  return `${answer}\n\n(attached to the mail, not taken: ${attached.map(makeVisible).join(", ")})`;
}

async function* listen(
  settings: EmailSettings & { imap: NonNullable<EmailSettings["imap"]>; own: MailAddress },
  place: { cursor: string | undefined; signal: AbortSignal; nowMs: () => number },
): AsyncIterable<InboundBatch> {
  const isWanted = (headers: string) => concernsUs(readHeaders(headers), settings.own);
  for await (const { cursor, mails } of readMailbox(settings.imap, { ...place, isWanted })) {
    const replies: Reply[] = [];
    const failures: MessageFailure[] = [];
    for (const mail of mails) {
      const read = await readIncoming(mail, settings);
      if (read.kind === "reply") replies.push(read.reply);
      if (read.kind === "failure") failures.push(read.failure);
    }
    yield { cursor, replies, pairings: [], failures };
  }
}
