import { expect, test } from "vitest";
import { OUTBOUND } from "../../../test/channels/loopback-server.ts";
import { MAIL_SETTINGS } from "../../../test/channels/mail-settings.ts";
import { Scene } from "../../../test/scene.ts";
import { questionMessage } from "../../core/channel/message.ts";
import { emailChannel } from "./email.ts";

test("a mail to a person who reads German has no English sentence of ours", async () => {
  const scene = new Scene();
  const channel = emailChannel(MAIL_SETTINGS, OUTBOUND);
  for (const risk of ["low", "high"] as const) {
    const { question } = await scene.ask({ question: "Welcher Port?", options: ["80", "443"], risk, timeout: "2h" });
    const message = questionMessage(await scene.engine.read(question.id), "t", scene.rules, "de");
    const mail = String(channel.build(message, { address: "lena@example.com" })["text"]);
    expect(mail).toContain("Antworten Sie mit");
    expect(mail).not.toMatch(/\b(?:reply|answer with|reason|cannot|below|then it)\b/i);
  }
});
