import { isPlaceholder, looksGenerated } from "./secret-value.ts";
import type { TextRange } from "./text-range.ts";

const LONGEST_LOGIN = 500;

/** Finds secrets by the text around them: private keys, logins in addresses and commands, Kubernetes secrets. */
export function findEmbeddedSecrets(text: string): TextRange[] {
  return [
    ...findKeyBlocks(text),
    ...findLogins(text),
    ...findCommandLogins(text),
    ...findBearers(text),
    ...findSecretManifest(text),
  ];
}

const KEY_OPENS =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----|PuTTY-User-Key-File-\d:|-----BEGIN OpenVPN Static key V1-----/g;
const KEY_CLOSES =
  /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- END SSH2 ENCRYPTED PRIVATE KEY ----|Private-MAC: {0,4}[0-9a-f]{20,}|-----END OpenVPN Static key V1-----/g;
/** Private keys in base64, at each of the three offsets of a group; the rest of that text is the key. */
const ENCODED_KEY =
  /(?:LS0tLS1CRUdJTi|0tLS0tQkVHSU4g|tLS0tLUJFR0lO)[\w+/=-]{0,60}(?:UFJJVkFURSBL|QUklWQVRFIEtF|BSSVZBVEUgS0)[\w+/=\s-]*/g;
/** The parts of a key in XML. */
const XML_KEY = /<RSAKeyValue>[^]{0,200}<Modulus>/;

/** Finds private keys, truncated ones included. Each part of the text is read once. */
function findKeyBlocks(text: string): TextRange[] {
  const found: TextRange[] = [];
  if (text.includes("LS0t") || text.includes("0tLS0") || text.includes("tLS0t")) {
    for (const match of text.matchAll(ENCODED_KEY)) found.push([match.index, match.index + match[0].length]);
  }
  if (text.includes("<RSAKeyValue>") && XML_KEY.test(text)) {
    for (const match of text.matchAll(/<(?:D|P|Q|DP|DQ|InverseQ)>([\w+/=]{8,2000})</g)) {
      found.push([match.index, match.index + match[0].length]);
    }
  }
  if (!text.includes("---- BEGIN") && !text.includes("-----BEGIN") && !text.includes("PuTTY-User")) return found;
  let from = 0;
  for (;;) {
    KEY_OPENS.lastIndex = from;
    const opens = KEY_OPENS.exec(text);
    if (!opens) return found;
    KEY_CLOSES.lastIndex = KEY_OPENS.lastIndex;
    const isClosed = KEY_CLOSES.test(text);
    found.push([opens.index, isClosed ? KEY_CLOSES.lastIndex : text.length]);
    if (!isClosed) return found;
    from = KEY_CLOSES.lastIndex;
  }
}

