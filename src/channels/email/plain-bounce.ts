import { addressOf } from "./automatic-mail.ts";
import { type MailHeader, headerValue, headerValues } from "./mail-header.ts";

/** Mail servers; a vacation program that writes to the address of bounces has the name of its person. */
const SERVER = /^(?:mailer-daemon|postmaster|mdaemon)@/i;
/** The words of servers that go on trying; they come before those of a failure, which a delay may repeat. */
const DELAYED =
  /\b(?:delay(?:ed)?|not yet (?:been )?delivered|will (?:be retried|retry|continue|keep trying)|still (?:trying|being retried)|no action is required|temporar(?:y|ily)|warning|verzögert|noch nicht zugestellt|weitere (?:zustell)?versuche|retardé|retrasado|in ritardo)/i;
/** A line that says for good that a mail was not delivered: by its code, or in words. */
const FAILED =
  /(?:\b5\.\d{1,3}\.\d{1,3}\b|(?:^|[\s:>])55[0-4][ -]\S|permanent(?:er)? (?:error|failure|fehler)|no such (?:user|mailbox|address|person)|user unknown|(?:mailbox|address|user) (?:not found|does not exist|unavailable)|(?:wasn't|was not|were not|not) able to deliver|could ?n[o']t be delivered|undeliverable|unzustellbar|(?:konnte|kann) nicht zugestellt werden|n'a pas pu être (?:remis|distribué)|no se (?:pudo|ha podido) entregar|non è stato possibile (?:consegnare|recapitare))/i;
/** Where servers put our own mail below their words. */
const RETURNED = /^(?:-{2,}.*|return-path:.*|received:.*|message-id:.*|>.*)$/im;
const MOST_CHARS = 5_000;

/**
 * The line in which a server says, in a mail without a report that programs read, that a message was not delivered;
 * undefined if it still tries, or if the mail is from somebody else.
 */
export function findFailureLine(headers: readonly MailHeader[], text: string): string | undefined {
  if (!headerValues(headers, "from").some((from) => SERVER.test(addressOf(from)))) return undefined;
  const said = text.slice(0, MOST_CHARS).split(RETURNED)[0] ?? "";
  const subject = headerValue(headers, "subject") ?? "";
  if (DELAYED.test(subject) || DELAYED.test(said)) return undefined;
  const lines = said.split("\n").filter((line) => FAILED.test(line));
  return lines.find((line) => /\b5\.?\d/.test(line)) ?? lines[0];
}
