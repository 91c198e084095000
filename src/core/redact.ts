import type { Content, Item } from "./content.ts";

const LEAST_SECRET_CHARS = 8;
const MASK = "[redacted]";

/** Well-known forms of keys and tokens. Every repetition is bounded or cannot overlap, so a scan is linear. */
const PATTERNS: readonly RegExp[] = [
  /\baskd_[ahlx]_[\w-]{20,64}/g,
  /\beyJ[\w-]{8,4000}\.[\w-]{8,8000}(?:\.[\w-]{0,2000})?/g,
  /\b(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}\b/g,
  /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255}|gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt|ffct)-[\w-]{20,64})/g,
  /\b(?:sk-(?:ant-|proj-|svcacct-|admin-|or-v1-|lf-)?[\w-]{20,255}|(?:sk|rk|pk)_(?:live|test)_\w{10,255}|whs(?:ec|k)_[A-Za-z0-9+/=]{20,128})/g,
  /\bxox[abeoprs]-[\w-]{10,255}|\bxapp-\d-[\w-]{10,255}|hooks\.slack\.com\/(?:services|workflows)\/[\w/-]{20,255}/g,
  /\b(?:AIza[\w-]{35}|ya29\.[\w-]{20,255}|GOCSPX-[\w-]{20,64}|1\/\/0[\w-]{30,255})/g,
  /\b(?:npm_[A-Za-z0-9]{36}|pypi-AgE[\w-]{50,1000}|rubygems_[a-f0-9]{48}|dckr_pat_[\w-]{20,64}|hf_[A-Za-z0-9]{30,64}|SG\.[\w-]{16,64}\.[\w-]{16,64})/g,
  /\b(?:do[opr]_v1_[a-f0-9]{64}|dapi[a-f0-9]{32}|dp\.(?:pt|st|ct|sa|scim|audit)\.\w{20,64}|lin_api_\w{30,64}|ntn_\w{30,64}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|ATATT3[\w=-]{60,255}|hvs\.[\w-]{20,255}|PMAK-[a-f0-9-]{40,64}|figd_[\w-]{30,64}|sq0[a-z]{3}-[\w-]{20,64}|EAA[A-Za-z0-9]{60,255}|SK[0-9a-f]{32}|key-[0-9a-f]{32}|NRAK-[A-Z0-9]{27}|glsa_\w{32,64}|sntrys_[\w+/=]{40,255}|tskey-[\w-]{20,80})\b/g,
  /\bdiscord(?:app)?\.com\/api\/webhooks\/\d{5,30}\/[\w-]{20,128}|\b\d{8,10}:AA[\w-]{32,36}\b|\b[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}\b/g,
];

const CREDENTIALS_IN_URL = /\b([a-z][a-z0-9+.-]{1,20}:\/\/)([^\s/@:"']{0,100}):([^\s/@"']{1,200})@/gi;
const BEARER = /\b(authorization\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token)\s+|bearer\s+)([\w.~+/=-]{12,4000})/gi;
const ASSIGNED =
  /\b([\w.-]{0,40}(?:api[_-]?key|secret|token|passw(?:or)?d|passphrase|pwd|credential|access[_-]?key|private[_-]?key|client[_-]?secret|account[_-]?key)[\w.-]{0,40}["']?\s{0,4}(?::=|=>|[:=])\s{0,4})(["']?)([^\s"',;<>(){}]{6,400})/gi;
const PLACEHOLDER =
  /^(?:[*x•.]+|\$\{?\w+\}?|%\w+%|process\.env\S*|os\.environ\S*|change_?me|your[_-]\S*|example\S*|placeholder|redacted|true|false|null|none|undefined|string|\[redacted\]|\d{1,6})$/i;
const LEAST_BITS_PER_CHAR = 2.6;

/** Takes out what looks like a secret, every value that is known to be one, and what these patterns match. */
export function redact(text: string, secrets: readonly string[], patterns: readonly RegExp[] = []): string {
  let clean = text;
  for (const pattern of patterns) clean = clean.replace(pattern, MASK);
  for (const secret of secrets) {
    if (secret.length >= LEAST_SECRET_CHARS && clean.includes(secret)) clean = clean.replaceAll(secret, MASK);
  }
  if (!MAYBE_SECRET.test(clean)) return clean;
  clean = redactKeyBlocks(clean);
  for (const pattern of PATTERNS) clean = clean.replace(pattern, MASK);
  return clean
    .replace(CREDENTIALS_IN_URL, `$1$2:${MASK}@`)
    .replace(BEARER, (whole, name: string, value: string) => (looksRandom(value) ? name + MASK : whole))
    .replace(ASSIGNED, (whole, name: string, quote: string, value: string) =>
      PLACEHOLDER.test(value) || !looksRandom(value) ? whole : name + quote + MASK,
    );
}

const KEY_OPENS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_CLOSES = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** Takes out private keys, also one that is cut off. Each part of the text is looked at once. */
function redactKeyBlocks(text: string): string {
  let clean = "";
  let from = 0;
  for (;;) {
    KEY_OPENS.lastIndex = from;
    const opens = KEY_OPENS.exec(text);
    if (!opens) return clean + text.slice(from);
    KEY_CLOSES.lastIndex = KEY_OPENS.lastIndex;
    const isClosed = KEY_CLOSES.test(text);
    clean += text.slice(from, opens.index) + MASK;
    if (!isClosed) return clean;
    from = KEY_CLOSES.lastIndex;
  }
}

/** The content with secrets taken out, if that changes anything. */
export function redactContent(
  content: Content,
  secrets: readonly string[],
  patterns: readonly RegExp[] = [],
): Pick<Content, "shared"> {
  const clean = (text: string): string => redact(text, secrets, patterns);
  const items = content.items.map((item) => redactItem(item, clean));
  const context = content.context === undefined ? undefined : clean(content.context);
  const isSame = context === content.context && items.every((item, index) => item === content.items[index]);
  return isSame ? {} : { shared: { items, ...(context !== undefined && { context }) } };
}

// One cheap look that lets almost all clean text through.
const MAYBE_SECRET =
  /-----BEGIN|askd_|eyJ|A(?:KIA|SIA|BIA|CCA|3T)|gh[pousr]_|github_pat|gl[a-z]{2,5}-|[srp]k[-_]|whs|xox|xapp|hooks\.|AIza|ya29|GOCSPX|1\/\/0|npm_|pypi-|rubygems|dckr|hf_|SG\.|do[opr]_v1|dapi|dp\.|lin_api|ntn_|shp|ATATT|hvs\.|PMAK|figd|sq0|EAA|SK[0-9a-f]|key-|NRAK|glsa|sntrys|tskey|webhooks|:AA|[MNO][\w-]{23}|:\/\/[^\s/@]{0,100}:|bearer|authorization|key|secret|token|passw|passphrase|pwd|credential/i;

function redactItem(item: Item, clean: (text: string) => string): Item {
  const text = clean(item.text);
  let isSame = text === item.text;
  const options = item.options.map((option) => {
    const label = clean(option.label);
    const description = option.description === undefined ? undefined : clean(option.description);
    const preview = option.preview === undefined ? undefined : clean(option.preview);
    if (label === option.label && description === option.description && preview === option.preview) return option;
    isSame = false;
    return {
      ...option,
      label,
      ...(description !== undefined && { description }),
      ...(preview !== undefined && { preview }),
    };
  });
  return isSame ? item : { ...item, text, options };
}

/** Words have little variety per character; keys have much. */
function looksRandom(value: string): boolean {
  const counts = new Map<string, number>();
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits >= LEAST_BITS_PER_CHAR;
}
