// Generated from src/core/secret. Do not edit it: npm run redactor

// src/core/secret/secret-value.ts
var LONGEST_LOOK = 400;
var PLACEHOLDER = /^(?:.*\$\{.*|[*x•.#_-]+|<[^<>]*>|\$[\w.:>-]+|\$[({].*|%\w+%|#\{.*|\{\{.*|\{[\w. -]*\}|@\w+@|\[[\w .-]*\]|\/\/.*|process\.env\S*|os\.(?:environ|getenv)\S*|env\.\S*|import\.meta\S*|(?:this|self|config|options|args|req|request|props|params|input|settings|secrets|vars|data|var|local|module)\.\S*|(?:my|your|the|some|any|new|old|a|an)[_-]?(?:own)?[_-]?(?:super[_-]?)?(?:secret|token|key|api|password|pass|value|username|user|access)\S*|change[_-]?(?:me|it)|.*(?:example|placeholder|redacted|changeme|dummy|foobar|replace[_-]?(?:me|with)|insert[_-]|todo|xxxx|\.\.\.).*|true|false|null|nil|none|undefined|string|number|boolean|object|function|symbol|bigint|required|optional|enabled|disabled|hidden|default|unknown|empty|test|pass(?:word)?|passw(?:or)?d\d?|passphrase|pwd|secret|token|username|admin|root|user|inherit|public|private|\d{1,6})$/i;
var PROGRAM_NAME = /^[_.$-]{0,3}[A-Za-z$]+(?:\d{0,2}(?:[?!]?\.|[_:/\\-]{1,3})[A-Za-z$]+)*\d{0,2}[_.:/\\?-]{0,3}$/;
function isPlaceholder(value) {
  return PLACEHOLDER.test(value.length > LONGEST_LOOK ? value.slice(0, LONGEST_LOOK) : value);
}
function isProgramName(value) {
  return PROGRAM_NAME.test(value);
}
function hasOnlyDigits(value) {
  return /^[\d\s.:/-]+$/.test(value);
}
function looksGenerated(value) {
  const length = Math.min(value.length, LONGEST_LOOK);
  if (length < 8) return false;
  const { lower, upper, digits, symbols, changes, distinct } = makeupOf(value);
  if (lower + upper === 0 || distinct < Math.min(8, length * 0.5)) return false;
  if (digits === 0 && symbols === 0) return length >= 20 && lower > 0 && changes / length >= 0.42;
  if (digits + symbols < 2 && length < 12) return false;
  const isDense = changes / length >= 0.2 || length >= 12 && (changes >= 2 || digits > 2) && isHardToSay(value);
  return isDense && bitsPerChar(value) >= 2.6;
}
function isSurelyGenerated(value) {
  const length = Math.min(value.length, LONGEST_LOOK);
  const { lower, upper, digits, changes, distinct, spelled } = makeupOf(value);
  if (lower < 3 || upper < 3 || digits < 2) return false;
  if (changes / length < 0.42 || distinct < Math.min(16, length * 0.5) || spelled / length > 0.35) return false;
  return bitsPerChar(value) >= 3.8;
}
function isHardToSay(value) {
  return /[bcdfghjklmnpqrstvwxz]{4}|[jqvxz][bcdfghjklmnpqrstvwxz]|[bcdfghjkmpqtvwxz][jqxz]/i.test(value);
}
function bitsPerChar(value) {
  const length = Math.min(value.length, LONGEST_LOOK);
  const counts = /* @__PURE__ */ new Map();
  for (let at = 0; at < length; at += 1) {
    const code = value.charCodeAt(at);
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  let bits = 0;
  for (const count of counts.values()) bits -= count / length * Math.log2(count / length);
  return bits;
}
function makeupOf(value) {
  const length = Math.min(value.length, LONGEST_LOOK);
  const makeup = { lower: 0, upper: 0, digits: 0, symbols: 0, changes: 0, distinct: 0, spelled: 0 };
  const seen = /* @__PURE__ */ new Set();
  let before = "";
  let row = 0;
  for (let at = 0; at < length; at += 1) {
    const code = value.charCodeAt(at);
    seen.add(code);
    const kind = kindOf(code);
    makeup[kind] += 1;
    if (at > 0 && kind !== before) makeup.changes += 1;
    before = kind;
    row = kind === "lower" ? row + 1 : 0;
    if (row === 4) makeup.spelled += 4;
    if (row > 4) makeup.spelled += 1;
  }
  makeup.distinct = seen.size;
  return makeup;
}
function kindOf(code) {
  if (code >= 97 && code <= 122) return "lower";
  if (code >= 65 && code <= 90) return "upper";
  return code >= 48 && code <= 57 ? "digits" : "symbols";
}

// src/core/secret/embedded-secret.ts
var LONGEST_LOGIN = 500;
function findEmbeddedSecrets(text) {
  return [
    ...findKeyBlocks(text),
    ...findLogins(text),
    ...findCommandLogins(text),
    ...findBearers(text),
    ...findSecretManifest(text)
  ];
}
var KEY_OPENS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----|PuTTY-User-Key-File-\d:|-----BEGIN OpenVPN Static key V1-----/g;
var KEY_CLOSES = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- END SSH2 ENCRYPTED PRIVATE KEY ----|Private-MAC: {0,4}[0-9a-f]{20,}|-----END OpenVPN Static key V1-----/g;
var ENCODED_KEY = /(?:LS0tLS1CRUdJTi|0tLS0tQkVHSU4g|tLS0tLUJFR0lO)[\w+/=-]{0,60}(?:UFJJVkFURSBL|QUklWQVRFIEtF|BSSVZBVEUgS0)[\w+/=\s-]*/g;
var XML_KEY = /<RSAKeyValue>[^]{0,200}<Modulus>/;
function findKeyBlocks(text) {
  const found = [];
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
  for (; ; ) {
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
var LOGIN_END = /[\s/"'`<>\\()[\]|]/g;
var DATABASE = /(?:postgres(?:ql)?|mysqlx?|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|sqlserver|mssql)$/i;
var LONGEST_SCHEME = 12;
var QUOTE_OR_SPACE = /[\s"'`]/;
var HOST_AND_PORT = /^[^\s:"'`]*(?::\d{1,5})?(?:[\s"'`/,)]|$)/;
var ORACLE_LOGIN = /\bthin:[^\s/@:"']{1,60}\/([^\s/@"']{1,100})@/g;
function findLogins(text) {
  const found = [];
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
function isHalfOfKey(user) {
  return /^[0-9a-f]{8,64}$/.test(user);
}
function endOfLogin(text, at, login) {
  LOGIN_END.lastIndex = 0;
  const stop = LOGIN_END.exec(login)?.index ?? login.length;
  const isDatabase = DATABASE.test(text.slice(Math.max(0, at - LONGEST_SCHEME), at));
  if (!isDatabase || login[stop] === "/" || HOST_AND_PORT.test(login)) return stop;
  const space = /\s/.exec(login)?.index ?? login.length;
  const quote = QUOTE_OR_SPACE.exec(login)?.index ?? space;
  return login.lastIndexOf("@", quote) >= 0 ? quote : space;
}
function endWithSlashes(text, at, login, colon, slash) {
  const isPort = /^\d{0,5}$/.test(login.slice(colon + 1, slash));
  if (colon < 0 || colon > slash || isPort || text.slice(Math.max(0, at - 5), at).includes("http")) return slash;
  return /[\s"'`<>\\()[\]|]/.exec(login)?.index ?? login.length;
}
var USER_FLAG = /(?:^|[\s'"])(?:-u|--user|--proxy-user|-U)(?:=|[ \t]{0,5})(?=\S)/g;
var USER_AND_PASSWORD = /(?:"(?<double>[^"\n]{0,100}:[^"\n]{0,200}|\{[^"\n]{1,100}\}"?:"?\{?[^"\n]{1,100})"(?::"[^"\n]{3,200}")?|'(?<single>[^'\n]{0,100}:[^'\n]{0,200})'|(?<bare>[^\s:"'<[]{0,100}:(?:"[^"\n]{3,200}"|'[^'\n]{3,200}'|[^\s"'<>[]{3,200})))/y;
var PASSWORD_FLAG = /\b(?:sshpass|mysql|mysqldump|mysqladmin|mariadb|redis-cli|docker login|helm|7z|zip|unzip)\b[^\n]{0,200}?[ \t](?:-p|-a|-P)[ \t]?["']?([^\s"'-][^\s"']{3,100})/g;
function findCommandLogins(text) {
  const found = [];
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
function isLogin(login) {
  const [user = "", ...rest] = login.replace(/["'{}]/g, "").split(":");
  const password = rest.join(":") || user;
  if (/^[$<[*]|^\(|\$\(|^\d+(?::\d+)?$/.test(password) || password.startsWith("//")) return false;
  return password.length >= 6 && !isPlaceholder(password) && !/^(?:[xy]+|test|token|pwd|pass)$/i.test(password);
}
var BEARER = /\b(?:bearer|basic)[ \t]{1,4}(?=[\w.~+/=-]{12})([\w.~+/=-]{12,4000})/gi;
function findBearers(text) {
  const found = [];
  for (const match of text.matchAll(BEARER)) {
    const value = match[1] ?? "";
    const end = match.index + match[0].length;
    if (/\d|[A-Z].*[a-z].*[A-Z]/.test(value.slice(1, 400)) && looksGenerated(value))
      found.push([end - value.length, end]);
  }
  return found;
}
var SECRET_KIND = /["']?kind["']?:[ \t]*["']?secret\b["']?/i;
var DATA_ENTRY = /^([ \t]+)["']?([\w./-]{1,100})["']?:[ \t]*(?:[|>][-+]?[ \t]*\r?\n[ \t]+)?["']?([A-Za-z0-9+/]{8,}={0,3})["']?[ \t]*,?[ \t]*$/gm;
var NOT_DATA = /^(?:name|namespace|kind|type|apiVersion|creationTimestamp|uid|resourceVersion|labels|app)$/;
function findSecretManifest(text) {
  if (!/\bdata["']?:/i.test(text) || !SECRET_KIND.test(text)) return [];
  const found = [];
  for (const match of text.matchAll(DATA_ENTRY)) {
    const [whole, , name = "", value = ""] = match;
    if (NOT_DATA.test(name) || isPlaceholder(value)) continue;
    const start = match.index + whole.lastIndexOf(value);
    found.push([start, start + value.length]);
  }
  return found;
}

// src/core/secret/named-secret.ts
var LONGEST_NAME_PART = 40;
var LONGEST_VALUE = 1e3;
var MOST_IN_A_ROW = 8;
var NAME_PART = /pass|pwd|secret|token|key|auth|cred|salt|sig|cookie|session|bearer|client|tenant|account|jwt|dsn|api|access|otp|connect|identified|bundle_/gi;
var NAME_CHARS = codesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
var AFTER_NAME = codesOf(" 	\"'`=:>,|?)]\\");
function findNamedSecrets(text) {
  const found = [];
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
    if (kind === void 0) continue;
    const value = findValue(text, start, end, kind);
    if (!value) continue;
    found.push([value.start, value.end]);
    NAME_PART.lastIndex = Math.max(end, value.end);
  }
  return found;
}
function codesOf(chars) {
  return new Set(Array.from(chars, (char) => char.charCodeAt(0)));
}
function startOfName(text, from) {
  let start = from;
  while (start > 0 && from - start < LONGEST_NAME_PART && NAME_CHARS.has(text.charCodeAt(start - 1))) start -= 1;
  return text[start - 1] === "\\" && /[nrt]/.test(text[start] ?? "") && start < from ? start + 1 : start;
}
function endOfName(text, from) {
  let end = from;
  while (end < text.length && end - from < LONGEST_NAME_PART && NAME_CHARS.has(text.charCodeAt(end))) end += 1;
  return end;
}
var PASSWORD_WORD = /^(?:passw(?:or)?d|passwort|passwd|pass|passphrase|passcode|pwd|pw|userpass|dbpass\w*|dbpwd)\d?$/;
var SECRET_WORD = /^(?:secrets?|tokens?|apikey|apitoken|apisecret|authkey|authtoken|accesstoken|accesskey|secretkey|privatekey|credentials?|creds?|auth|oauth2?|authorization|jwt|bearer|salt|sig|signature|sas|sessionid|sid|csrftoken|otp|dsn|pat|cookie|appkey|signingkey|clientsecret)\d?$/;
var KEY_WORD = /^(?:keys?|api|access|connection)\d?$/;
var COOKIE_NAME = /^(?:set-)?cookie$/i;
var ID_NAME = /(?:client|tenant|account|subscription|access|application)[_.-]?id$/i;
var LOGIN_NAME = /^identified$|^BUNDLE_\w+__(?:COM|IO|ORG|NET|DEV)$/i;
var ABOUT = /^(?:names?|types?|ur[il]s?|path|paths?|files?|dir|counts?|limit|length|len|size|expir\w*|ttl|at|max|min|usage|used|index|idx|fields?|header|headers|prefix|suffix|format|kind|error|errors|endpoint|env|variable|placeholder|label|title|description|hint|policy|rules?|regex|pattern|hash|algorithm|alg|version|provider|store|manager|input|reset|change|required|valid|validator|invalid|public|pub|column|code|codes|event|events|map|set|list|id|ids|ref|refs|arn|kid|window|bucket|budget|cost|per|total|rate|method|mode|status|state|scope|scopes|audience|issuer|host|port|user|role|class|style|board|down|up|press|frame|frames|word|words|ring|stone|note|points?|handler|callback|fn|func|test|tests|spec)$/;
var NOT_BEFORE_KEY = /^(?:public|pub|primary|foreign|cache|sort|partition|range|object|hot|natural|unique|idx|schema|sequence|translation|i18n|locale|storage|query|state|react|map|item|row|column|group|lookup|config|registry|env|turkey|monkey|donkey|hockey|jockey|whiskey|turn|arrow|shift|ctrl|alt|meta|modifier|press|dict|json|property|prop|field|message|route|series|data|reverse|index|composite|parent|child|issuer|bucket|react|next|prev|last|first|current|event|command|shortcut)$/;
var KNOWN_NAMES = /* @__PURE__ */ new Map();
var MOST_KNOWN_NAMES = 2e3;
function kindOfName(name) {
  const known = KNOWN_NAMES.get(name);
  if (known !== void 0 || KNOWN_NAMES.has(name)) return known;
  if (KNOWN_NAMES.size >= MOST_KNOWN_NAMES) KNOWN_NAMES.clear();
  const kind = readKind(name);
  KNOWN_NAMES.set(name, kind);
  return kind;
}
function readKind(name) {
  if (COOKIE_NAME.test(name)) return "cookie";
  if (LOGIN_NAME.test(name)) return "password";
  if (ID_NAME.test(name)) return "id";
  const words = wordsOf(name);
  const last = words.at(-1) ?? "";
  const before = words.at(-2) ?? "";
  if (ABOUT.test(last) && words.length > 1) return void 0;
  if (words.some((word2) => PASSWORD_WORD.test(word2)) || /passw(?:or)?d\d?$/.test(last)) return "password";
  if (/^keys?\d?$/.test(last) && NOT_BEFORE_KEY.test(before)) return void 0;
  if (words.some((word2) => SECRET_WORD.test(word2))) return "secret";
  if (/^sess(?:ion)?$/.test(last)) return "session";
  const ending = /^\d+$/.test(last) ? before : last;
  return KEY_WORD.test(ending) || /(?:key|token|secret|passw(?:or)?d)\d?$/.test(ending) ? "key" : void 0;
}
function wordsOf(name) {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().split(/[\s_.-]+/).filter((word2) => word2 !== "");
}
var QUOTE = /\\{0,3}["'`]/y;
var ASSIGNMENT = /\\{0,3}["'`]?[\])]{0,2}(?:[ \t]{0,8}:?[ \t]{0,2}&?(?:'static )?[A-Za-z_][\w<>[\]*?.]{0,30}(?=[ \t]{0,8}[:?]{0,3}=))?[ \t]{0,40}(?::{1,3}=|[.+]=|=>|\?=|={1,3}|:|\|\||->)[ \t]{0,40}(?:[|>][-+]?[ \t]*)?(?:\r?\n[ \t]{0,20})?/y;
var ARGUMENT = /\\{0,3}["'`][ \t]{0,4},[ \t]{0,4}(?=\\{0,3}["'`])/y;
var ELEMENT = />[ \t\r\n]{0,20}/y;
var ATTRIBUTE = /["'][ \t]{1,4}value[ \t]?=[ \t]?(?=["'])/y;
var FLAG = /[ \t]{1,4}(?=[^\s-])/y;
var SENTENCE = /[ \t]{1,4}(?:is|was|will be|to|by|of)[ \t]{0,2}(?:now|set to)?[ \t]{0,2}:?[ \t]{0,4}/iy;
var SPACE = /[ \t]{1,4}/y;
var BARE = /[^\s"'`,;<>(){}[\]\\]{1,400}/y;
var BARE_IN_QUERY = /[^\s"'`,;<>(){}[\]\\&#]{1,400}/y;
var SCHEME = /(?:bearer|basic|token|digest|negotiate|apikey|api-token|api-key|ssws|aws|bot|oauth|genie-?key|key)[ \t]{1,4}/iy;
function findValue(text, nameStart, nameEnd, kind) {
  const name = text.slice(nameStart, nameEnd);
  const before = text[nameStart - 1] ?? "";
  if (kind === "cookie") return findCookies(text, nameEnd);
  for (const [separator, isThere] of [
    [ATTRIBUTE, true],
    [ARGUMENT, true],
    [ASSIGNMENT, true],
    [ELEMENT, before === "<"],
    [FLAG, name.startsWith("-") || before === "-"]
  ]) {
    if (!isThere) continue;
    separator.lastIndex = nameEnd;
    if (!separator.test(text)) continue;
    const from = skipScheme(text, separator.lastIndex);
    const isTight = separator.lastIndex === nameEnd + 1 && separator === ASSIGNMENT;
    return valueFrom(text, from, { name, before, kind, isTight });
  }
  return spokenValue(text, nameStart, nameEnd, kind);
}
function skipScheme(text, from) {
  QUOTE.lastIndex = from;
  const afterQuote = QUOTE.test(text) ? QUOTE.lastIndex : from;
  SCHEME.lastIndex = afterQuote;
  return SCHEME.test(text) ? SCHEME.lastIndex : from;
}
function valueFrom(text, from, context) {
  QUOTE.lastIndex = from;
  if (QUOTE.test(text)) {
    const start = QUOTE.lastIndex;
    const end2 = endOfQuoted(text, start, text.slice(from, start));
    const value2 = text.slice(start, end2);
    return isQuotedSecret(value2, context) ? { start, end: end2 } : void 0;
  }
  const bare = context.before === "&" || context.before === "?" ? BARE_IN_QUERY : BARE;
  bare.lastIndex = from;
  if (!bare.test(text)) return void 0;
  const end = bare.lastIndex;
  const value = text.slice(from, end);
  if (/[([{]/.test(text[end] ?? "") || text[from - 1] === "(") return void 0;
  return isBareSecret(value, context) ? { start: from, end } : void 0;
}
function endOfQuoted(text, start, quote) {
  const part = text.slice(start, start + LONGEST_VALUE);
  const closing = part.indexOf(quote);
  const inside = closing < 0 ? part : part.slice(0, closing);
  const line = inside.indexOf("\n");
  return start + (line < 0 ? inside.length : line);
}
var WORDS = /^[A-Za-z][a-z'’,.!?:-]*(?: [A-Za-z'’,.!?:()-]+)+$/;
function isQuotedSecret(value, { kind, name }) {
  if (kind === "secret" && /salt|auth_key|nonce_key|logged_in_key/i.test(name) && value.length >= 32) return true;
  if (value.length < 4 || isPlaceholder(value) || WORDS.test(value)) return false;
  if (kind === "session") return false;
  if (kind === "id") return isId(value);
  if (kind === "password") return isTypedPassword(value, name);
  if (kind === "secret" && value.length >= 8 && isSpelledSecret(value)) return true;
  return value.length >= 8 && !isProgramName(value) && !isAddress(value) && isRandom(value, kind);
}
function isBareSecret(value, { kind, name, before, isTight }) {
  if (value.length < 4 || isPlaceholder(value)) return false;
  if (kind === "id") return isId(value);
  if (kind === "session") return isTight && value.length >= 20 && !value.includes("-") && looksGenerated(value);
  if (isProgramName(value) && !isNumberedWord(value, kind) && !LOGIN_NAME.test(name)) {
    const isSetting = isTight && (/^[A-Z][A-Z0-9_]*$/.test(name) || /[;&?]/.test(before));
    return isSetting && kind === "password" && value.length >= 6 && !/[.:/]/.test(value);
  }
  if (isAddress(value)) return false;
  if (kind === "password")
    return value.length >= 6 && /[\d\W_]/.test(value) && !/^[\w$]+(?:\??\.[\w$]+)+$/.test(value) && bitsPerChar(value) >= 2;
  return value.length >= 8 && isRandom(value, kind);
}
function isNumberedWord(value, kind) {
  return kind === "password" && value.length >= 6 && /^[A-Za-z]+\d+$/.test(value);
}
function isTypedPassword(value, name) {
  if (isAddress(value) || value.length > 200) return false;
  const isSentence = /[ \t]/.test(value);
  if (isSentence && (!/\d/.test(value) || value.length > 60 || /^pass$/i.test(name))) return false;
  if (/[^\u0020-\u007e]/.test(value) && (isSentence || !/\d/.test(value))) return false;
  if (/^[\w-]+$/.test(value) && !/\d/.test(value)) {
    return value.length >= 8 && /^[a-z]+$/.test(value) && !/pass|kennw|secret|token/.test(value) && bitsPerChar(value) >= 2.6;
  }
  return (/\d/.test(value) || /[^\w.\s-]/.test(value)) && bitsPerChar(value) >= 2;
}
function isSpelledSecret(value) {
  return value.length >= 16 && /^[a-z]+$/.test(value) && bitsPerChar(value) >= 3;
}
function isRandom(value, kind) {
  const least = kind === "key" ? 12 : 8;
  if (value.length < least) return false;
  if (/^[0-9a-fA-F-]{16,}$/.test(value)) return /\d/.test(value) && bitsPerChar(value) >= 2;
  if (kind !== "key" && isUnbroken(value)) return true;
  return looksGenerated(value) && bitsPerChar(value) >= (kind === "key" ? 3 : 2.6);
}
function isUnbroken(value) {
  return /^[A-Za-z0-9]{20,400}$/.test(value) && /\d[A-Za-z]+\d+[A-Za-z]+\d|[A-Za-z]\d+[A-Za-z]+\d+[A-Za-z]/.test(value);
}
function isId(value) {
  if (/^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$|^\d{4}-?\d{4}-?\d{4}$|^[0-9a-f]{32,64}$/.test(value))
    return true;
  const isMixed = /\d[^\d]*\d/.test(value) || /\d/.test(value) && /[A-Z][^A-Z]+[A-Z]/.test(value);
  return value.length >= 12 && isMixed && /^\w+$/.test(value) && looksGenerated(value);
}
function isAddress(value) {
  return /^(?:[a-z][\w+.-]{1,20}:\/\/|\.{0,2}\/[\w.-]+\/|~\/|[A-Z]:\\)/i.test(value) && !/[=+]/.test(value);
}
function spokenValue(text, nameStart, nameEnd, kind) {
  if (kind === "id" || kind === "cookie" || kind === "session") return void 0;
  SENTENCE.lastIndex = nameEnd;
  const isSentence = SENTENCE.test(text);
  SPACE.lastIndex = nameEnd;
  if (!isSentence && !SPACE.test(text)) return void 0;
  const from = isSentence ? SENTENCE.lastIndex : SPACE.lastIndex;
  const found = readSpoken(text, from);
  if (!found) return void 0;
  const value = text.slice(found.start, found.end);
  if (value.length < 6 || /\s/.test(value) || isPlaceholder(value) || isAddress(value)) return void 0;
  if (isProgramName(value) && !isNumberedWord(value, kind)) return void 0;
  if (kind === "password" && isAnnounced(text, nameStart, nameEnd, found.start > from)) return found;
  const isLikely = /\d/.test(value) && /[A-Za-z]/.test(value) && looksGenerated(value);
  return isLikely && (kind !== "key" || value.length >= 16) ? found : void 0;
}
function readSpoken(text, from) {
  QUOTE.lastIndex = from;
  const start = QUOTE.test(text) ? QUOTE.lastIndex : from;
  if (start > from) return { start, end: endOfQuoted(text, start, text.slice(from, start)) };
  BARE.lastIndex = start;
  if (!BARE.test(text)) return void 0;
  const end = BARE.lastIndex;
  return { start, end: /[.!?:]/.test(text[end - 1] ?? "") ? end - 1 : end };
}
function isAnnounced(text, nameStart, nameEnd, isQuoted) {
  if (isQuoted && /^(?:identified|password)$/i.test(text.slice(nameStart, nameEnd))) return true;
  return /\blogin\s+\S{1,100}\s+$/i.test(text.slice(Math.max(0, nameStart - 120), nameStart));
}
function findCookies(text, nameEnd) {
  COOKIES.lastIndex = nameEnd;
  const match = COOKIES.exec(text);
  const list = match?.[1] ?? "";
  return list.length >= 12 && !list.includes("${") ? { start: COOKIES.lastIndex - list.length, end: COOKIES.lastIndex } : void 0;
}
var COOKIES = /\\?["']?[ \t]?:[ \t]?\\?["']?([\w.-]{1,100}=[^\s"'`;\\]{1,4000}(?:;[ \t]?[\w.-]{1,100}(?:=[^\s"'`;\\]{0,4000})?){0,50})/y;

// src/core/secret/own-secret.ts
var GRAM = 8;
var SHORTEST_SECRET = 8;
var SHORTEST_PART = 12;
var SHORTEST_LINE = 16;
var FACTOR = 16777619;
var SEEN_BITS = 16;
var OLDEST = Array.from({ length: GRAM }).reduce((power) => Math.imul(power, FACTOR), 1);
function ownSecretFinder(secrets) {
  const known = [...new Set(secrets.flatMap((secret) => [secret, ...linesOf(secret)]))].filter(
    (secret) => secret.length >= SHORTEST_SECRET
  );
  if (known.length === 0) return () => [];
  const index = new GramIndex();
  const exact = [];
  for (const secret of known) {
    const spellings = spellingsOf(secret);
    for (const spelling of spellings) index.add(spelling);
    if (squeeze(secret, "decoded").codes.length < GRAM || hasOnlyDigits(secret)) exact.push(...encodingsOf(secret));
  }
  return (text) => [...exact.flatMap((value) => findExact(text, value)), ...index.find(text)];
}
function linesOf(secret) {
  return secret.includes("\n") ? secret.split(/\r?\n/).filter((line) => line.trim().length >= SHORTEST_LINE) : [];
}
function findExact(text, value) {
  const found = [];
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) found.push([at, at + value.length]);
  return found;
}
var HALF_CHAR = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
function encodingsOf(secret) {
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret.replace(HALF_CHAR, ""));
  return [.../* @__PURE__ */ new Set([secret, json, url, url.replaceAll("%20", "+")])];
}
function spellingsOf(secret) {
  const bytes = Buffer.from(secret, "utf8");
  const hex2 = bytes.toString("hex");
  const plain = squeeze(secret, "decoded").codes;
  const mayBePart = plain.length >= 20 && looksGenerated(secret);
  const texts = hasOnlyDigits(secret) ? [] : encodingsOf(secret);
  const words = texts.flatMap((text) => VIEWS.map((view) => squeeze(text, view).codes)).map((codes) => ({ codes, mayBePart, isBase64: false }));
  const hexes = [hex2, hex2.toUpperCase(), hex2.replace(/../g, "0x$&")].map((text) => ({
    codes: squeeze(text, "as it stands").codes,
    mayBePart: false,
    isBase64: false
  }));
  const encoded = [...[0, 1, 2].map((shift) => base64At(bytes, shift)), base64At(Buffer.from(secret, "utf16le"), 0)];
  const base64 = encoded.map((text) => ({
    codes: squeeze(text, "as it stands").codes,
    mayBePart: false,
    isBase64: true
  }));
  return [...words, ...hexes, ...base64].filter(({ codes }) => codes.length >= GRAM);
}
function base64At(bytes, shift) {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64").replaceAll("=", "");
  const from = Math.ceil(shift * 8 / 6);
  return text.slice(from, Math.floor((shift + bytes.length) * 8 / 6));
}
var VIEWS = ["decoded", "as it stands"];
function squeeze(text, view, seen) {
  const { length } = text;
  const codes = new Uint8Array(length);
  const places = new Uint32Array(length);
  const grams = [];
  let count = 0;
  let hash = 0;
  for (let at = 0; at < length; at += 1) {
    const place = at;
    let code = text.charCodeAt(at);
    let kind = KINDS[code];
    if (kind === OTHER) continue;
    if (kind === ESCAPE) {
      const escaped = view === "decoded" ? readEscape(text, at, code) : void 0;
      if (!escaped) continue;
      code = escaped.code;
      at += escaped.chars - 1;
      kind = KINDS[code];
      if (kind !== LETTER) continue;
    }
    code = code < 128 ? code : 128 | code & 127;
    codes[count] = code;
    places[count] = place;
    hash = Math.imul(hash, FACTOR) + code | 0;
    if (count >= GRAM) hash = hash - Math.imul(codes[count - GRAM] ?? 0, OLDEST) | 0;
    count += 1;
    if (count >= GRAM && seen && seen[short(hash)] === 1) grams.push(count - GRAM);
  }
  return { codes: codes.subarray(0, count), places, grams };
}
var OTHER = 0;
var LETTER = 1;
var ESCAPE = 2;
var KINDS = new Uint8Array(65536);
for (let code = 192; code < 65536; code += 1) KINDS[code] = code < 8192 || code > 8303 ? LETTER : OTHER;
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") KINDS[char.charCodeAt(0)] = LETTER;
for (const char of "%&\\") KINDS[char.charCodeAt(0)] = ESCAPE;
var PERCENT = 37;
var AMPERSAND = 38;
var BACKSLASH = 92;
var ESCAPES = [
  [PERCENT, /%([0-9a-fA-F]{2})/y],
  [BACKSLASH, /\\{1,4}u([0-9a-fA-F]{4})/y],
  [BACKSLASH, /\\{1,4}x([0-9a-fA-F]{2})/y],
  [BACKSLASH, /\\{1,4}[nrtbfv]/y],
  [AMPERSAND, /&#x([0-9a-fA-F]{1,4});/y],
  [AMPERSAND, /&(?:amp|lt|gt|quot|apos|#\d{1,5});/y]
];
function readEscape(text, at, first) {
  for (const [start, form] of ESCAPES) {
    if (start !== first) continue;
    form.lastIndex = at;
    const match = form.exec(text);
    if (match) return { code: match[1] === void 0 ? 0 : Number.parseInt(match[1], 16), chars: match[0].length };
  }
  return void 0;
}
var GramIndex = class {
  #places = /* @__PURE__ */ new Map();
  /** A bit set that rules out most hashes quickly. */
  #seen = new Uint8Array(1 << SEEN_BITS);
  #keys = /* @__PURE__ */ new Set();
  add(spelling) {
    const { codes, mayBePart } = spelling;
    const key = `${mayBePart} ${codes.join(" ")}`;
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    const last = mayBePart ? codes.length - GRAM : 0;
    for (let offset = 0; offset <= last; offset += 1) {
      const hash = hashAt(codes, offset);
      this.#seen[short(hash)] = 1;
      const there = this.#places.get(hash);
      if (there) there.push({ spelling, offset });
      else this.#places.set(hash, [{ spelling, offset }]);
    }
  }
  find(text) {
    const views = /[%&\\]/.test(text) ? VIEWS : VIEWS.slice(0, 1);
    return views.flatMap((view) => this.#findIn(text, view));
  }
  #findIn(text, view) {
    const { codes, places, grams } = squeeze(text, view, this.#seen);
    const found = [];
    let from = 0;
    for (const start of grams) {
      if (start < from) continue;
      const length = this.#longest(hashAt(codes, start), codes, start);
      if (!length) continue;
      found.push(rangeOf(text, places, start, start + length.count - 1, length.isBase64));
      from = start + length.count;
    }
    return found;
  }
  /** The length of the spelling matched there; undefined if too short. */
  #longest(hash, codes, start) {
    let longest;
    for (const { spelling, offset } of this.#places.get(hash) ?? []) {
      const whole = spelling.codes.length - offset;
      let count = 0;
      while (count < whole && codes[start + count] === spelling.codes[offset + count]) count += 1;
      const isEnough = count === spelling.codes.length || spelling.mayBePart && count >= SHORTEST_PART;
      if (isEnough && count > (longest?.count ?? 0)) longest = { count, isBase64: spelling.isBase64 };
    }
    return longest;
  }
};
function hashAt(codes, start) {
  let hash = 0;
  for (let at = start; at < start + GRAM; at += 1) hash = Math.imul(hash, FACTOR) + (codes[at] ?? 0) | 0;
  return hash;
}
function short(hash) {
  return (hash ^ hash >>> SEEN_BITS) & (1 << SEEN_BITS) - 1;
}
function rangeOf(text, places, first, last, isBase64) {
  let start = places[first] ?? 0;
  const at = places[last] ?? 0;
  let end = at + (readEscape(text, at, text.charCodeAt(at))?.chars ?? 1);
  if (!isBase64) return [start, end];
  for (let more = 0; more < 2 && start > 0 && /[\w+/=-]/.test(text[start - 1] ?? ""); more += 1) start -= 1;
  for (let more = 0; more < 4 && /[\w+/=-]/.test(text[end] ?? ""); more += 1) end += 1;
  return [start, end];
}

// src/core/secret/secret-form.ts
var UUID = /[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/;
var BASE64 = /[\w+/=-]{30,}/;
var SECRET_FORMS = [
  ["askd", "askd_a_ askd_h_ askd_l_ askd_x_", word(20)],
  // Clouds and hosting
  ["AWS", "AKIA ASIA ABIA ACCA AGPA AIDA AROA AIPA ANPA ANVA APKA A3T", /[A-Z0-9]{16,17}(?![A-Za-z0-9])/],
  ["AWS session", "FwoGZXIvYXdz IQoJb3JpZ2lu FQoGZXIvYXdz", BASE64],
  ["AWS Bedrock", "ABSK bedrock-api-key-", /[A-Za-z0-9+/=]{60,}/],
  ["AWS AppSync", "da2-", /[a-z0-9]{26}/],
  ["Amazon MWS", "amzn.mws.", UUID],
  ["Amazon login", "Atza| Atzr| amzn1.oa2-cs.v1.", word(30)],
  ["Google", "AIza", word(33)],
  ["Google OAuth", "GOCSPX- ya29. 1//0 AQ.Ab8", word(20)],
  ["Google storage", "GOOG1E GOOG", /[A-Z0-9]{20,}/],
  ["Firebase messaging", "AAAA", /[\w-]{7}:APA91b[\w-]{60,}/],
  ["Azure storage access", "AZDO azdo", alnum(48)],
  ["DigitalOcean", "dop_v1_ doo_v1_ dor_v1_ dosec_v1_", /[a-fA-F0-9]{40,}/],
  ["Heroku", "HRKU-", word(30)],
  ["Fly.io", "fo1_ fm1a_ fm1r_ fm2_", BASE64],
  ["Render", "rnd_", alnum(24)],
  ["Vercel", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", word(20)],
  ["Netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", alnum(24)],
  ["Cloudflare", "v1.0-", /[a-f0-9]{24}-[a-f0-9]{100,}/],
  ["Cloudflare", "cfut_ cfat_ cfk_ cfoat_ CFPAT-", word(20)],
  ["Scalingo", "tk-us-", word(30)],
  ["Scaleway", "SCW", /[A-Z0-9]{17}(?![A-Za-z0-9])/],
  ["Exoscale", "EXO", /[a-f0-9]{24}/],
  ["UpCloud", "ucat_", word(20)],
  ["Alibaba", "LTAI", /[A-Za-z0-9]{12,30}/],
  ["Tencent", "AKID", /[A-Za-z0-9]{32}/],
  ["Yandex", "AQVN YCA t1.", /[\w-]{30,}(?:\.[\w-]{40,})?/],
  ["Baidu", "bce-v3/ALTAK-", /[\w/-]{30,}/],
  ["Aiven", "AVNS_ aivenv1_", word(16)],
  // Code, packages, builds
  ["GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", /[\w.-]{30,}/],
  ["GitHub", "github_pat_", /\w{22,}/],
  [
    "GitLab",
    "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glsoat- glagent- glimt- glffct- gloas- glwt- GR1348941",
    /[\w-]{16,}(?:\.[0-9a-z]{2,12}){0,3}/
  ],
  ["Bitbucket", "ATBB BBDC-", /[A-Za-z0-9+/=]{24,}/],
  ["Atlassian", "ATATT3 ATCTT3 ATSTT3 ATOAT ATTA", /[\w=-]{50,}/],
  ["Sourcegraph", "sgp_ slk_ sgd_", /(?:(?:local|[a-fA-F0-9]{16})_)?[a-fA-F0-9]{40,}/],
  ["Gitea", "gta_", alnum(24)],
  ["npm", "npm_ NPM_", alnum(30)],
  ["PyPI", "pypi-AgE pypi-", word(50)],
  ["RubyGems", "rubygems_", /[a-fA-F0-9]{40,}/],
  ["NuGet", "oy2", /[a-z0-9]{43}(?![a-z0-9])/],
  ["crates.io", "cio", /[A-Za-z0-9]{32}(?![A-Za-z0-9])/],
  ["Clojars", "CLOJARS_ clojars_", alnum(50)],
  ["Packagist", "packagist_ pkgst_", word(20)],
  ["Deno", "ddp_ ddo_ dde_ ddw_ jsrp_ jsrd_", alnum(24)],
  ["Docker", "dckr_pat_ dckr_oat_", word(16)],
  ["JFrog", "AKCp cmVmd AP6 eyJ2ZXIiOiIy", alnum(50)],
  ["CircleCI", "CCIPAT_ CCIPRJ_", word(24)],
  ["Buildkite", "bkua_ bkct_ bkaj_ bkpt_ bkrt_", alnum(24)],
  ["Octopus", "API-", /[A-Z0-9]{25,27}(?![A-Za-z0-9])/],
  ["Harness", "pat. sat.", /[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}/],
  ["SonarQube", "sqp_ squ_ sqa_ sqb_", hex(40)],
  ["Snyk", "snyk_uat. snyk_sat. snyk_", /[\w.-]{24,}/],
  ["Socket", "sktsec_", word(20)],
  ["Infracost", "ico-", alnum(24)],
  ["Postman", "PMAK- PMAT-", /[a-zA-Z0-9-]{24,}/],
  ["ReadMe", "rdme_", /[a-z0-9]{50,}/],
  ["dbt", "dbtc_ dbtu_", word(20)],
  ["Prefect", "pnu_ pnb_", alnum(24)],
  ["Expo", "expo_ eas_", word(30)],
  // Models
  ["Anthropic", "sk-ant-", word(20)],
  ["OpenAI", "sk-proj- sk-svcacct- sk-admin- sk-None- sess-", word(20)],
  ["OpenRouter, Langfuse, Helicone", "sk-or-v1- sk-lf- pk-lf- sk-helicone-", word(16)],
  ["OpenAI", "sk-", /(?=[\w-]{0,40}\d)[\w-]{20,}/],
  // other providers write theirs alike
  ["Hugging Face", "hf_ api_org_", alnum(30)],
  ["Groq", "gsk_", alnum(24)],
  ["Perplexity", "pplx-", alnum(24)],
  ["Replicate", "r8_", alnum(24)],
  ["xAI", "xai-", alnum(24)],
  ["NVIDIA", "nvapi-", word(30)],
  ["Together, Fireworks, Cerebras", "tgp_v1_ fw_ fpk_ csk-", alnum(16)],
  ["LangSmith", "lsv2_pt_ lsv2_sk_ ls__", /[a-f0-9]{30,}(?:_[a-f0-9]{8,})?/],
  ["Pinecone", "pcsk_", word(30)],
  ["Jina, Tavily, Firecrawl", "jina_ tvly- fc-", /(?=[\w-]{0,30}\d)[\w-]{24,}/],
  ["Weights & Biases", "wandb_v1_", word(30)],
  ["Voiceflow, Voyage", "VF.DM. VF.WS. pa-", /(?=[\w-]{0,40}\d)[\w.-]{30,}/],
  ["E2B, RunPod, Modal", "e2b_ rpa_ ak- as-", /(?=[A-Za-z0-9]{0,30}\d)[A-Za-z0-9]{22,}/],
  ["Browserbase, Apify", "bb_live_ apify_api_", word(16)],
  // Chat and mail
  ["Slack", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xox xapp- xwfp-", /[\w%.+/=-]{8,}/],
  ["Slack webhook", "hooks.slack.com/", /(?:services|workflows|triggers)\/[\w+/-]{16,}/],
  ["Slack webhook", "hooks.slack-gov.com/", /(?:services|workflows|triggers)\/[\w+/-]{16,}/],
  [
    "Discord webhook",
    "discord.com/api/ discordapp.com/api/ canary.discord.com/api/ ptb.discord.com/api/",
    /(?:v\d+\/)?webhooks\/\d{5,30}\/[\w-]{20,}/
  ],
  ["Discord bot", "M N O", /[\w-]{22,27}\.[\w-]{6}\.[\w-]{25,}/],
  ["Discord", "mfa.", word(80)],
  ["Telegram bot", "0 1 2 3 4 5 6 7 8 9", /\d{4,15}:A[\w-]{33,}/],
  ["Facebook application", "0 1 2 3 4 5 6 7 8 9", /\d{14,15}(?:\||%7C)[\w-]{27,}/],
  ["Teams webhook", "webhook.office.com/", /webhookb?2?\/[\w@/-]{40,}/],
  ["Google Chat webhook", "chat.googleapis.com/", /v1\/spaces\/[\w-]{5,40}\/messages\?[^\s"'<>]{20,}/],
  ["Zapier, Make hooks", "hooks.zapier.com/hooks/catch/ hook.eu1.make.com/ hook.us1.make.com/", /[\w/-]{12,}/],
  ["Logic Apps", "logic.azure.com", /[^\s"'<>]{0,400}sig=[\w%-]{20,}/],
  ["SendGrid", "SG.", /[\w=-]{10,70}[.=][\w.=-]{16,}/],
  ["Mailgun", "key- pubkey-", hex(32)],
  ["Mandrill, Resend", "md- re_", /(?=[\w-]{0,20}\d)(?=[\w-]{0,20}[A-Z])[\w-]{20,}/],
  ["Brevo", "xkeysib- xsmtpsib-", /[a-f0-9]{64}-[A-Za-z0-9]{12,}/],
  ["Twilio", "SK AC", /[0-9a-fA-F]{32}(?![0-9a-zA-Z])/],
  ["OneSignal", "os_v2_", word(30)],
  ["PubNub", "sub-c- pub-c- sec-c-", /[A-Za-z0-9+/=-]{30,}/],
  [
    "WeChat, DingTalk robot",
    "oapi.dingtalk.com/robot/send?access_token= qyapi.weixin.qq.com/cgi-bin/webhook/send?key= open.feishu.cn/open-apis/bot/v2/hook/",
    word(20)
  ],
  // Money and trade
  ["Stripe", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ pk_live_ pk_test_ sk_org_", /\w{10,}/],
  // Paystack and Clerk write theirs alike
  ["Standard Webhooks", "whsec_ whsk_", /[A-Za-z0-9+/=]{20,}/],
  ["Square", "sq0atp- sq0csp- sq0idp- sq0ids- EAAA", word(20)],
  ["PayPal Braintree", "access_token$", /(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}/],
  ["Plaid", "access-sandbox- access-development- access-production- public-production-", UUID],
  ["Razorpay", "rzp_live_ rzp_test_", alnum(10)],
  ["Flutterwave", "FLWSECK FLWPUBK", /(?:_TEST)?-[a-zA-Z0-9]{10,}(?:-X)?/],
  ["Adyen", "AQE", /[A-Za-z0-9+/=-]{50,}/],
  ["Mollie, Lob, Chargebee, GoCardless", "live_ test_", /(?:pub_)?(?=[\w=-]{0,30}\d)[\w=-]{28,}/],
  ["Paddle", "pdl_live_apikey_ pdl_sdbx_apikey_", word(20)],
  ["Shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", hex(32)],
  ["WooCommerce", "ck_ cs_", /[a-f0-9]{40}/],
  ["Shippo", "shippo_live_ shippo_test_", hex(40)],
  ["EasyPost", "EZAK EZTK", alnum(50)],
  ["Duffel", "duffel_test_ duffel_live_", /[\w=-]{40,}/],
  ["Mercury, Brex, Ramp", "secret-token:mercury_ bxt_ ramp_sec_", word(20)],
  ["Stytch", "secret-live- secret-test-", /[\w=-]{20,}/],
  // Databases and data
  ["Databricks", "dapi dose", /[a-fA-F0-9]{32}(?:-\d)?/],
  ["PlanetScale", "pscale_tkn_ pscale_oauth_ pscale_pw_ pscale_app_", /[\w=.-]{30,}/],
  ["Supabase", "sbp_ sb_secret_ sb_publishable_ sbp_oauth_", word(20)],
  ["Neon", "napi_ npg_", alnum(12)],
  ["MongoDB Atlas", "mdb_sa_sk_", word(20)],
  ["CockroachDB", "CCDB1_", word(20)],
  ["ClickHouse", "4b1d", /[A-Za-z0-9]{38}(?![A-Za-z0-9])/],
  ["Xata, Nhost, Materialize", "xau_ nhp_ mzp_", alnum(24)],
  ["Fauna", "fnA", word(37)],
  ["Tinybird", "p.eyJ", /[\w-]{20,}(?:\.[\w-]{20,})?/],
  ["Confluent", "cflt", /[A-Za-z0-9+/]{50,}/],
  ["Airtable", "pat", /[A-Za-z0-9]{14}\.[a-f0-9]{64}/],
  ["Algolia, Appwrite", "standard_", hex(64)],
  // Watching systems
  ["New Relic", "NRAK- NRII- NRJS- NRIQ- NRRA- NRSP-", /[A-Za-z0-9_-]{18,}/],
  ["Datadog", "ddapi_ ddapp_ ddpat_", word(20)],
  ["Grafana", "glsa_ glc_", /[\w+/=]{30,}/],
  ["Sentry", "sntrys_ sntryu_ sntrya_", /[\w+/=-]{30,}/],
  ["PagerDuty", "pdus+ pdeu+ u+", /[\w+-]{18,}/],
  ["Dynatrace", "dt0c01. dt0s01. dt0s02. dt0s08. dt0s16.", /[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{40,}/],
  ["Honeycomb", "hcaik_ hcxik_ hcamk_ hcbik_", alnum(24)],
  ["Axiom", "xaat- xapt-", UUID],
  ["Elastic", "essu_", BASE64],
  ["PostHog", "phc_ phx_ phs_", alnum(32)],
  ["Rootly, FireHydrant", "rootly_ fhb-", /[a-f0-9]{40,}/],
  ["LaunchDarkly", "sdk- api- mob-", UUID],
  // Secrets of secrets, identity, networks
  ["Vault", "hvs. hvb. hvr.", word(20)],
  ["Vault", "s. b.", /(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}(?![A-Za-z0-9])/],
  ["Doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.said. dp.scim. dp.audit.", /[\w.-]{20,}/],
  ["1Password", "ops_eyJ", /[A-Za-z0-9+/=]{40,}/],
  ["1Password", "A3-", /[A-Z0-9]{6}-[A-Z0-9-]{24,32}/],
  ["Infisical", "st.", /[a-f0-9]{24}\.[a-f0-9]{32}\.[a-f0-9]{32}/],
  ["Bitwarden", "0.", /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.[A-Za-z0-9]{30}:[\w+/=]{20,}/],
  ["Pulumi", "pul-", hex(40)],
  ["Tailscale", "tskey-", word(12)],
  ["Defined Networking", "dnkey-", /[\w=-]{40,}/],
  ["Teleport, Ory, Authress", "ory_st_ ory_pat_ ory_at_ ory_rt_", word(20)],
  [
    "Authress",
    "sc_ ext_ scauth_ authress_",
    /[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[\w+/=-]{30,}/
  ],
  ["OpenShift", "sha256~", word(40)],
  ["Kubernetes bootstrap, Kong", "kpat_ spat_", word(20)],
  ["age", "AGE-SECRET-KEY-1", alnum(50)],
  [
    "Ansible Vault",
    "ANSIBLE_VAULT;",
    /[\d.]{3,5};AES256(?:;[\w-]{1,40})?\s+(?:[0-9a-f]{20,80}\s{1,20}){0,200}[0-9a-f]{8,80}/
  ],
  ["MaxMind", "mmk_", word(20)],
  // Work and content
  ["Notion", "ntn_ secret_", /(?=[A-Za-z0-9]{0,30}\d)[A-Za-z0-9]{40,}/],
  ["Linear", "lin_api_ lin_oauth_ lin_wh_", /\w{24,}/],
  ["Figma", "figd_ figu_ figo_ figur_ figuh_", word(20)],
  ["ClickUp", "pk_", /\d{5,10}_[A-Z0-9]{24,}/],
  ["Klaviyo", "pk_", /[a-f0-9]{34}/],
  ["Freemius, Sanity, WorkOS", "sk_", /(?=[^\s"']{0,20}\d)[^\s"',;<>]{29,}/],
  ["Typeform", "tfp_", /[\w.=-]{30,}/],
  ["HubSpot", "pat-na1- pat-eu1- pat-ap1- pat-na2-", UUID],
  ["Salesforce", "00D", /[A-Za-z0-9]{12,15}![\w.]{60,}/],
  ["Intercom", "dG9rOj", BASE64],
  ["Frame.io", "fio-u-", /[\w=-]{50,}/],
  ["Dropbox", "sl.", /[\w=.-]{100,}/],
  ["Adobe", "p8e-", alnum(30)],
  ["Beamer", "b_", /(?=[\w=-]{0,30}\d)[\w=-]{44}(?![\w-])/],
  ["Mapbox", "pk.eyJ sk.eyJ tk.eyJ", /[\w-]{20,}(?:\.[\w-]{10,})?/],
  ["Mapbox", "pk. sk.", /[a-z0-9]{60}\.[a-z0-9]{22}/],
  ["Facebook", "EAA", alnum(50)],
  ["Instagram", "IGQ IGAA", word(60)],
  ["Twitter", "AAAAAAAAAAAAAAAAAAAAA", /[A-Za-z0-9%]{50,}/],
  ["LinkedIn", "WPL_AP1.", /[\w.+/=]{16,}/],
  ["VK", "vk1.a.", word(60)],
  ["Pinterest", "pina_", word(30)],
  ["Asana", "1/ 2/", /\d{10,20}(?:\/\d{10,20})?:[a-f0-9]{32}/],
  ["n8n, Retool, Metabase", "n8n_api_ retool_ mb_", /(?=[\w-]{0,40}\d)[\w-]{32,}/],
  ["Adafruit", "aio_", alnum(24)],
  ["Samsara, Ubidots", "samsara_api_ BBFF- BBUS-", alnum(24)],
  ["Settlemint", "sm_aat_ sm_pat_ sm_sat_", alnum(16)],
  ["Intra 42", "s-s4t2ud- s-s4t2af- u-s4t2ud-", hex(64)],
  ["Inngest, Trigger", "signkey-prod- signkey-test- tr_prod_ tr_dev_", alnum(16)]
];
var NO_MORE = /(?!\w)/y;
var SECRET_INFIXES = [
  ["Terraform Cloud", ".atlasv1.", /[A-Za-z0-9]{14}$/, /[\w=-]{30,}/y],
  ["Azure client secret", "Q~", /[\w.~-]{3}\d$/, /[\w.~-]{30,}/y],
  ["Mailchimp", "-us", /(?<![0-9a-f])[0-9a-f]{32}$/, /\d{1,2}/y],
  ["MaxMind", "_mmk", /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}$/, NO_MORE],
  ["New Relic licence", "NRAL", /[A-Za-z0-9]{30,36}$/, NO_MORE],
  ["DeepL", ":fx", /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, NO_MORE]
];
function word(least) {
  return `[\\w-]{${least},}`;
}
function alnum(least) {
  return `[A-Za-z0-9]{${least},}`;
}
function hex(count) {
  return `[0-9a-fA-F]{${count}}`;
}

// src/core/secret/secret-token.ts
var SHORTEST_TOKEN = 16;
var SHORTEST_GENERATED = 24;
var SHORTEST_PART2 = 10;
var LONGEST_GENERATED = 300;
var LONGEST_INFIX_PART = 60;
var HINT_CHARS = 60;
var LONGEST_COLOUR = 14;
function findSecretTokens(text) {
  const found = findInfixes(text);
  const { length } = text;
  let at = 0;
  while (at < length) {
    if (KINDS2[text.charCodeAt(at)] === BREAK) {
      at += 1;
      continue;
    }
    const end = endOfToken(text, at);
    if (end - at >= SHORTEST_TOKEN && hasDigits(text, at, end)) {
      const generated = findGenerated(text, at, end);
      if (generated) found.push(generated);
    }
    at = findForms(text, at, end, found);
  }
  return found;
}
function findForms(text, start, end, found) {
  let before = BREAK;
  for (let at = start; at < end; at += 1) {
    const kind = KINDS2[text.charCodeAt(at)];
    const isStart = kind === LETTER2 && (before !== LETTER2 || at < start + 3 && isAfterEscape(text, at));
    before = kind;
    if (!isStart) continue;
    const last = endOfForm(text, at);
    if (last === void 0) continue;
    found.push([at, last]);
    if (last >= end) return last;
    at = last - 1;
  }
  return end;
}
var BREAK = 0;
var JOINER = 1;
var LETTER2 = 2;
var KINDS2 = new Uint8Array(65536);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") KINDS2[char.charCodeAt(0)] = LETTER2;
for (const char of "+/=_-") KINDS2[char.charCodeAt(0)] = JOINER;
function endOfToken(text, start) {
  let end = start + 1;
  while (end < text.length && KINDS2[text.charCodeAt(end)] !== BREAK) end += 1;
  return end;
}
function hasDigits(text, start, end) {
  const last = Math.min(end, start + LONGEST_GENERATED);
  let digits = 0;
  for (let at = start; at < last && digits < 2; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) digits += 1;
  }
  return digits >= 2;
}
function isAfterEscape(text, at) {
  if (text.charCodeAt(at - 2) === BACKSLASH2 || text.charCodeAt(at - 3) === PERCENT2) return true;
  if (text.charCodeAt(at - 1) !== SMALL_M) return false;
  const before = text.slice(Math.max(0, at - LONGEST_COLOUR), at);
  const colour = before.lastIndexOf("\x1B[");
  return colour >= 0 && /^[\d;]*m$/.test(before.slice(colour + 2));
}
var BACKSLASH2 = 92;
var PERCENT2 = 37;
var SMALL_M = 109;
var forms;
function groupForms() {
  const groups = Array.from({ length: 128 * 128 });
  for (const [, starts, rest] of SECRET_FORMS) {
    for (const start of starts.split(" ")) {
      const seconds = start.length > 1 ? [start.charCodeAt(1)] : Array.from({ length: 128 }, (_, code) => code);
      const form = { start, rest };
      for (const second of seconds) (groups[start.charCodeAt(0) * 128 + second] ??= []).push(form);
    }
  }
  return groups;
}
function matcherOf(form) {
  const { rest } = form;
  return form.matcher ??= typeof rest === "string" ? new RegExp(rest, "y") : new RegExp(rest.source, `${rest.flags}y`);
}
function endOfForm(text, at) {
  const second = text.charCodeAt(at + 1);
  forms ??= groupForms();
  const started = second < 128 ? forms[text.charCodeAt(at) * 128 + second] : void 0;
  if (!started) return void 0;
  for (const form of started) {
    if (!text.startsWith(form.start, at)) continue;
    const matcher = matcherOf(form);
    matcher.lastIndex = at + form.start.length;
    if (matcher.test(text)) return matcher.lastIndex;
  }
  return void 0;
}
function findInfixes(text) {
  const found = [];
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
var HEX = /^[0-9a-fA-F]+$/;
var UUID2 = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
var JSON_IN_BASE64 = /^(?:eyJ|ZXlK|e30)/;
var PUBLIC = /^(?:[aqrw]_[0-9a-hjkmnp-tv-z]{26}$|(?:ses|msg|prt|req|toolu|call|chatcmpl|evt)_|sha\d{1,3}[-_=]|md5[-_=]|AAAA[BCE][23]|iVBORw0|R0lGOD|\/9j\/|PHN2Z|AGFzbQ|UklGR|d09G|MII[A-Z])/;
var PUBLIC_BEFORE = /(?:h1:|sha\d{1,3}[-:=]|md5[-:=]|base64,|integrity["']?[:=]\s?["']?)$/;
function findGenerated(text, start, end) {
  const token = text.slice(start, Math.min(end, start + LONGEST_GENERATED + 1));
  if (JSON_IN_BASE64.test(token)) return findJsonWebToken(text, start, end);
  if (token.length > LONGEST_GENERATED || PUBLIC.test(token)) return void 0;
  const value = valueIn(token);
  const from = start + value.offset;
  if (value.text.length < SHORTEST_TOKEN) return void 0;
  const isHex = HEX.test(value.text) || UUID2.test(value.text);
  const longest = isHex ? value.text : longestPart(value.text);
  if (longest.length < SHORTEST_PART2) return void 0;
  const isSure = !isHex && value.text.length >= SHORTEST_GENERATED && isSurelyGenerated(longest);
  if (!isSure && !isHex && !(/\d/.test(longest) && looksGenerated(longest))) return void 0;
  const before = text.slice(Math.max(0, from - HINT_CHARS), from);
  if (PUBLIC_BEFORE.test(before)) return void 0;
  return isSure && !isLineOfFile(text, start, end) || isHinted(before) ? [from, end] : void 0;
}
function longestPart(text) {
  return text.split(/[-_/+]+/).reduce((longest, part) => part.length > longest.length ? part : longest, "");
}
function valueIn(token) {
  let end = token.length;
  while (end > 0 && token[end - 1] === "=") end -= 1;
  const offset = token.lastIndexOf("=", end - 1) + 1;
  return { text: token.slice(offset, end), offset };
}
function findJsonWebToken(text, start, end) {
  TOKEN_PARTS.lastIndex = end;
  const isSigned = TOKEN_PARTS.test(text);
  if (isSigned) return [start, TOKEN_PARTS.lastIndex];
  const isMap = text.startsWith("eyJ2ZXJzaW9u", start) || text.slice(Math.max(0, start - 8), start).endsWith("base64,");
  return end - start >= SHORTEST_GENERATED && !isMap ? [start, end] : void 0;
}
var TOKEN_PARTS = /\.[\w+/-]{8,}=*(?:\.[\w+/=-]*)*/y;
function isLineOfFile(text, start, end) {
  if (end - start < 60) return false;
  LINES_OF_FILE.lastIndex = 0;
  const around = text.slice(Math.max(0, start - 90), end + 90);
  const line = text.slice(start, end);
  for (let match = LINES_OF_FILE.exec(around); match; match = LINES_OF_FILE.exec(around)) {
    if (match[0].includes(line)) return true;
  }
  return false;
}
var LINES_OF_FILE = /(?:[\w+/=-]{30,}|-----BEGIN [A-Z ]{1,40}-----)[ \t]*(?:\r?\n|\\n)[ \t>]*[\w+/=-]{60,}|[\w+/=-]{60,}[ \t]*(?:\r?\n|\\n)[ \t>]*(?:[\w+/=]{20,}|-----END [A-Z ]{1,40}-----)/g;
var HINT = /secret|passw|token|api|key|auth|cred|private|bearer|signature|license|adafruit|adobe|airtable|algolia|alibaba|aliyun|amplitude|asana|atlassian|confluence|jira|auth0|aws|azure|beamer|bitbucket|bittrex|binance|bugsnag|cloudflare|codecov|cohere|coinbase|confluent|contentful|datadog|deepgram|digitalocean|discord|droneci|dropbox|elastic|etherscan|etsy|facebook|fastly|finicity|finnhub|flickr|freshbooks|gitter|gocardless|heroku|hetzner|honeybadger|hubspot|infura|intercom|jenkins|jfrog|artifactory|kraken|kucoin|launchdarkly|linear|linked_?in|linode|lob|logz|mailchimp|mailgun|mailjet|mapbox|mattermost|meraki|message_?bird|mixpanel|mistral|netlify|new_?relic|ngrok|nytimes|okta|opsgenie|ovh|pagerduty|paypal|plaid|planetscale|plivo|postmark|pusher|quay|rapidapi|rollbar|salesforce|segment|sendbird|sendgrid|sentry|shodan|sinch|snowflake|snyk|sonar|sourcegraph|spark_?post|splunk|spotify|squarespace|stripe|sumo|telegram|tencent|trello|travis|twilio|twitch|twitter|typeform|upstash|vercel|vonage|vultr|wandb|weather|webflow|yandex|zendesk|zoho|zoom/i;
var NO_HINT = /(?:commit|sha\d*|hash|checksum|digest|integrity|revision|\brev|etag|md5|uuid|version|fingerprint|public_?key|primary_?key|cache_?key|tree|blob|build_?id|request_?id|trace_?id|correlation|account_?id\/)[^\n]{0,24}$/i;
var ASSIGNS = /(?:[=:>,("'`|[\s]|\\["nrt])$/;
function isHinted(before) {
  return ASSIGNS.test(before) && HINT.test(before) && !NO_HINT.test(before);
}

// src/core/secret/text-range.ts
function maskRanges(text, ranges, mask) {
  if (ranges.length === 0) return text;
  const pieces = [];
  let done = 0;
  let open;
  for (const [start, end] of ranges.toSorted(([one], [other]) => one - other)) {
    if (open && start <= open[1]) {
      open[1] = Math.max(open[1], end);
      continue;
    }
    if (open) {
      pieces.push(text.slice(done, open[0]), mask);
      done = open[1];
    }
    open = [start, end];
  }
  if (open) {
    pieces.push(text.slice(done, open[0]), mask);
    done = open[1];
  }
  pieces.push(text.slice(done));
  return pieces.join("");
}

// src/core/secret/redact.ts
var MASK = "[redacted]";
function redact(text, secrets, patterns = []) {
  return redactor(secrets, patterns)(text);
}
function redactor(secrets, patterns = []) {
  const findOwn = ownSecretFinder(secrets);
  return (text) => {
    const found = [
      ...patterns.flatMap((pattern) => findPattern(text, pattern)),
      ...findOwn(text),
      ...findSecretTokens(text),
      ...findNamedSecrets(text),
      ...findEmbeddedSecrets(text)
    ];
    return maskRanges(text, found, MASK);
  };
}
function findPattern(text, pattern) {
  return [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);
}

// src/core/secret/secret-env.ts
var SECRET_NAME = /TOKEN|SECRET|PASSW|PASSPHRASE|PASSCODE|CREDENTIAL|KEY|AUTH|(?:^|_)(?:PASS|PWD|PAT|PW|DSN|SALT|COOKIE|SIGNATURE|WEBHOOK|JWT|OTP)(?:_|$)|CONNECTION_?STRING/i;
var NO_SECRET_NAME = /^(?:PWD|OLDPWD|SSH_AUTH_SOCK|XAUTHORITY)$|(?:_FILE|_PATH|_DIR|_SOCK)$/i;
var SHORTEST_SECRET2 = 8;
var LONGEST_SECRET = 1e4;
function secretsIn(env) {
  const found = Object.entries(env).flatMap(([name, value]) => value ? secretsOf(name, value) : []);
  return [...new Set(found)];
}
function secretsOf(name, value) {
  if (value.length < SHORTEST_SECRET2 || value.length > LONGEST_SECRET || NO_SECRET_NAME.test(name)) return [];
  const login = /:\/\/[^\s/@:]*:([^\s@]{4,})@/.exec(value)?.[1];
  const password = login !== void 0 && login.length >= SHORTEST_SECRET2 ? [login] : [];
  const isSecret = SECRET_NAME.test(name) ? !isPlaceholder(value) : redact(value, []) !== value;
  return isSecret ? [value, ...password] : password;
}
export {
  redactor,
  secretsIn
};
