import { expect, test } from "vitest";
import { Scene } from "../../../test/scene.ts";
import { questionMessage } from "../../core/channel/message.ts";
import { fitMail, mailHtml } from "./mail-text.ts";

async function htmlOf(raw: Record<string, unknown>) {
  const scene = new Scene();
  const { question } = await scene.ask(raw);
  const message = questionMessage(await scene.engine.read(question.id), "t", scene.rules, "en");
  const { text, isWhole } = fitMail(message, "person");
  return mailHtml(text, message, { replyTo: "a+t@example.com", strength: "person", isWhole });
}

test("code is shown as code, blank lines and all, and the text around it as text", async () => {
  const html = await htmlOf({ context: "It is slow.\n```ts\nif (a < b) {\n\n  run();\n}\n```\nSee the log." });
  expect(html).toContain('<p class="text">It is slow.</p><pre class="code">if (a &lt; b) {\n\n  run();\n}</pre>');
  expect(html).toContain('<p class="text">See the log.</p>');
  expect(html).not.toContain("```");
});

test("a command that contains a code block is shown wholly", async () => {
  const command = "cat <<EOF\n```sh\nrm -rf /\n```\nEOF";
  const html = await htmlOf({ kind: "approval", tool: { name: "Bash", input: { command } } });
  expect(html).toContain('<pre class="code">cat &lt;&lt;EOF\n```sh\nrm -rf /\n```\nEOF</pre>');
});

test("an example of a reply stands on a line of its own, without a full stop", async () => {
  const items = [
    { text: "Which cache?", options: ["Redis", "Memcached"] },
    { text: "Which tests?", options: ["unit", "none"] },
  ];
  expect(await htmlOf({ items, question: undefined, options: undefined })).toContain(
    "like: 1A 2B<br>A reason may follow below it.",
  );
});

test("a fence with words behind it hides none of them", async () => {
  expect(await htmlOf({ context: "```sh rm -rf / is fine\nls\n```" })).toContain("```sh rm -rf / is fine");
});
