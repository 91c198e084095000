import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { htmlToText } from "./html-text.ts";
import { extractReply } from "./reply-text.ts";

const Corpus = z.object({
  sent: z.string(),
  replies: z.array(
    z.object({
      name: z.string(),
      program: z.string(),
      language: z.string(),
      sender: z.string(),
      text: z.string().optional(),
      html: z.string().optional(),
      expected: z.string(),
    }),
  ),
});
const FILE = new URL("../../../test/fixtures/mail/replies.json", import.meta.url);
const { sent, replies } = Corpus.parse(JSON.parse(readFileSync(FILE, "utf8")));
const LEAST_EXACT = 0.94;
const LEAST_FIRST_LINE = 0.99;

function extract({ text, html, sender }: (typeof replies)[number]) {
  return extractReply({ text: text ?? htmlToText(html ?? ""), senderName: sender, sent: sent.split("\n") });
}

test("the words of a person are found in replies of many mail programs and languages", () => {
  const results = replies.map((reply) => ({ reply, said: extract(reply) }));
  const exact = results.filter(({ reply, said }) => said === reply.expected.trim());
  const firstLine = results.filter(({ reply, said }) => said.split("\n")[0] === reply.expected.trim().split("\n")[0]);
  const programs = new Set(replies.map(({ program }) => program)).size;
  const languages = new Set(replies.map(({ language }) => language)).size;
  const share = (part: readonly unknown[]) => part.length / replies.length;
  process.stdout.write(
    `${replies.length} replies, ${programs} programs, ${languages} languages: ` +
      `${(share(exact) * 100).toFixed(1)} % exact, ${(share(firstLine) * 100).toFixed(1)} % right first line\n`,
  );
  const wrong = results.filter(({ reply, said }) => said !== reply.expected.trim());
  for (const { reply, said } of wrong) process.stdout.write(`  ${reply.name}: ${JSON.stringify(said.slice(0, 200))}\n`);
  expect(replies.length).toBeGreaterThanOrEqual(120);
  expect(programs).toBeGreaterThanOrEqual(12);
  expect(languages).toBeGreaterThanOrEqual(8);
  expect(share(exact)).toBeGreaterThanOrEqual(LEAST_EXACT);
  expect(share(firstLine)).toBeGreaterThanOrEqual(LEAST_FIRST_LINE);
});
