import { describe, expect, test } from "vitest";
import { MemoryMailbox } from "./memory-mailbox.ts";

describe("a reply counts although our own question begins like the subject of an automatic one", () => {
  test.each([
    ["Re: ", "Vacation table: keep or drop?"],
    ["Re: ", "Undeliverable mails: retry or drop?"],
    ["Re: ", "Invitation: resend or expire?"],
    ["Re: ", "Read: stream or buffer?"],
    ["AW: ", "Termin: heute oder morgen?"],
    ["Re: ", "OOO days: count them?"],
    ["RE: Fwd: ", "Away from mutable state?"],
    ["Antw: ", "Abwesenheit: in Tagen oder Stunden?"],
  ])("%s%s", async (prefix, question) => {
    const mailbox = await MemoryMailbox.open();
    const id = await mailbox.ask({ question });
    await mailbox.reply("A", { subject: `${prefix}${mailbox.last.subject}` });
    expect((await mailbox.scene.engine.read(id)).question.status).toBe("answered");
  });
});

test.each([
  "Automatic reply: Vacation table: keep or drop?",
  "Re: Vacation until Monday",
  "Vacation",
  "AW: Abwesenheit",
])("an automatic reply to such a question is none, and is not answered: %s", async (subject) => {
  const mailbox = await MemoryMailbox.open();
  const id = await mailbox.ask({ question: "Vacation table: keep or drop?", allow_text: true });
  const count = mailbox.sent.length;
  await mailbox.reply("A", { subject });
  expect((await mailbox.scene.engine.read(id)).question.status).toBe("pending");
  expect(mailbox.sent).toHaveLength(count);
});

test("a reply that the server says is forged is recorded once and not taken, and the person's own still counts", async () => {
  const mailbox = await MemoryMailbox.open({ authserv: "mx.askd.test" });
  const { engine } = mailbox.scene;
  const id = await mailbox.ask();
  const received = "Received: from x by mx.askd.test (Postfix) with ESMTPS id 1; Mon, 16 Nov 2026 15:12:09 +0000";
  const results = "Authentication-Results: mx.askd.test; dmarc=";
  for (let times = 0; times < 12; times += 1)
    await mailbox.reply("A", { above: [`${results}fail header.from=people.test`, received] });
  const { question, run } = await engine.read(id);
  expect(question.status).toBe("pending");
  const refused = (await engine.readChain(run.id)).flatMap(({ event }) =>
    event.type === "question.refused" ? [event] : [],
  );
  expect(refused).toMatchObject([
    {
      by: { id: "email", strength: "none" },
      detail: { tried: "The server says that a reply in the name of mika is forged; it was not taken" },
    },
  ]);
  expect(mailbox.sent).toHaveLength(1);
  await mailbox.reply("B", { above: [`${results}pass header.from=people.test`, received] });
  expect((await engine.read(id)).question).toMatchObject({ answer: { by: { id: "mika", strength: "person" } } });
});

test("a claim and a snooze by mail are done without a mail; what is unclear gets one", async () => {
  const mailbox = await MemoryMailbox.open();
  const id = await mailbox.ask({ allow_text: false });
  const question = mailbox.last;
  for (const text of ["claim", "snooze 2h", "snooze"]) await mailbox.reply(text);
  const read = async () => (await mailbox.scene.engine.read(id)).question;
  expect(await read()).toMatchObject({ claim: { by: { id: "mika" } }, snoozedUntil: "2026-01-01T13:00:00.000Z" });
  expect(mailbox.sent).toEqual([question]);
  await mailbox.reply("perhaps");
  expect(mailbox.sent).toHaveLength(2);
});
