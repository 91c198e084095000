import type { Attachment, Email, addressParser as parseAddresses } from "postal-mime";
import type { MessageFailure, Reply } from "../../core/channel/channel.ts";
import type { EmailSettings } from "../../core/channel/channel-settings.ts";
import { hashText } from "../../core/question/content.ts";
import { type SenderProof, proveSender } from "./authentication.ts";
import { findAutomatic, hasAutomaticSubject } from "./automatic-mail.ts";
import { htmlToText } from "./html-text.ts";
import { type MailAddress, findIdTokens, findTaggedTokens, parseAddress } from "./mail-address.ts";
import { type MailHeader, headerValue, headerValues, readHeaders } from "./mail-header.ts";
import { findFailureLine } from "./plain-bounce.ts";

const MOST_TEXT_CHARS = 200_000;
const MOST_WHY_CHARS = 200;
const MOST_NAMED = 10;
/** Where servers write the address that a mail was delivered to; `To` is what the sender wrote. */
const DELIVERED = ["delivered-to", "x-original-to", "envelope-to", "x-envelope-to"];
const WRITTEN = ["to", "cc"];
const STRENGTH = { pass: "person", none: "bearer", fail: "none" } as const;

type ReadSettings = Pick<EmailSettings, "authserv" | "removesForgedResults"> & { own: MailAddress };

/** The meaning of a mail: a reply, the news that a message did not arrive, or nothing. */
export type IncomingMail =
  | { kind: "reply"; reply: Reply }
  | { kind: "failure"; failure: MessageFailure }
  | { kind: "ignored"; why: string };

/** Says whether a mail with these headers may belong to a message of ours, so that it is worth reading. */
export function concernsUs(headers: readonly MailHeader[], own: MailAddress): boolean {
  return findToken(headers, own) !== undefined || findAutomatic(headers) === "it is a report";
}

/** Reads a mail: automatic mail and mail without a token of ours is never a reply. */
export async function readIncoming(source: Uint8Array | string, settings: ReadSettings): Promise<IncomingMail> {
  const headers = readHeaders(Buffer.from(source as Uint8Array).toString("latin1"));
  const found = findToken(headers, settings.own);
  const automatic = findAutomatic(headers);
  const isAutomatic = automatic !== undefined || found?.isBounce === true;
  if (isAutomatic || hasAutomaticSubject(headers)) {
    const report = await readReport(source, headers, found, settings.own);
    if (isAutomatic || report.kind === "failure") return report;
  }
  if (!found) return { kind: "ignored", why: "it has no token of ours" };
  const { default: PostalMime, addressParser } = await import("postal-mime");
  const sender = findSender(headers, addressParser);
  if (!sender) return { kind: "ignored", why: "it has not exactly one sender" };
  const proof = proveSender(headers, sender.domain, settings);
  const email = await PostalMime.parse(source, { attachmentEncoding: "arraybuffer" });
  if (hasCalendar(email)) return { kind: "ignored", why: "it is a calendar mail" };
  return { kind: "reply", reply: replyOf(email, headers, { ...found, sender, proof }) };
}

/** The one token that a mail carries; the address that it was delivered to counts before what its sender wrote. */
function findToken(headers: readonly MailHeader[], own: MailAddress): { token: string; isBounce: boolean } | undefined {
  for (const names of [DELIVERED, WRITTEN]) {
    const tagged = names
      .flatMap((name) => headerValues(headers, name))
      .flatMap((value) => findTaggedTokens(value, own));
    const [first] = tagged;
    if (!first) continue;
    return tagged.every(({ token }) => token === first.token) ? first : undefined;
  }
  const answered = findIdTokens(headerValue(headers, "in-reply-to") ?? "", own)[0];
  const token = answered ?? findIdTokens(headerValue(headers, "references") ?? "", own).at(-1);
  return token === undefined ? undefined : { token, isBounce: false };
}

interface Sender {
  name: string;
  address: string;
  domain: string;
}

/** A mail with several senders, or with a sender that can be read in two ways, has none. */
function findSender(headers: readonly MailHeader[], addressParser: typeof parseAddresses): Sender | undefined {
  const values = headerValues(headers, "from");
  const [value = ""] = values;
  const [found, ...others] = addressParser(value, { flatten: true });
  const parsed = parseAddress(found?.address ?? "");
  if (values.length !== 1 || others.length > 0 || !parsed) return undefined;
  const address = `${parsed.local}@${parsed.domain}`.toLowerCase();
  return { name: found?.name ?? "", address, domain: parsed.domain };
}

