import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import type { QuestionMessage } from "../../core/channel/message.ts";
import { testMessage } from "../../core/channel/test-message.ts";
import { isFromProgram } from "./automatic-mail.ts";
import { type IncomingMail, readIncoming } from "./incoming-mail.ts";

const Mails = z.array(z.object({ name: z.string(), raw: z.string(), failed: z.boolean() }));
const FILE = new URL("../../../test/fixtures/mail/automatic.json", import.meta.url);
const mails = Mails.parse(JSON.parse(readFileSync(FILE, "utf8")));
const TOKEN = "4f0c9a7e21d84b56a3c1e8f7029b6d5e";
const SETTINGS = {
  own: { local: "answers", domain: "askd.example" },
  authserv: undefined,
  removesForgedResults: false,
};

/** The mails of the fixtures are about this question. */
const ABOUT: QuestionMessage = { ...testMessage(), title: "Out of memory?" };

function isAnswer(mail: IncomingMail) {
  return mail.kind === "reply" && !isFromProgram(mail.reply, ABOUT);
}

test("no automatic mail is taken for an answer, and a bounce names the message that came back", async () => {
  expect(mails.length).toBeGreaterThanOrEqual(80);
  const read = await Promise.all(
    mails.map(async ({ raw, ...mail }) => ({ ...mail, is: await readIncoming(raw, SETTINGS) })),
  );
  expect(read.filter(({ is }) => isAnswer(is)).map(({ name }) => name)).toEqual([]);
  const failed = read.filter(({ is }) => is.kind === "failure");
  expect(failed.map(({ name }) => name)).toEqual(
    mails.filter(({ failed: isFailed }) => isFailed).map(({ name }) => name),
  );
  for (const { is } of failed) {
    expect(is).toMatchObject({ failure: { token: TOKEN, why: expect.stringMatching(/^the mail came back/) } });
    expect(JSON.stringify(is)).not.toContain("mika.lind@");
  }
});

test("the same mail from a person is an answer", async () => {
  const raw = `From: Mika <mika@example.com>\r\nTo: answers+${TOKEN}@askd.example\r\nSubject: Re: Out of memory?\r\nMessage-ID: <1@x>\r\n\r\nA\r\n`;
  expect(await readIncoming(raw, SETTINGS)).toMatchObject({
    kind: "reply",
    reply: { token: TOKEN, from: "mika@example.com", text: "A\n", strength: "bearer" },
  });
});

test.each([
  ["In-Reply-To", `In-Reply-To: <q.${TOKEN}@askd.example>`],
  ["References", `References: <run.r_1@askd.example> <q.${TOKEN}.reminder-1@askd.example>`],
])("without a tagged address the token is found in %s", async (_name, header) => {
  const raw = `From: mika@example.com\r\nTo: answers@askd.example\r\n${header}\r\nMessage-ID: <1@x>\r\n\r\nA\r\n`;
  expect(await readIncoming(raw, SETTINGS)).toMatchObject({ kind: "reply", reply: { token: TOKEN } });
});

test("attached files are named, pictures of a signature are not", async () => {
  const raw = `From: mika@example.com\r\nTo: answers+${TOKEN}@askd.example\r\nMessage-ID: <1@x>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=M\r\n\r\n--M\r\nContent-Type: text/plain\r\n\r\nA\r\n--M\r\nContent-Type: application/pdf; name=plan.pdf\r\nContent-Disposition: attachment; filename=plan.pdf\r\n\r\nxx\r\n--M\r\nContent-Type: image/png; name=logo.png\r\nContent-Disposition: inline; filename=logo.png\r\nContent-ID: <logo>\r\n\r\nxx\r\n--M--\r\n`;
  expect(await readIncoming(raw, SETTINGS)).toMatchObject({ kind: "reply", reply: { attached: ["plan.pdf"] } });
});
