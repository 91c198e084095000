import { expect, test } from "vitest";
import { foreignLine, foreignMarkdown } from "./markdown.ts";

const J = "\u2060";

test.each([
  ["a mention", "ask @lena and @acme/ops", `ask @${J}lena and @${J}acme/ops`],
  ["an issue", "see #12, acme/api#3, GH-7", `see #${J}12, acme/api#${J}3, GH-${J}7`],
  ["a closing word", "fixes #12", `fixes #${J}12`],
  ["an address of an issue", "https://github.com/a/b/issues/1", "`https://github.com/a/b/issues/1`"],
  ["an image", "![x](https://evil/p.png)", `![x]${J}(https://evil/p.png)`],
  ["a link", "[here](https://evil)", `[here]${J}(https://evil)`],
  ["HTML", "</details><!-- askd v1 --><img src=x>", "&lt;/details>&lt;!-- askd v1 -->&lt;img src=x>"],
  ["an entity that becomes a mention", "&#64;lena", `&amp;#${J}64;lena`],
  ["a heading", "## Answered", "\\## Answered"],
  ["an underlined heading", "Answered\n===", "Answered\n\\==="],
  ["a box", "- [ ] A) mine", "- \\[ ] A) mine"],
  ["code between words", "use `a<b>` and \\`", "use `a<b>` and \\\\\\`"],
])("%s in foreign text is only text", (_name, text, shown) => {
  expect(foreignMarkdown(text)).toBe(shown);
});

test("a code block stays as it is, in a fence that nothing inside can end", () => {
  expect(foreignMarkdown("~~~js\n@decorator\n```\n## x\n~~~\n@lena")).toBe(
    `\`\`\`\`js\n@decorator\n\`\`\`\n## x\n\`\`\`\`\n@${J}lena`,
  );
  expect(foreignMarkdown("```\nnever ended @lena")).toBe("```\nnever ended @lena\n```");
});

test("one line stays one line", () => {
  expect(foreignLine(" a\n## b\u202e ")).toBe("a ## b\\\\u202e");
});

test("hostile text of any length is written in time", () => {
  for (const part of ["`", "-", "http://", "# ", "- [ ] ", "](", "> ", "~"]) {
    const startedMs = performance.now();
    foreignMarkdown(part.repeat(Math.ceil(64_000 / part.length)));
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  }
});