function hasCalendar({ attachments }: Email) {
  return attachments.some(
    ({ mimeType, method }) => mimeType === "text/calendar" && method?.toUpperCase() !== "PUBLISH",
  );
}

function replyOf(
  email: Email,
  headers: readonly MailHeader[],
  { token, sender, proof }: { token: string; sender: Sender; proof: SenderProof },
): Reply {
  const id = headerValue(headers, "message-id") ?? hashText(`${email.date ?? ""}\n${email.text ?? email.html ?? ""}`);
  const subject = (email.subject ?? "").replace(/\s+/g, " ").slice(0, 300);
  const thread = { to: sender.address, token, id, references: headerValue(headers, "references") ?? "", subject };
  return {
    key: hashText(`${token} ${id}`).slice(0, 32),
    from: sender.address,
    name: email.from?.name ?? sender.name,
    token,
    strength: STRENGTH[proof],
    isForged: proof === "fail",
    text: textOf(email).slice(0, MOST_TEXT_CHARS),
    automaticSubject: hasAutomaticSubject(headers) ? subject : undefined,
    attached: email.attachments.filter(isAttached).map(nameOf).slice(0, MOST_NAMED),
    respondTo: JSON.stringify(thread),
  };
}

/** The plain text if there is one; mail programs that send HTML only have none. */
function textOf({ text = "", html = "" }: Email) {
  return text.trim() === "" ? htmlToText(html) : text;
}

/** A file that somebody attached, not the picture of a signature. */
function isAttached({ disposition, related, contentId, mimeType }: Attachment) {
  if (/^application\/(?:pgp|pkcs7|x-pkcs7)-signature$/.test(mimeType)) return false;
  return !related && (disposition === "attachment" || contentId === undefined);
}

function nameOf({ filename, mimeType }: Attachment) {
  return (filename ?? mimeType).replace(/\s+/g, " ").slice(0, 100);
}

/** A report that a message of ours could not be delivered; every other automatic mail is nothing. */
async function readReport(
  source: Uint8Array | string,
  headers: readonly MailHeader[],
  found: { token: string; isBounce: boolean } | undefined,
  own: MailAddress,
): Promise<IncomingMail> {
  const ignored: IncomingMail = { kind: "ignored", why: findAutomatic(headers) ?? "it is no report" };
  const { default: PostalMime } = await import("postal-mime");
  const email = await PostalMime.parse(source, { attachmentEncoding: "utf8" });
  const parts = email.attachments.map(({ content }) => contentText(content));
  const status = email.attachments.findIndex(({ mimeType }) => mimeType === "message/delivery-status");
  const report = parts[status] ?? "";
  const line = status < 0 && found?.isBounce ? findFailureLine(headers, textOf(email)) : undefined;
  const hasFailed =
    /^action:\s*failed\b/im.test(report) ||
    (status < 0 && (line !== undefined || headerValue(headers, "x-failed-recipients") !== undefined));
  if (!hasFailed) return ignored;
  // Without an address of its own, the report names the message that it returns.
  const token = found?.isBounce ? found.token : findIdTokens(parts.join("\n"), own)[0];
  return token === undefined ? ignored : { kind: "failure", failure: { token, why: sayWhy(report, line) } };
}

function contentText(content: Attachment["content"]) {
  return typeof content === "string" ? content : Buffer.from(content as ArrayBuffer).toString("utf8");
}

/** The reason in the words of the server that refused; addresses stay out of it. */
function sayWhy(report: string, line = "") {
  const code = /^diagnostic-code:\s*(?:smtp;)?\s*([^\n]*(?:\n[ \t][^\n]*)*)/im.exec(report)?.[1] ?? "";
  const status = /^status:\s*([\d.]+)/im.exec(report)?.[1] ?? "";
  const words = withoutAddresses((code.trim() || status || line).replace(/\s+/g, " ").trim()).slice(0, MOST_WHY_CHARS);
  return words === "" ? "the mail came back" : `the mail came back: ${words}`;
}

/** Addresses of people stay out of the trail. */
export function withoutAddresses(text: string): string {
  return text.replace(/<?[^\s<>@:;,"']+@[^\s<>@:;,"']+>?/g, "the address");
}
