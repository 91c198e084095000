import type { EmailSettings } from "../../core/channel/channel-settings.ts";
import type { MailHeader } from "./mail-header.ts";

const PROTOCOL = /\bwith\s+([\w-]+)/gi;
const HANDED_OVER = /^(?:(?:UTF8)?LMTPS?A?|local)$/i;

/** The receiving server's word about a sender: proven, disproven, or nothing. */
export type SenderProof = "pass" | "fail" | "none";

/**
 * Reads the results that the configured server wrote. Anybody can write such a header into a mail, so only those count
 * that stand above the line with which that server received the mail; or, where the server removes what others wrote
 * in its name, all of its name.
 */
export function proveSender(
  headers: readonly MailHeader[],
  fromDomain: string,
  { authserv, removesForgedResults }: Pick<EmailSettings, "authserv" | "removesForgedResults">,
): SenderProof {
  if (authserv === undefined) return "none";
  const received = headers.findIndex(({ name, value }) => name === "received" && !isHandOver(value));
  const trusted = removesForgedResults ? headers : headers.slice(0, Math.max(received, 0));
  const results = trusted
    .filter(({ name }) => name === "authentication-results")
    .map(({ value }) => parseResults(value))
    .filter(({ server }) => server === authserv.toLowerCase())
    .flatMap(({ methods }) => methods);
  const dmarc = results.filter(({ method }) => method === "dmarc");
  if (dmarc.some(({ result }) => result === "fail")) return "fail";
  if (dmarc.some(({ result, properties }) => result === "pass" && properties.get("header.from") === fromDomain))
    return "pass";
  if (dmarc.length === 0 && hasFailed(results, "spf") && hasFailed(results, "dkim")) return "fail";
  const isSigned = results.some(
    ({ method, result, properties }) =>
      method === "dkim" &&
      result === "pass" &&
      isAligned(fromDomain, properties.get("header.d") ?? properties.get("header.i")),
  );
  return isSigned ? "pass" : "none";
}

/** Every result of this method is a failure, and there is one. */
function hasFailed(results: readonly MethodResult[], method: string) {
  const found = results.filter((each) => each.method === method);
  return found.length > 0 && found.every(({ result }) => result === "fail");
}

/**
 * A server hands the mail to its own mailboxes by LMTP: that line is not where the mail came in. The sender's name for
 * itself, its addresses and comments in the line are the sender's words, so every protocol that it names, wherever it
 * stands, has to be one of these.
 */
function isHandOver(received: string) {
  const named = [...received.matchAll(PROTOCOL)].map(([, protocol = ""]) => protocol);
  return /\bwith\s/i.test(withoutComments(received)) && named.every((protocol) => HANDED_OVER.test(protocol));
}

/** The signing domain is the sender's own or one above it. */
function isAligned(fromDomain: string, signer: string | undefined) {
  const domain = signer?.replace(/^.*@/, "");
  if (domain === undefined || !domain.includes(".")) return false;
  return fromDomain === domain || fromDomain.endsWith(`.${domain}`);
}

interface MethodResult {
  method: string;
  result: string;
  properties: ReadonlyMap<string, string>;
}

function parseResults(value: string): { server: string; methods: MethodResult[] } {
  const [server = "", ...parts] = withoutComments(value).toLowerCase().split(";");
  return { server: server.trim().split(/\s+/)[0] ?? "", methods: parts.flatMap(parseMethod) };
}

function parseMethod(part: string): MethodResult[] {
  const [first = "", ...rest] = part.trim().split(/\s+/);
  const [method = "", result = ""] = first.split("=");
  if (method === "" || result === "") return [];
  const properties = new Map<string, string>();
  for (const pair of rest) {
    const at = pair.indexOf("=");
    if (at > 0 && !properties.has(pair.slice(0, at)))
      properties.set(pair.slice(0, at), pair.slice(at + 1).replace(/^"|"$/g, ""));
  }
  return [{ method: method.replace(/\/\d+$/, ""), result, properties }];
}

/** Comments stand in brackets, one in another; a quoted text may contain what separates. */
function withoutComments(value: string) {
  let depth = 0;
  let text = "";
  let isQuoted = false;
  for (let index = 0; index < value.length; index += 1) {
    const character = value.charAt(index);
    if (character === "\\") index += 1;
    else if (isQuoted || (character === '"' && depth === 0)) {
      isQuoted = character === '"' ? !isQuoted : isQuoted;
      // Inside quotation marks nothing separates.
      text += character === ";" || character === " " ? "_" : character;
    } else if (character === "(") depth += 1;
    else if (character === ")") depth = Math.max(0, depth - 1);
    else if (depth === 0) text += character;
  }
  return text;
}
