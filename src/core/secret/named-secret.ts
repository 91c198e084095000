import { bitsPerChar, isPlaceholder, isProgramName, looksGenerated } from "./secret-value.ts";
import type { TextRange } from "./text-range.ts";

const LONGEST_NAME_PART = 40;
const LONGEST_VALUE = 1_000;
/** Names in one unbroken text whose values are looked at; more are no settings. */
const MOST_IN_A_ROW = 8;

/** Parts of names that may hold a secret. Each hit is checked with the whole name around it. */
const NAME_PART =
  /pass|pwd|secret|token|key|auth|cred|salt|sig|cookie|session|bearer|client|tenant|account|jwt|dsn|api|access|otp|connect|identified|bundle_/gi;
const NAME_CHARS = codesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
/** Characters that can follow a name that has a value. */
const AFTER_NAME = codesOf(" \t\"'`=:>,|?)]\\");

/** Finds values by what stands before them: `password = "…"`, `"apiKey": "…"`, `--token …`, `the password is …`. */
export function findNamedSecrets(text: string): TextRange[] {
  const found: TextRange[] = [];
  let row = { start: -1, names: 0 };
  NAME_PART.lastIndex = 0;
  for (let hit = NAME_PART.exec(text); hit; hit = NAME_PART.exec(text)) {
    const end = endOfName(text, NAME_PART.lastIndex);
    NAME_PART.lastIndex = end;
    if (!AFTER_NAME.has(text.charCodeAt(end))) continue;
    const start = startOfName(text, hit.index);
    row = { start: end, names: start - row.start <= 1 ? row.names + 1 : 0 };
    if (row.names > MOST_IN_A_ROW) continue;
    const kind = kindOfName(text.slice(start, end));
    if (kind === undefined) continue;
    const value = findValue(text, start, end, kind);
    if (!value) continue;
    found.push([value.start, value.end]);
    NAME_PART.lastIndex = Math.max(end, value.end);
  }
  return found;
}

function codesOf(chars: string): ReadonlySet<number> {
  return new Set(Array.from(chars, (char) => char.charCodeAt(0)));
}

function startOfName(text: string, from: number) {
  let start = from;
  while (start > 0 && from - start < LONGEST_NAME_PART && NAME_CHARS.has(text.charCodeAt(start - 1))) start -= 1;
  // The letter of an escaped line break belongs to no name.
  return text[start - 1] === "\\" && /[nrt]/.test(text[start] ?? "") && start < from ? start + 1 : start;
}

function endOfName(text: string, from: number) {
  let end = from;
  while (end < text.length && end - from < LONGEST_NAME_PART && NAME_CHARS.has(text.charCodeAt(end))) end += 1;
  return end;
}

/** The kind of a name: people choose passwords, programs generate the others, and a key can be anything. */
type NameKind = "password" | "secret" | "key" | "id" | "cookie" | "session";

const PASSWORD_WORD = /^(?:passw(?:or)?d|passwort|passwd|pass|passphrase|passcode|pwd|pw|userpass|dbpass\w*|dbpwd)\d?$/;
const SECRET_WORD =
  /^(?:secrets?|tokens?|apikey|apitoken|apisecret|authkey|authtoken|accesstoken|accesskey|secretkey|privatekey|credentials?|creds?|auth|oauth2?|authorization|jwt|bearer|salt|sig|signature|sas|sessionid|sid|csrftoken|otp|dsn|pat|cookie|appkey|signingkey|clientsecret)\d?$/;
const KEY_WORD = /^(?:keys?|api|access|connection)\d?$/;
const COOKIE_NAME = /^(?:set-)?cookie$/i;
const ID_NAME = /(?:client|tenant|account|subscription|access|application)[_.-]?id$/i;
/** Credentials in SQL and in Bundler variables. */
const LOGIN_NAME = /^identified$|^BUNDLE_\w+__(?:COM|IO|ORG|NET|DEV)$/i;
/** Names that end like this describe a secret and do not hold one. */
const ABOUT =
  /^(?:names?|types?|ur[il]s?|path|paths?|files?|dir|counts?|limit|length|len|size|expir\w*|ttl|at|max|min|usage|used|index|idx|fields?|header|headers|prefix|suffix|format|kind|error|errors|endpoint|env|variable|placeholder|label|title|description|hint|policy|rules?|regex|pattern|hash|algorithm|alg|version|provider|store|manager|input|reset|change|required|valid|validator|invalid|public|pub|column|code|codes|event|events|map|set|list|id|ids|ref|refs|arn|kid|window|bucket|budget|cost|per|total|rate|method|mode|status|state|scope|scopes|audience|issuer|host|port|user|role|class|style|board|down|up|press|frame|frames|word|words|ring|stone|note|points?|handler|callback|fn|func|test|tests|spec)$/;