const LOGIN_END = /[\s/"'`<>\\()[\]|]/g;
/** Passwords in connection strings of databases are rarely escaped, and hold brackets and bars as they are. */
const DATABASE = /(?:postgres(?:ql)?|mysqlx?|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|sqlserver|mssql)$/i;
const LONGEST_SCHEME = 12;
const QUOTE_OR_SPACE = /[\s"'`]/;
const HOST_AND_PORT = /^[^\s:"'`]*(?::\d{1,5})?(?:[\s"'`/,)]|$)/;
const ORACLE_LOGIN = /\bthin:[^\s/@:"']{1,60}\/([^\s/@"']{1,100})@/g;

/** The password of `scheme://user:password@host`, or the token of `scheme://token@host`. */
function findLogins(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at + 3)) {
    const login = text.slice(at + 3, at + 3 + LONGEST_LOGIN);
    const stop = endOfLogin(text, at, login);
    const colon = login.indexOf(":");
    const host = login.lastIndexOf("@", login[stop] === "/" ? endWithSlashes(text, at, login, colon, stop) : stop);
    if (host <= 0) continue;
    const hasPassword = colon >= 0 && colon < host;
    const value = login.slice(hasPassword ? colon + 1 : 0, host);
    if (value === "" || /^(?:\$|<|\{|%\w+%|\*+$|\[)/.test(value)) continue;
    if (!hasPassword && !(value.length >= 16 && (looksGenerated(value) || /^[0-9a-f]{16,}$/.test(value)))) continue;
    const isUserSecret = hasPassword && isHalfOfKey(login.slice(0, colon));
    found.push([at + 3 + (hasPassword && !isUserSecret ? colon + 1 : 0), at + 3 + host]);
  }
  if (text.includes("thin:")) {
    for (const match of text.matchAll(ORACLE_LOGIN)) {
      const end = match.index + match[0].length - 1;
      found.push([end - (match[1]?.length ?? 0), end]);
    }
  }
  return found;
}

/** A user name of eight hexadecimal digits or more is the first half of a key. */
function isHalfOfKey(user: string): boolean {
  return /^[0-9a-f]{8,64}$/.test(user);
}

function endOfLogin(text: string, at: number, login: string): number {
  LOGIN_END.lastIndex = 0;
  const stop = LOGIN_END.exec(login)?.index ?? login.length;
  const isDatabase = DATABASE.test(text.slice(Math.max(0, at - LONGEST_SCHEME), at));
  if (!isDatabase || login[stop] === "/" || HOST_AND_PORT.test(login)) return stop;
  const space = /\s/.exec(login)?.index ?? login.length;
  const quote = QUOTE_OR_SPACE.exec(login)?.index ?? space;
  // A quote before the host belongs to the password; the next one ends the address.
  return login.lastIndexOf("@", quote) >= 0 ? quote : space;
}

/** A password may hold a slash that nobody escaped. A web address with a port and an `@` in its path has none. */
function endWithSlashes(text: string, at: number, login: string, colon: number, slash: number) {
  const isPort = /^\d{0,5}$/.test(login.slice(colon + 1, slash));
  if (colon < 0 || colon > slash || isPort || text.slice(Math.max(0, at - 5), at).includes("http")) return slash;
  return /[\s"'`<>\\()[\]|]/.exec(login)?.index ?? login.length;
}

const USER_FLAG = /(?:^|[\s'"])(?:-u|--user|--proxy-user|-U)(?:=|[ \t]{0,5})(?=\S)/g;
const USER_AND_PASSWORD =
  /(?:"(?<double>[^"\n]{0,100}:[^"\n]{0,200}|\{[^"\n]{1,100}\}"?:"?\{?[^"\n]{1,100})"(?::"[^"\n]{3,200}")?|'(?<single>[^'\n]{0,100}:[^'\n]{0,200})'|(?<bare>[^\s:"'<[]{0,100}:(?:"[^"\n]{3,200}"|'[^'\n]{3,200}'|[^\s"'<>[]{3,200})))/y;
const PASSWORD_FLAG =
  /\b(?:sshpass|mysql|mysqldump|mysqladmin|mariadb|redis-cli|docker login|helm|7z|zip|unzip)\b[^\n]{0,200}?[ \t](?:-p|-a|-P)[ \t]?["']?([^\s"'-][^\s"']{3,100})/g;

/** The login of `curl -u user:password`, and the password that database clients take as a flag. */
function findCommandLogins(text: string): TextRange[] {
  const found: TextRange[] = [];
  if (text.includes("curl") || text.includes("wget") || text.includes("http")) {
    USER_FLAG.lastIndex = 0;
    for (let flag = USER_FLAG.exec(text); flag; flag = USER_FLAG.exec(text)) {
      USER_AND_PASSWORD.lastIndex = USER_FLAG.lastIndex;
      const match = USER_AND_PASSWORD.exec(text);
      if (match && isLogin(match[0])) found.push([match.index, USER_AND_PASSWORD.lastIndex]);
    }
  }
  for (const match of text.matchAll(PASSWORD_FLAG)) {
    const value = match[1] ?? "";
    const end = match.index + match[0].length;
    if (!isPlaceholder(value) && /\d|\W/.test(value) && !/^\d+$|^\d+:\d+$|^[./~]/.test(value))
      found.push([end - value.length, end]);
  }
  return found;
}

function isLogin(login: string) {
  const [user = "", ...rest] = login.replace(/["'{}]/g, "").split(":");
  const password = rest.join(":") || user;
  if (/^[$<[*]|^\(|\$\(|^\d+(?::\d+)?$/.test(password) || password.startsWith("//")) return false;
  return password.length >= 6 && !isPlaceholder(password) && !/^(?:[xy]+|test|token|pwd|pass)$/i.test(password);
}

const BEARER = /\b(?:bearer|basic)[ \t]{1,4}(?=[\w.~+/=-]{12})([\w.~+/=-]{12,4000})/gi;

/** `Bearer …` and `Basic …` without the name of a header before them. */
function findBearers(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (const match of text.matchAll(BEARER)) {
    const value = match[1] ?? "";
    const end = match.index + match[0].length;
    if (/\d|[A-Z].*[a-z].*[A-Z]/.test(value.slice(1, 400)) && looksGenerated(value))
      found.push([end - value.length, end]);
  }
  return found;
}

const SECRET_KIND = /["']?kind["']?:[ \t]*["']?secret\b["']?/i;
const DATA_ENTRY =
  /^([ \t]+)["']?([\w./-]{1,100})["']?:[ \t]*(?:[|>][-+]?[ \t]*\r?\n[ \t]+)?["']?([A-Za-z0-9+/]{8,}={0,3})["']?[ \t]*,?[ \t]*$/gm;
const NOT_DATA = /^(?:name|namespace|kind|type|apiVersion|creationTimestamp|uid|resourceVersion|labels|app)$/;

/** Finds the values of a Kubernetes secret: base64 under arbitrary names. */
function findSecretManifest(text: string): TextRange[] {
  if (!/\bdata["']?:/i.test(text) || !SECRET_KIND.test(text)) return [];
  const found: TextRange[] = [];
  for (const match of text.matchAll(DATA_ENTRY)) {
    const [whole, , name = "", value = ""] = match;
    if (NOT_DATA.test(name) || isPlaceholder(value)) continue;
    const start = match.index + whole.lastIndexOf(value);
    found.push([start, start + value.length]);
  }
  return found;
}
