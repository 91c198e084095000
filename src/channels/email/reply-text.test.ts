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
type Replies = z.infer<typeof Corpus>["replies"];
const LEAST_EXACT = 0.94;
const LEAST_FIRST_LINE = 0.99;

/** A corpus of replies; the wider one was written without a look at the code that reads them. */
function readCorpus(name: string) {
  const file = new URL(`../../../test/fixtures/mail/${name}.json`, import.meta.url);
  return Corpus.parse(JSON.parse(readFileSync(file, "utf8")));
}

function extract({ text, html, sender }: Replies[number], sent: string) {
  return extractReply({ text: text ?? htmlToText(html ?? ""), senderName: sender, sent: sent.split("\n") });
}

/** Counts how many replies are read exactly, and with the right first line. */
function measure(name: string) {
  const { sent, replies } = readCorpus(name);
  const results = replies.map((reply) => ({ reply, said: extract(reply, sent) }));
  const exact = results.filter(({ reply, said }) => said === reply.expected.trim());
  const firstLine = results.filter(({ reply, said }) => said.split("\n")[0] === reply.expected.trim().split("\n")[0]);
  const programs = new Set(replies.map(({ program }) => program)).size;
  const languages = new Set(replies.map(({ language }) => language)).size;
  const share = (part: readonly unknown[]) => part.length / replies.length;
  process.stdout.write(
    `${name}: ${replies.length} replies, ${programs} programs, ${languages} languages: ` +
      `${(share(exact) * 100).toFixed(1)} % exact, ${(share(firstLine) * 100).toFixed(1)} % right first line\n`,
  );
  const wrong = results.filter(({ reply, said }) => said !== reply.expected.trim());
  for (const { reply, said } of wrong) process.stdout.write(`  ${reply.name}: ${JSON.stringify(said.slice(0, 200))}\n`);
  return { count: replies.length, programs, languages, exact: share(exact), firstLine: share(firstLine) };
}

test("the words of a person are found in replies of many mail programs and languages", () => {
  const { count, programs, languages, exact, firstLine } = measure("replies");
  expect(count).toBeGreaterThanOrEqual(120);
  expect(programs).toBeGreaterThanOrEqual(12);
  expect(languages).toBeGreaterThanOrEqual(8);
  expect(exact).toBeGreaterThanOrEqual(LEAST_EXACT);
  expect(firstLine).toBeGreaterThanOrEqual(LEAST_FIRST_LINE);
});

test("they are found in forms that nobody had in mind: other programs, languages, bottom posting, forwarded mail", () => {
  const { count, exact, firstLine } = measure("wider-replies");
  expect(count).toBeGreaterThanOrEqual(60);
  expect(exact).toBeGreaterThanOrEqual(LEAST_EXACT);
  expect(firstLine).toBeGreaterThanOrEqual(LEAST_FIRST_LINE);
});