const NOT_BEFORE_KEY =
  /^(?:public|pub|primary|foreign|cache|sort|partition|range|object|hot|natural|unique|idx|schema|sequence|translation|i18n|locale|storage|query|state|react|map|item|row|column|group|lookup|config|registry|env|turkey|monkey|donkey|hockey|jockey|whiskey|turn|arrow|shift|ctrl|alt|meta|modifier|press|dict|json|property|prop|field|message|route|series|data|reverse|index|composite|parent|child|issuer|bucket|react|next|prev|last|first|current|event|command|shortcut)$/;

/** A cache: texts repeat few names many times. */
const KNOWN_NAMES = new Map<string, NameKind | undefined>();
const MOST_KNOWN_NAMES = 2_000;

function kindOfName(name: string): NameKind | undefined {
  const known = KNOWN_NAMES.get(name);
  if (known !== undefined || KNOWN_NAMES.has(name)) return known;
  if (KNOWN_NAMES.size >= MOST_KNOWN_NAMES) KNOWN_NAMES.clear();
  const kind = readKind(name);
  KNOWN_NAMES.set(name, kind);
  return kind;
}

function readKind(name: string): NameKind | undefined {
  if (COOKIE_NAME.test(name)) return "cookie";
  if (LOGIN_NAME.test(name)) return "password";
  if (ID_NAME.test(name)) return "id";
  const words = wordsOf(name);
  const last = words.at(-1) ?? "";
  const before = words.at(-2) ?? "";
  if (ABOUT.test(last) && words.length > 1) return undefined;
  if (words.some((word) => PASSWORD_WORD.test(word)) || /passw(?:or)?d\d?$/.test(last)) return "password";
  if (/^keys?\d?$/.test(last) && NOT_BEFORE_KEY.test(before)) return undefined;
  if (words.some((word) => SECRET_WORD.test(word))) return "secret";
  if (/^sess(?:ion)?$/.test(last)) return "session";
  const ending = /^\d+$/.test(last) ? before : last;
  return KEY_WORD.test(ending) || /(?:key|token|secret|passw(?:or)?d)\d?$/.test(ending) ? "key" : undefined;
}

/** `dbPassword`, `DB_PASSWORD` and `db-password` are the words db and password. */
function wordsOf(name: string) {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[\s_.-]+/)
    .filter((word) => word !== "");
}

interface FoundValue {
  start: number;
  end: number;
}

