const FENCE = /^```[ \t]*([\w+#-]*)[^\n`]*\n([\s\S]*?)\n?^```[ \t]*$/gm;
const INLINE = /`([^`\n]+)`/g;

/** Writes a text in the HTML of the Bot API: the first line bold, code as code. Tags do not count in its limit. */
export function formatHtml(text: string): string {
  const end = text.indexOf("\n");
  const first = end < 0 ? text : text.slice(0, end);
  // A text that begins with code has no title of its own.
  if (first.startsWith("```")) return formatCode(text);
  const title = `<b>${escapeHtml(first)}</b>`;
  return end < 0 ? title : `${title}${formatCode(text.slice(end))}`;
}

/** Blocks between fences become blocks of code; everything else is only text. */
function formatCode(text: string) {
  const parts: string[] = [];
  let at = 0;
  for (const fence of text.matchAll(FENCE)) {
    const [whole, language = "", code = ""] = fence;
    parts.push(formatInline(text.slice(at, fence.index)), codeBlock(language, code));
    at = fence.index + whole.length;
  }
  return [...parts, formatInline(text.slice(at))].join("");
}

function codeBlock(language: string, code: string) {
  if (code === "") return "";
  const text = escapeHtml(code);
  return language === "" ? `<pre>${text}</pre>` : `<pre><code class="language-${language}">${text}</code></pre>`;
}

function formatInline(text: string) {
  return escapeHtml(text).replace(INLINE, "<code>$1</code>");
}

/** Only these three characters have a meaning. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
