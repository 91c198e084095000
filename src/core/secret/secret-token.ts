import { SECRET_FORMS, SECRET_INFIXES } from "./secret-form.ts";
import { isSurelyGenerated, looksGenerated } from "./secret-value.ts";
import type { TextRange } from "./text-range.ts";

interface StartedForm {
  start: string;
  rest: RegExp | string;
  /** The expression for the rest, once it was needed. */
  matcher?: RegExp;
}

const SHORTEST_TOKEN = 16;
const SHORTEST_GENERATED = 24;
const SHORTEST_PART = 10;
/** Longer texts without a break are files: images, fonts, programs. */
const LONGEST_GENERATED = 300;
const LONGEST_INFIX_PART = 60;
const HINT_CHARS = 60;
const LONGEST_COLOUR = 14;

/** Finds keys by the forms of their providers, and values that only a program can have made up. */
export function findSecretTokens(text: string): TextRange[] {
  const found: TextRange[] = findInfixes(text);
  const { length } = text;
  let at = 0;
  while (at < length) {
    if (KINDS[text.charCodeAt(at)] === BREAK) {
      at += 1;
      continue;
    }
    const end = endOfToken(text, at);
    // Short words, and those without digits, are most of any text.
    if (end - at >= SHORTEST_TOKEN && hasDigits(text, at, end)) {
      const generated = findGenerated(text, at, end);
      if (generated) found.push(generated);
    }
    at = findForms(text, at, end, found);
  }
  return found;
}

/** Searches for a key at each word of a token; returns where to continue, as a key may be longer than the token. */
function findForms(text: string, start: number, end: number, found: TextRange[]) {
  let before: number | undefined = BREAK;
  for (let at = start; at < end; at += 1) {
    const kind = KINDS[text.charCodeAt(at)];
    const isStart = kind === LETTER && (before !== LETTER || (at < start + 3 && isAfterEscape(text, at)));
    before = kind;
    if (!isStart) continue;
    const last = endOfForm(text, at);
    if (last === undefined) continue;
    found.push([at, last]);
    if (last >= end) return last;
    at = last - 1;
  }
  return end;
}

const BREAK = 0;
const JOINER = 1;
const LETTER = 2;
/** The kind of every character, so that a look needs no condition. */
const KINDS = new Uint8Array(0x1_0000);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") KINDS[char.charCodeAt(0)] = LETTER;
for (const char of "+/=_-") KINDS[char.charCodeAt(0)] = JOINER;

function endOfToken(text: string, start: number) {
  let end = start + 1;
  while (end < text.length && KINDS[text.charCodeAt(end)] !== BREAK) end += 1;
  return end;
}

function hasDigits(text: string, start: number, end: number) {
  const last = Math.min(end, start + LONGEST_GENERATED);
  let digits = 0;
  for (let at = start; at < last && digits < 2; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) digits += 1;
  }
  return digits >= 2;
}

/** The letter of an escape such as `\n`, and the digits of `%3D` or of a colour code, belong to no word. */
function isAfterEscape(text: string, at: number) {
  if (text.charCodeAt(at - 2) === BACKSLASH || text.charCodeAt(at - 3) === PERCENT) return true;
  if (text.charCodeAt(at - 1) !== SMALL_M) return false;
  const before = text.slice(Math.max(0, at - LONGEST_COLOUR), at);
  const colour = before.lastIndexOf("\u001b[");
  return colour >= 0 && /^[\d;]*m$/.test(before.slice(colour + 2));
}

const BACKSLASH = 92;
const PERCENT = 37;
const SMALL_M = 109;

/** Forms by the first two characters of their starts; most commands search no text. */
let forms: (StartedForm[] | undefined)[] | undefined;

