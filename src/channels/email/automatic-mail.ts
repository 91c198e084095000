import type { Reply } from "../../core/channel/channel.ts";
import type { QuestionMessage } from "../../core/channel/message.ts";
import { type MailHeader, headerValue, headerValues } from "./mail-header.ts";
import { isSubjectOf } from "./mail-text.ts";

/** Senders that are programs. */
const PROGRAM_SENDER =
  /^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?|auto-?reply|autoresponder|notifications?|mdaemon|nobody|listserv|majordomo|mailman|[\w.-]+-(?:bounces|request|owner)|owner-[\w.-]+|bounce[+-].*|ne-pas-repondre|nepasrepondre|noresponder|no-responder|nicht-?antworten|keine-?antwort|naoresponda|nao-responda|noreply[+-].*)@/i;
/** The marks that mail programs put in front of the subject that they reply to. */
const REPLY_PREFIX = /^\s*(?:(?:re|aw|sv|vs|antw|odp|fwd?|wg)\s*:\s*)+/iu;
/** The subjects of automatic replies, for programs that mark them in no other way. */
const AUTOMATIC_SUBJECT =
  /^\s*(?:(?:re|aw|sv|vs|antw|odp|fwd?|wg)\s*:\s*)*(?:auto(?:matic|mated|matisch[er]*|matisk[at]*|matiche?|mática|matique)?[\s_-]?(?:re(?:ply|sponse|ply:)|antwort|svar|antwoord|vastaus)|out of (?:the )?office|ooo\b|away from|vacation|on (?:vacation|leave|holiday)|abwesen(?:d|heit)|(?:automatische )?abwesenheits|nicht im (?:büro|haus)|im urlaub|réponse automatique|absence du bureau|absent(?:e)? du bureau|message d['’]absence|respuesta automática|fuera de (?:la )?oficina|resposta automática|ausência|fora do escritório|risposta automatica|fuori sede|fuori ufficio|automatisch antwoord|afwezig|autosvar|automatiskt svar|automatisk svar|frånvaro|automaattinen vastaus|poissa|automatyczna odpowiedź|autoodpowiedź|poza biurem|automatická odpověď|mimo kancelář|автоответ|автоматический ответ|отсутствую|自動応答|自動返信|不在|自动回复|自動回覆|자동 회신|부재중|otomatik yanıt|undeliver(?:able|ed)|delivery (?:status notification|failure|has failed|delayed)|mail delivery (?:failed|failure|system)|failure notice|returned mail|unzustellbar|nicht zustellbar|non remis|échec de (?:la )?remise|no se puede entregar|não entregue|mancata consegna|read:|gelesen:|lu :|leído:|lida:|letto:|gelezen:|not read:|accepted:|declined:|tentative:|angenommen:|abgelehnt:|zugesagt:|accepté|refusé|aceptado|rechazado|invitation:|updated invitation|canceled event|einladung:|termin(?:absage|einladung)?:|you(?:'ve| have) (?:been )?(?:un)?subscribed|your message to .{1,80} awaits moderator)/iu;

/** Why a mail was not written by a person in reply, if that is so. Such a mail is never an answer, and never answered. */
export function findAutomatic(headers: readonly MailHeader[]): string | undefined {
  const value = (name: string) => headerValue(headers, name)?.toLowerCase();
  const has = (name: string) => headerValue(headers, name) !== undefined;
  const type = value("content-type") ?? "";
  if (headerValues(headers, "return-path").some((path) => /^<\s*>$/.test(path))) return "it has no sender to return to";
  if (/^multipart\/report\b/.test(type) || /report-type=/.test(type)) return "it is a report";
  if (
    /^text\/calendar\b/.test(type) ||
    has("x-microsoft-cdo-busystatus") ||
    value("content-class")?.includes("calendar")
  )
    return "it is a calendar mail";
  if (/^message\/(?:delivery-status|disposition-notification|rfc822)\b/.test(type)) return "it is a report";
  const automatic = value("auto-submitted");
  if (automatic !== undefined && !/^no\b/.test(automatic)) return "it was sent by a program";
  if (/^(?:bulk|junk|list|auto[_-]?reply)\b/.test(value("precedence") ?? "")) return "it was sent to many";
  if (AUTOMATIC_HEADERS.some((name) => has(name) && !/^(?:no|none|false|0)$/.test(value(name) ?? "")))
    return "it was sent by a program";
  if (LIST_HEADERS.some(has)) return "it came from a list";
  if (headerValues(headers, "from").some((from) => PROGRAM_SENDER.test(addressOf(from))))
    return "its sender is a program";
  return undefined;
}

/**
 * Says whether a mail has the subject of an automatic reply. That alone proves nothing: our own question may begin like
 * one, and a person who replies to it keeps its subject.
 */
export function hasAutomaticSubject(headers: readonly MailHeader[]): boolean {
  return AUTOMATIC_SUBJECT.test(decodeSubject(headerValue(headers, "subject") ?? ""));
}

/** A reply under the subject of an automatic one is from a program, unless it is the subject that we sent. */
export function isFromProgram({ automaticSubject }: Reply, message: QuestionMessage): boolean {
  if (automaticSubject === undefined) return false;
  return !isSubjectOf(automaticSubject.replace(REPLY_PREFIX, "").trim(), message);
}

const AUTOMATIC_HEADERS = [
  "x-autoreply",
  "x-autorespond",
  "x-autoresponder",
  "x-auto-reply",
  "x-auto-responded",
  "x-autoreply-from",
  "x-failed-recipients",
  "x-mail-autoreply",
  "x-vacation",
  "x-ms-exchange-inbox-rules-loop",
  "x-ms-exchange-generated-message-source",
  "x-loop",
  "x-cron-env",
  "x-github-reason",
  "x-jira-fingerprint",
  "x-ovh-autoreply",
  "feedback-id",
  "x-campaign-id",
  "x-mailgun-tag",
];
const LIST_HEADERS = ["list-id", "list-post", "list-unsubscribe", "mailing-list", "x-mailing-list", "list-help"];

/** The address in a From header. */
export function addressOf(from: string): string {
  return (/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from).trim();
}

/** A subject as people see it; what cannot be decoded stays as it is. */
function decodeSubject(subject: string): string {
  return subject
    .replace(/(\?=)\s+(=\?)/g, "$1$2")
    .replace(/=\?([\w-]+)(?:\*\w+)?\?([bq])\?([^?]*)\?=/gi, (whole, charset: string, form: string, text: string) => {
      const bytes =
        form.toLowerCase() === "b"
          ? Buffer.from(text, "base64")
          : Buffer.from(
              text
                .replaceAll("_", " ")
                .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
              "latin1",
            );
      try {
        return new TextDecoder(charset).decode(bytes);
      } catch {
        return whole; // an unknown character set
      }
    });
}
