import { describe, expect, test } from "vitest";
import { renderMarkdown, splitContext } from "./markdown.tsx";

describe("what an agent writes", () => {
  test.each([
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "![pixel](https://evil.example/pixel.png)",
    "[click](javascript:alert(1))",
    "[click](data:text/html;base64,PHNjcmlwdD4=)",
    "[click](vbscript:x)",
    "<svg/onload=alert(1)>",
    "[a]: javascript:alert(1)\n\n[a]",
    "`<b onclick=x>`",
    "```html\n</code></pre><script>alert(1)</script>\n```",
    "<javascript:alert(1)>",
  ])("runs nothing and loads nothing: %j", (text) => {
    const html = renderMarkdown(text);
    expect(html).not.toMatch(/<(script|img|svg|iframe|b )|href="(javascript|data|vbscript)/i);
    expect(html.replace(/&lt;[^]*?&gt;|<code>[^]*?<\/code>/g, "")).not.toMatch(/<[^>]+\son\w+=/i);
  });

  test("has links that show where they lead and take nothing along", () => {
    expect(renderMarkdown("[plan](https://example.com/a)")).toBe(
      '<p><a href="https://example.com/a" rel="noopener noreferrer nofollow">plan <span class="host">(example.com)</span></a></p>\n',
    );
  });

  test("cannot hide what it is: direction marks and invisible signs are shown", () => {
    expect(renderMarkdown("safe\u202egnp.exe")).toContain("\\u202e");
  });

  test("has no headings of its own beside those of the page", () => {
    expect(renderMarkdown("# Big")).not.toContain("<h1");
  });
});

describe("the context of a question", () => {
  test("stands whole when it is short", () => {
    expect(splitContext("Short.\n\nTwo lines.")).toEqual({ lead: "Short.\n\nTwo lines.", rest: "" });
  });

  test("has its first paragraph in view when it is long", () => {
    const rest = "more\n\n".repeat(20).trim();
    expect(splitContext(`Why.\n\n${rest}`)).toEqual({ lead: "Why.", rest });
  });

  test("is not cut inside code or a list", () => {
    const text = `- one\n- two\n\n${"more\n\n".repeat(20)}`.trim();
    expect(splitContext(text)).toEqual({ lead: "", rest: text });
  });
});