function groupForms() {
  const groups: (StartedForm[] | undefined)[] = Array.from({ length: 128 * 128 });
  for (const [, starts, rest] of SECRET_FORMS) {
    for (const start of starts.split(" ")) {
      const seconds = start.length > 1 ? [start.charCodeAt(1)] : Array.from({ length: 128 }, (_, code) => code);
      const form: StartedForm = { start, rest };
      for (const second of seconds) (groups[start.charCodeAt(0) * 128 + second] ??= []).push(form);
    }
  }
  return groups;
}

function matcherOf(form: StartedForm) {
  const { rest } = form;
  return (form.matcher ??=
    typeof rest === "string" ? new RegExp(rest, "y") : new RegExp(rest.source, `${rest.flags}y`));
}

/** Where a key that begins here ends. */
function endOfForm(text: string, at: number) {
  const second = text.charCodeAt(at + 1);
  forms ??= groupForms();
  const started = second < 128 ? forms[text.charCodeAt(at) * 128 + second] : undefined;
  if (!started) return undefined;
  for (const form of started) {
    if (!text.startsWith(form.start, at)) continue;
    const matcher = matcherOf(form);
    matcher.lastIndex = at + form.start.length;
    if (matcher.test(text)) return matcher.lastIndex;
  }
  return undefined;
}

function findInfixes(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (const [, infix, before, after] of SECRET_INFIXES) {
    for (let at = text.indexOf(infix); at >= 0; at = text.indexOf(infix, at + infix.length)) {
      after.lastIndex = at + infix.length;
      if (!after.test(text)) continue;
      const start = before.exec(text.slice(Math.max(0, at - LONGEST_INFIX_PART), at));
      if (start) found.push([at - start[0].length, after.lastIndex]);
    }
  }
  return found;
}

const HEX = /^[0-9a-fA-F]+$/;
const UUID = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
const JSON_IN_BASE64 = /^(?:eyJ|ZXlK|e30)/;
// Ids of askd and of agents, checksums, public keys, and the base64 form of files say what they are.
const PUBLIC =
  /^(?:[aqrw]_[0-9a-hjkmnp-tv-z]{26}$|(?:ses|msg|prt|req|toolu|call|chatcmpl|evt)_|sha\d{1,3}[-_=]|md5[-_=]|AAAA[BCE][23]|iVBORw0|R0lGOD|\/9j\/|PHN2Z|AGFzbQ|UklGR|d09G|MII[A-Z])/;
