/** Elements that begin a new line. */
const BLOCKS = new Set(
  "address article aside blockquote center dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main ol p pre section table tbody tfoot thead tr ul".split(
    " ",
  ),
);
/** Elements whose content nobody sees. */
const UNSEEN = new Set(["head", "style", "script", "title", "noscript", "template"]);
const VOID = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
/** How mail programs mark what they quote: by class, or by id. */
const QUOTES =
  /(?:^|\s)(?:gmail_quote(?:_container)?|gmail_attr|gmail_extra|moz-cite-prefix|yahoo_quoted|protonmail_quote|tutanota_quote|zmail_extra|ms-outlook-mobile-reference-message|OutlookMessageHeader|WordSection1Quote|mail_quote|quoted-text|fm-quote|airmail_on|bloop_original_html|hey-quote|edo-original|front-blockquote|intercom_quote|uplg_quoted)(?:\s|$)/i;
const QUOTE_IDS =
  /^(?:x_)?(?:appendonsend|divRplyFwdMsg|mail-editor-reference-message-container|yahoo_quoted.*|isForwardContent|OLK_SRC_BODY_SECTION|reply-intro|origbody|replySplit|bloop_customfont_quote|ms-outlook-mobile-body-separator-line)$/i;
/** Everything after these is what was answered; they are empty, or their siblings are the quoted mail. */
const ENDS = /^(?:x_)?(?:appendonsend|divRplyFwdMsg|ms-outlook-mobile-body-separator-line|OLK_SRC_BODY_SECTION)$/i;
const SIGNATURES =
  /(?:^|\s)(?:gmail_signature|gmail_signature_prefix|moz-signature|protonmail_signature_block|ms-outlook-mobile-signature|x_ms-outlook-mobile-signature)(?:\s|$)/i;
const SIGNATURE_IDS =
  /^(?:x_)?(?:Signature|ms-outlook-mobile-signature|AppleMailSignature|composer_signature|DAB4FAD8-2DD7-40BB-A1B8-4E2AA1F9FDF2)$/i;
const MOST_DEPTH = 500;
const MOST_CHARS = 500_000;

interface OpenElement {
  name: string;
  isDropped: boolean;
}

/** A comment, a tag, or the text between them. */
const PIECE =
  /(<!--[\s\S]*?(?:-->|$)|<!\[[^>]*>|<[/!?]?[a-z](?:"[^"]{0,4000}"|'[^']{0,4000}'|[^'"<>]){0,4000}>)|([^<]+|<)/gi;

/** The text of a mail in HTML as a person would see it, without what mail programs mark as quoted or as a signature. */
export function htmlToText(html: string): string {
  const writer = new TextWriter();
  for (const [, tag, content = ""] of html.slice(0, MOST_CHARS).matchAll(PIECE)) {
    if (tag === undefined) writer.write(content);
    else if (tag.startsWith("</")) writer.close(nameOf(tag));
    else if (!/^<[!?]/.test(tag) && !writer.open(nameOf(tag), tag)) break;
  }
  return writer.text
    .replace(/[ \t]+\n/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** Writes text while elements open and close around it. */
class TextWriter {
  text = "";
  readonly #open: OpenElement[] = [];
  #dropped = 0;
  #pre = 0;

  write(content: string) {
    if (this.#dropped > 0) return;
    const plain = decodeEntities(this.#pre > 0 ? content : content.replace(/[ \t\r\n\f]+/g, " "));
    const startsLine = this.text === "" || this.text.endsWith("\n");
    this.text += startsLine && this.#pre === 0 ? plain.trimStart() : plain;
  }

  /** Opens an element; false if everything from here on is quoted. */
  open(name: string, tag: string): boolean {
    if (isEnd(tag) && this.#dropped === 0 && this.text.trim() !== "") return false;
    if (name === "br" && this.#dropped === 0) this.text += "\n";
    // Word writes each line as a paragraph, and an empty line as one of its own.
    const isParagraph = name === "p" && attribute(tag, "class") !== "MsoNormal";
    if (BLOCKS.has(name)) this.#breakLine(isParagraph ? 2 : 1);
    if (name === "li" && this.#dropped === 0) this.text += "- ";
    if (VOID.has(name) || tag.endsWith("/>") || this.#open.length >= MOST_DEPTH) return true;
    const isDropped = isLeftOut(name, tag);
    if (isDropped) this.#dropped += 1;
    if (name === "pre") this.#pre += 1;
    this.#open.push({ name, isDropped });
    return true;
  }

  close(name: string) {
    const at = this.#open.findLastIndex((element) => element.name === name);
    if (at < 0) return;
    for (const element of this.#open.splice(at).toReversed()) {
      if (element.isDropped) this.#dropped -= 1;
      if (element.name === "pre") this.#pre -= 1;
      if (BLOCKS.has(element.name)) this.#breakLine(1);
    }
  }

  #breakLine(lines: number) {
    if (this.#dropped > 0 || this.text === "") return;
    for (let count = 1; count <= lines; count += 1) {
      if (!this.text.endsWith("\n".repeat(count))) this.text += "\n";
    }
  }
}

function nameOf(tag: string) {
  return /^<\/?([a-z][\w:-]*)/i.exec(tag)?.[1]?.toLowerCase() ?? "";
}

function isLeftOut(name: string, tag: string) {
  if (UNSEEN.has(name)) return true;
  if (name === "blockquote") return true;
  const classes = attribute(tag, "class");
  const id = attribute(tag, "id");
  return QUOTES.test(classes) || QUOTE_IDS.test(id) || SIGNATURES.test(classes) || SIGNATURE_IDS.test(id);
}

/** Outlook sets what it quotes apart by a line above it, without an element around it. */
function isEnd(tag: string) {
  if (ENDS.test(attribute(tag, "id"))) return true;
  const style = attribute(tag, "style").replace(/\s/g, "").toLowerCase();
  return /border:none;border-top:solid#(?:e1e1e1|b5c4df)1\.0pt;padding:3\.0pt0/.test(style);
}

function attribute(tag: string, name: string) {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, "i").exec(tag);
  return found?.[1] ?? found?.[2] ?? found?.[3] ?? "";
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  hellip: "…",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  bull: "•",
  bdquo: "„",
  sbquo: "‚",
  middot: "·",
  euro: "€",
  copy: "©",
  reg: "®",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  eacute: "é",
  egrave: "è",
  ecirc: "ê",
  agrave: "à",
  acirc: "â",
  ccedil: "ç",
  ocirc: "ô",
  ucirc: "û",
  ugrave: "ù",
  icirc: "î",
  iuml: "ï",
  oelig: "œ",
  aacute: "á",
  iacute: "í",
  oacute: "ó",
  uacute: "ú",
  ntilde: "ñ",
  iquest: "¿",
  iexcl: "¡",
  atilde: "ã",
  otilde: "õ",
  aring: "å",
  oslash: "ø",
  aelig: "æ",
  Eacute: "É",
  Agrave: "À",
  zwnj: "",
  zwj: "",
  shy: "",
};

function decodeEntities(text: string) {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]+\d*);?/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10_ff_ff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : "";
  });
}
