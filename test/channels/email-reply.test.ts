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