const PUBLIC_BEFORE = /(?:h1:|sha\d{1,3}[-:=]|md5[-:=]|base64,|integrity["']?[:=]\s?["']?)$/;

/** A token that is made of random characters, alone or after the name of a provider or of a kind of secret. */
function findGenerated(text: string, start: number, end: number): TextRange | undefined {
  const token = text.slice(start, Math.min(end, start + LONGEST_GENERATED + 1));
  if (JSON_IN_BASE64.test(token)) return findJsonWebToken(text, start, end);
  if (token.length > LONGEST_GENERATED || PUBLIC.test(token)) return undefined;
  const value = valueIn(token);
  const from = start + value.offset;
  if (value.text.length < SHORTEST_TOKEN) return undefined;
  const isHex = HEX.test(value.text) || UUID.test(value.text);
  // Names in programs are short words with something between them.
  const longest = isHex ? value.text : longestPart(value.text);
  if (longest.length < SHORTEST_PART) return undefined;
  const isSure = !isHex && value.text.length >= SHORTEST_GENERATED && isSurelyGenerated(longest);
  if (!isSure && !isHex && !(/\d/.test(longest) && looksGenerated(longest))) return undefined;
  const before = text.slice(Math.max(0, from - HINT_CHARS), from);
  if (PUBLIC_BEFORE.test(before)) return undefined;
  return (isSure && !isLineOfFile(text, start, end)) || isHinted(before) ? [from, end] : undefined;
}

function longestPart(text: string) {
  return text.split(/[-_/+]+/).reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}

/** The value after the last `name=` of a token; padding at its end is no name. */
function valueIn(token: string): { text: string; offset: number } {
  let end = token.length;
  while (end > 0 && token[end - 1] === "=") end -= 1;
  const offset = token.lastIndexOf("=", end - 1) + 1;
  return { text: token.slice(offset, end), offset };
}

/** Base64 that begins like JSON: a signed token with two or three parts, or what such a token wraps. */
function findJsonWebToken(text: string, start: number, end: number): TextRange | undefined {
  TOKEN_PARTS.lastIndex = end;
  const isSigned = TOKEN_PARTS.test(text);
  if (isSigned) return [start, TOKEN_PARTS.lastIndex];
  // A map from a program to its source is no secret.
  const isMap = text.startsWith("eyJ2ZXJzaW9u", start) || text.slice(Math.max(0, start - 8), start).endsWith("base64,");
  return end - start >= SHORTEST_GENERATED && !isMap ? [start, end] : undefined;
}

const TOKEN_PARTS = /\.[\w+/-]{8,}=*(?:\.[\w+/=-]*)*/y;

/** Says whether a line belongs to a certificate or attached file: many lines of equal length. */
function isLineOfFile(text: string, start: number, end: number) {
  if (end - start < 60) return false;
  LINES_OF_FILE.lastIndex = 0;
  const around = text.slice(Math.max(0, start - 90), end + 90);
  const line = text.slice(start, end);
  for (let match = LINES_OF_FILE.exec(around); match; match = LINES_OF_FILE.exec(around)) {
    if (match[0].includes(line)) return true;
  }
  return false;
}

/** Two lines at least, one of which may be the first or the last of a block. */
const LINES_OF_FILE =
  /(?:[\w+/=-]{30,}|-----BEGIN [A-Z ]{1,40}-----)[ \t]*(?:\r?\n|\\n)[ \t>]*[\w+/=-]{60,}|[\w+/=-]{60,}[ \t]*(?:\r?\n|\\n)[ \t>]*(?:[\w+/=]{20,}|-----END [A-Z ]{1,40}-----)/g;

/** Hints before a value: a kind of secret, or a provider whose keys have no format of their own. */
const HINT =
  /secret|passw|token|api|key|auth|cred|private|bearer|signature|license|adafruit|adobe|airtable|algolia|alibaba|aliyun|amplitude|asana|atlassian|confluence|jira|auth0|aws|azure|beamer|bitbucket|bittrex|binance|bugsnag|cloudflare|codecov|cohere|coinbase|confluent|contentful|datadog|deepgram|digitalocean|discord|droneci|dropbox|elastic|etherscan|etsy|facebook|fastly|finicity|finnhub|flickr|freshbooks|gitter|gocardless|heroku|hetzner|honeybadger|hubspot|infura|intercom|jenkins|jfrog|artifactory|kraken|kucoin|launchdarkly|linear|linked_?in|linode|lob|logz|mailchimp|mailgun|mailjet|mapbox|mattermost|meraki|message_?bird|mixpanel|mistral|netlify|new_?relic|ngrok|nytimes|okta|opsgenie|ovh|pagerduty|paypal|plaid|planetscale|plivo|postmark|pusher|quay|rapidapi|rollbar|salesforce|segment|sendbird|sendgrid|sentry|shodan|sinch|snowflake|snyk|sonar|sourcegraph|spark_?post|splunk|spotify|squarespace|stripe|sumo|telegram|tencent|trello|travis|twilio|twitch|twitter|typeform|upstash|vercel|vonage|vultr|wandb|weather|webflow|yandex|zendesk|zoho|zoom/i;
const NO_HINT =
  /(?:commit|sha\d*|hash|checksum|digest|integrity|revision|\brev|etag|md5|uuid|version|fingerprint|public_?key|primary_?key|cache_?key|tree|blob|build_?id|request_?id|trace_?id|correlation|account_?id\/)[^\n]{0,24}$/i;
const ASSIGNS = /(?:[=:>,("'`|[\s]|\\["nrt])$/;

function isHinted(before: string) {
  return ASSIGNS.test(before) && HINT.test(before) && !NO_HINT.test(before);
}
