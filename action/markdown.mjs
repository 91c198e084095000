// Markdown of the workflow or its agent in a comment: code stays code, and everything else is only text.
import { escaped } from "./runner.mjs";

const FENCE_START = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]{0,30})/;

export function foreignMarkdown(text) {
  return splitCode(text.replaceAll("\r\n", "\n"))
    .map(({ lines, language }) => (language === undefined ? lines.map(prose).join("\n") : codeBlock(lines, language)))
    .join("\n");
}

/** The parts of a text: prose, or a block of code in a language. A block that nobody ends lasts to the end. */
function splitCode(text) {
  const parts = [{ lines: [] }];
  let fence;
  for (const line of text.split("\n")) {
    const [, start, language] = FENCE_START.exec(line) ?? [];
    const isEnd = fence !== undefined && line.trim().startsWith(fence) && /^(`+|~+)$/.test(line.trim());
    if (isEnd) {
      fence = undefined;
      parts.push({ lines: [] });
    } else if (fence === undefined && start !== undefined) {
      fence = start;
      parts.push({ lines: [], language });
    } else parts.at(-1).lines.push(line);
  }
  return parts.filter(({ lines, language }) => lines.length > 0 || language !== undefined);
}

/** Without its indentation, which would make code of it; a line of = would make a heading of the line above. */
function prose(line) {
  return escaped(line.trim()).replace(/^=/, "\\=");
}

/** A fence is longer than any inside of the block, so that nothing in it ends it. */
function codeBlock(lines, language) {
  const code = lines.join("\n").replace(/(?![\n\t])\p{Cc}/gu, " ");
  const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}
