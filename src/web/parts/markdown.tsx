import Markdown, { type MarkdownIt } from "markdown-it";
import { makeVisible } from "../../core/text/visible.ts";

// Without its slashes an address is one of our own pages, whatever it looks like.
const ALLOWED = /^(https?:\/\/|mailto:)/i;

/** Foreign Markdown as HTML: no HTML of its own, no pictures from elsewhere, and links that show where they lead. */
export function renderMarkdown(text: string): string {
  return markdown().render(makeVisible(text));
}

/** The beginning that can stand in view, and the rest that is shown when asked for. */
export function splitContext(text: string): { lead: string; rest: string } {
  const whole = text.trim();
  if (whole.length <= LEAD_CHARS && whole.split("\n").length <= LEAD_LINES) return { lead: whole, rest: "" };
  const end = whole.search(/\n\s*\n/);
  const first = end < 0 ? whole : whole.slice(0, end);
  // A list, a table or code is not cut into pieces.
  const isPlain = /^[\p{L}\p{N}"“'(]/u.test(first) && !/^\d+[.)]\s/.test(first) && !first.includes("```");
  if (end < 0 || first.length > LEAD_CHARS || !isPlain) return { lead: "", rest: whole };
  return { lead: first, rest: whole.slice(end).trim() };
}

const LEAD_CHARS = 420;
const LEAD_LINES = 6;
let made: MarkdownIt | undefined;

function markdown(): MarkdownIt {
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
  const fence = (content: string): string => `<pre tabindex="0"><code>${escapeHtml(content)}</code></pre>\n`;
  made.renderer.rules["fence"] = (tokens, index) => fence(tokens[index]?.content ?? "");
  made.renderer.rules["code_block"] = (tokens, index) => fence(tokens[index]?.content ?? "");
  // The page has its own headings; those of an agent are below them.
  made.renderer.rules["heading_open"] = () => '<p class="heading"><strong>';
  made.renderer.rules["heading_close"] = () => "</strong></p>";
  return made;
}

function hostOf(href: string): string {
  try {
    const url = new URL(href);
    return url.protocol === "mailto:" ? url.pathname : url.host;
  } catch {
    return ""; // not an address that leads anywhere
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign] ?? sign);
}