const QUOTE = /\\{0,3}["'`]/y;
/** Between a name and its value. A type may stand there, as in `let token: &str = "…"`. */
const ASSIGNMENT =
  /\\{0,3}["'`]?[\])]{0,2}(?:[ \t]{0,8}:?[ \t]{0,2}&?(?:'static )?[A-Za-z_][\w<>[\]*?.]{0,30}(?=[ \t]{0,8}[:?]{0,3}=))?[ \t]{0,40}(?::{1,3}=|[.+]=|=>|\?=|={1,3}|:|\|\||->)[ \t]{0,40}(?:[|>][-+]?[ \t]*)?(?:\r?\n[ \t]{0,20})?/y;
const ARGUMENT = /\\{0,3}["'`][ \t]{0,4},[ \t]{0,4}(?=\\{0,3}["'`])/y;
const ELEMENT = />[ \t\r\n]{0,20}/y;
const ATTRIBUTE = /["'][ \t]{1,4}value[ \t]?=[ \t]?(?=["'])/y;
const FLAG = /[ \t]{1,4}(?=[^\s-])/y;
const SENTENCE = /[ \t]{1,4}(?:is|was|will be|to|by|of)[ \t]{0,2}(?:now|set to)?[ \t]{0,2}:?[ \t]{0,4}/iy;
const SPACE = /[ \t]{1,4}/y;
const BARE = /[^\s"'`,;<>(){}[\]\\]{1,400}/y;
const BARE_IN_QUERY = /[^\s"'`,;<>(){}[\]\\&#]{1,400}/y;
const SCHEME =
  /(?:bearer|basic|token|digest|negotiate|apikey|api-token|api-key|ssws|aws|bot|oauth|genie-?key|key)[ \t]{1,4}/iy;

function findValue(text: string, nameStart: number, nameEnd: number, kind: NameKind): FoundValue | undefined {
  const name = text.slice(nameStart, nameEnd);
  const before = text[nameStart - 1] ?? "";
  if (kind === "cookie") return findCookies(text, nameEnd);
  for (const [separator, isThere] of [
    [ATTRIBUTE, true],
    [ARGUMENT, true],
    [ASSIGNMENT, true],
    [ELEMENT, before === "<"],
    [FLAG, name.startsWith("-") || before === "-"],
  ] as const) {
    if (!isThere) continue;
    separator.lastIndex = nameEnd;
    if (!separator.test(text)) continue;
    const from = skipScheme(text, separator.lastIndex);
    const isTight = separator.lastIndex === nameEnd + 1 && separator === ASSIGNMENT;
    return valueFrom(text, from, { name, before, kind, isTight });
  }
  return spokenValue(text, nameStart, nameEnd, kind);
}

/** `Authorization: Bearer …` names the kind of value first. */
function skipScheme(text: string, from: number) {
  QUOTE.lastIndex = from;
  const afterQuote = QUOTE.test(text) ? QUOTE.lastIndex : from;
  SCHEME.lastIndex = afterQuote;
  return SCHEME.test(text) ? SCHEME.lastIndex : from;
}

interface NameContext {
  name: string;
  before: string;
  kind: NameKind;
  /** Only one character, and no space, between the name and its value. */
  isTight: boolean;
}

function valueFrom(text: string, from: number, context: NameContext): FoundValue | undefined {
  QUOTE.lastIndex = from;
  if (QUOTE.test(text)) {
    const start = QUOTE.lastIndex;
    const end = endOfQuoted(text, start, text.slice(from, start));
    const value = text.slice(start, end);
    return isQuotedSecret(value, context) ? { start, end } : undefined;
  }
  const bare = context.before === "&" || context.before === "?" ? BARE_IN_QUERY : BARE;
  bare.lastIndex = from;
  if (!bare.test(text)) return undefined;
  const end = bare.lastIndex;
  const value = text.slice(from, end);
  // A call, or a part of one.
  if (/[([{]/.test(text[end] ?? "") || text[from - 1] === "(") return undefined;
  return isBareSecret(value, context) ? { start: from, end } : undefined;
}

/** A quoted value ends with the same quote, or with its line. */
function endOfQuoted(text: string, start: number, quote: string) {
  const part = text.slice(start, start + LONGEST_VALUE);
  const closing = part.indexOf(quote);
  const inside = closing < 0 ? part : part.slice(0, closing);
  const line = inside.indexOf("\n");
  return start + (line < 0 ? inside.length : line);
}

const WORDS = /^[A-Za-z][a-z'’,.!?:-]*(?: [A-Za-z'’,.!?:()-]+)+$/;

function isQuotedSecret(value: string, { kind, name }: NameContext) {
  if (kind === "secret" && /salt|auth_key|nonce_key|logged_in_key/i.test(name) && value.length >= 32) return true;
  if (value.length < 4 || isPlaceholder(value) || WORDS.test(value)) return false;
  if (kind === "session") return false;
  if (kind === "id") return isId(value);
  if (kind === "password") return isTypedPassword(value, name);
  if (kind === "secret" && value.length >= 8 && isSpelledSecret(value)) return true;
  return value.length >= 8 && !isProgramName(value) && !isAddress(value) && isRandom(value, kind);
}

function isBareSecret(value: string, { kind, name, before, isTight }: NameContext) {
  if (value.length < 4 || isPlaceholder(value)) return false;
  if (kind === "id") return isId(value);
  // Agents name their sessions by ids that open nothing; a cookie comes without a space.
  if (kind === "session") return isTight && value.length >= 20 && !value.includes("-") && looksGenerated(value);
  if (isProgramName(value) && !isNumberedWord(value, kind) && !LOGIN_NAME.test(name)) {
    // In a list of settings letters alone are a password; in a program they are a name.
    const isSetting = isTight && (/^[A-Z][A-Z0-9_]*$/.test(name) || /[;&?]/.test(before));
    return isSetting && kind === "password" && value.length >= 6 && !/[.:/]/.test(value);
  }
  if (isAddress(value)) return false;
  if (kind === "password")
    return (
      value.length >= 6 && /[\d\W_]/.test(value) && !/^[\w$]+(?:\??\.[\w$]+)+$/.test(value) && bitsPerChar(value) >= 2
    );
  return value.length >= 8 && isRandom(value, kind);
}

/** `hunter22`: people number their passwords, and programs their names. */
function isNumberedWord(value: string, kind: NameKind) {
  return kind === "password" && value.length >= 6 && /^[A-Za-z]+\d+$/.test(value);
}

/** Something a person typed as a password, not a label or a kind of field. */
function isTypedPassword(value: string, name: string) {
  if (isAddress(value) || value.length > 200) return false;
  const isSentence = /[ \t]/.test(value);
  if (isSentence && (!/\d/.test(value) || value.length > 60 || /^pass$/i.test(name))) return false;
  if (/[^\u0020-\u007e]/.test(value) && (isSentence || !/\d/.test(value))) return false;
  if (/^[\w-]+$/.test(value) && !/\d/.test(value)) {
    return (
      value.length >= 8 && /^[a-z]+$/.test(value) && !/pass|kennw|secret|token/.test(value) && bitsPerChar(value) >= 2.6
    );
  }
  return (/\d/.test(value) || /[^\w.\s-]/.test(value)) && bitsPerChar(value) >= 2;
}

/** Letters alone can be a secret, if it is not a name: `secret: "correcthorsebattery"`. */
function isSpelledSecret(value: string) {
  return value.length >= 16 && /^[a-z]+$/.test(value) && bitsPerChar(value) >= 3;
}

function isRandom(value: string, kind: NameKind) {
  const least = kind === "key" ? 12 : 8;
  if (value.length < least) return false;
  if (/^[0-9a-fA-F-]{16,}$/.test(value)) return /\d/.test(value) && bitsPerChar(value) >= 2;
  if (kind !== "key" && isUnbroken(value)) return true;
  return looksGenerated(value) && bitsPerChar(value) >= (kind === "key" ? 3 : 2.6);
}

/** Letters and digits that take turns five times in one long run; names in programs have fewer digits, or joints. */
function isUnbroken(value: string): boolean {
  return /^[A-Za-z0-9]{20,400}$/.test(value) && /\d[A-Za-z]+\d+[A-Za-z]+\d|[A-Za-z]\d+[A-Za-z]+\d+[A-Za-z]/.test(value);
}

function isId(value: string): boolean {
  if (/^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$|^\d{4}-?\d{4}-?\d{4}$|^[0-9a-f]{32,64}$/.test(value))
    return true;
  const isMixed = /\d[^\d]*\d/.test(value) || (/\d/.test(value) && /[A-Z][^A-Z]+[A-Z]/.test(value));
  return value.length >= 12 && isMixed && /^\w+$/.test(value) && looksGenerated(value);
}

function isAddress(value: string) {
  return /^(?:[a-z][\w+.-]{1,20}:\/\/|\.{0,2}\/[\w.-]+\/|~\/|[A-Z]:\\)/i.test(value) && !/[=+]/.test(value);
}

/** `the password is hunter2`, `machine a login b password c`, `identified by 'c'`. */
function spokenValue(text: string, nameStart: number, nameEnd: number, kind: NameKind): FoundValue | undefined {
  if (kind === "id" || kind === "cookie" || kind === "session") return undefined;
  SENTENCE.lastIndex = nameEnd;
  const isSentence = SENTENCE.test(text);
  SPACE.lastIndex = nameEnd;
  if (!isSentence && !SPACE.test(text)) return undefined;
  const from = isSentence ? SENTENCE.lastIndex : SPACE.lastIndex;
  const found = readSpoken(text, from);
  if (!found) return undefined;
  const value = text.slice(found.start, found.end);
  if (value.length < 6 || /\s/.test(value) || isPlaceholder(value) || isAddress(value)) return undefined;
  if (isProgramName(value) && !isNumberedWord(value, kind)) return undefined;
  if (kind === "password" && isAnnounced(text, nameStart, nameEnd, found.start > from)) return found;
  const isLikely = /\d/.test(value) && /[A-Za-z]/.test(value) && looksGenerated(value);
  return isLikely && (kind !== "key" || value.length >= 16) ? found : undefined;
}

/** Reads a quoted value, or one up to the next space without the end of the sentence. */
function readSpoken(text: string, from: number): FoundValue | undefined {
  QUOTE.lastIndex = from;
  const start = QUOTE.test(text) ? QUOTE.lastIndex : from;
  if (start > from) return { start, end: endOfQuoted(text, start, text.slice(from, start)) };
  BARE.lastIndex = start;
  if (!BARE.test(text)) return undefined;
  const end = BARE.lastIndex;
  return { start, end: /[.!?:]/.test(text[end - 1] ?? "") ? end - 1 : end };
}

/** Files of logins and SQL put a password after its name, with a space. */
function isAnnounced(text: string, nameStart: number, nameEnd: number, isQuoted: boolean) {
  if (isQuoted && /^(?:identified|password)$/i.test(text.slice(nameStart, nameEnd))) return true;
  return /\blogin\s+\S{1,100}\s+$/i.test(text.slice(Math.max(0, nameStart - 120), nameStart));
}

/** A list of cookies, from the first name to the last value. */
function findCookies(text: string, nameEnd: number): FoundValue | undefined {
  COOKIES.lastIndex = nameEnd;
  const match = COOKIES.exec(text);
  const list = match?.[1] ?? "";
  return list.length >= 12 && !list.includes("${")
    ? { start: COOKIES.lastIndex - list.length, end: COOKIES.lastIndex }
    : undefined;
}

const COOKIES =
  /\\?["']?[ \t]?:[ \t]?\\?["']?([\w.-]{1,100}=[^\s"'`;\\]{1,4000}(?:;[ \t]?[\w.-]{1,100}(?:=[^\s"'`;\\]{0,4000})?){0,50})/y;
