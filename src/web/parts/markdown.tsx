import { raw } from "hono/html";
import Markdown, { type MarkdownIt } from "markdown-it";
import { makeVisible } from "../../core/text/visible.ts";

// Browsers resolve `https:path` against our own origin, so the slashes are required.
const ALLOWED = /^(https?:\/\/|mailto:)/i;

/** Text of an agent, rendered as Markdown in a box of its own; what an approval allows wraps instead of being cut. */
export function MarkdownText({ text, isAllowed = false }: { text: string; isAllowed?: boolean }) {
  return <div class={isAllowed ? "md allows" : "md"}>{raw(renderMarkdown(text))}</div>;
}

/** Renders untrusted Markdown: no raw HTML, no images, and links show their host. */
export function renderMarkdown(text: string): string {
  return markdown().render(makeVisible(text));
}

/** Splits a context into the lead that is shown and the rest that is folded. */
export function splitContext(text: string): { lead: string; rest: string } {
  const whole = text.trim();
  if (whole.length <= LEAD_CHARS && whole.split("\n").length <= LEAD_LINES) return { lead: whole, rest: "" };
  const end = whole.search(/\n\s*\n/);
  const first = end < 0 ? whole : whole.slice(0, end);
  // Never cut a list, a table or code.
  const isPlain = /^[\p{L}\p{N}"“'(]/u.test(first) && !/^\d+[.)]\s/.test(first) && !first.includes("```");
  if (end < 0 || first.length > LEAD_CHARS || !isPlain) return { lead: "", rest: whole };
  return { lead: first, rest: whole.slice(end).trim() };
}

const LEAD_CHARS = 420;
const LEAD_LINES = 6;
let made: MarkdownIt | undefined;

function markdown() {
  if (made) return made;
  made = new Markdown({ html: false, linkify: false, typographer: false, maxNesting: 30 });
  made.disable(["image"]);
  made.validateLink = (url) => ALLOWED.test(url.trim());
  const hosts: string[] = [];
  made.renderer.rules["link_open"] = (tokens, index, options, _env, renderer) => {
    const token = tokens[index];
    token?.attrSet("rel", "noopener noreferrer nofollow");
    hosts.push(hostOf(String(token?.attrGet("href") ?? "")));
    return renderer.renderToken(tokens, index, options);
  };
  made.renderer.rules["link_close"] = () => {
    const host = hosts.pop() ?? "";
    return host === "" ? "</a>" : ` <span class="host">(${escapeHtml(host)})</span></a>`;
  };
  made.renderer.rules["table_open"] = () => '<div class="scroll" tabindex="0"><table>';
  made.renderer.rules["table_close"] = () => "</table></div>";
  const fence = (content: string) => `<pre tabindex="0"><code>${escapeHtml(content)}</code></pre>\n`;
  made.renderer.rules["fence"] = (tokens, index) => {
    const { content = "", info = "" } = tokens[index] ?? {};
    return info.trim() === "diff"
      ? `<pre class="diff" tabindex="0"><code>${markDiff(content)}</code></pre>\n`
      : fence(content);
  };
  made.renderer.rules["code_block"] = (tokens, index) => fence(tokens[index]?.content ?? "");
  // Headings in agent text must not enter the page's outline.
  made.renderer.rules["heading_open"] = () => '<p class="heading"><strong>';
  made.renderer.rules["heading_close"] = () => "</strong></p>";
  return made;
}

const DIFF_CLASS: Readonly<Record<string, string>> = { "-": "d", "+": "a", "@": "h", "*": "f" };

const HUNK = /^@@ -(\d{1,9}),\d+ \+(\d{1,9}),\d+ @@/;

/**
 * The lines of a diff, with their signs: colour is not the only mark. Below a line that says where they are, they have
 * numbers: those of the old file for removed lines, of the new file for all others.
 */
function markDiff(content: string) {
  const lines = content.replace(/\n$/, "").split("\n");
  let next: { old: number; new: number } | undefined;
  return lines
    .map((line) => {
      const sign = DIFF_CLASS[line.charAt(0)] ?? "";
      const hunk = sign === "h" ? HUNK.exec(line) : undefined;
      const number = sign === "h" || sign === "f" || !next ? undefined : sign === "d" ? next.old : next.new;
      if (next && number !== undefined) {
        if (sign !== "a") next.old += 1;
        if (sign !== "d") next.new += 1;
      }
      if (sign === "h") next = hunk ? { old: Number(hunk[1]), new: Number(hunk[2]) } : undefined;
      const mark = number === undefined ? "" : ` data-line="${number}"`;
      return `<span class="${sign}"${mark}>${escapeHtml(line) || " "}</span>`;
    })
    .join("");
}

function hostOf(href: string) {
  try {
    const url = new URL(href);
    return url.protocol === "mailto:" ? url.pathname : url.host;
  } catch {
    return ""; // a relative address has no host
  }
}

function escapeHtml(text: string) {
  return text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign] ?? sign);
}
