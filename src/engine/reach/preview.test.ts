import { expect, test } from "vitest";
import { Board } from "../../../test/channels/board-channel.ts";
import { Scene } from "../../../test/scene.ts";
import { withoutAddresses } from "../../core/channel/message-preview.ts";

test("what each channel would get is shown with no token that answers, and nothing is sent", async () => {
  const board = new Board();
  const reach = [{ name: "board", person: "ada", isPersonal: false }];
  const scene = new Scene({ rules: { reach }, openChannel: board.open });
  const { question } = await scene.ask();
  const [preview] = await scene.engine.previewMessages(question.id);
  expect(preview).toMatchObject({ channel: "board", person: "ada", message: { token: "0".repeat(32) } });
  expect(board.calls).toEqual([]);
  await scene.pass(0);
  expect(board.only.text).toBe(preview?.message?.["text"]);
  expect(board.only.token).not.toBe(preview?.message?.["token"]);
});

test("credentials in buttons and addresses of people are not shown", () => {
  const actions = [{ url: "https://ntfy.example/secret-topic", headers: { Authorization: "Bearer tk_secret" } }];
  const shown = withoutAddresses({ topic: "secret-topic", to: ["ada@example.com"], text: "Deploy?", actions });
  expect(shown).toMatchObject({ text: "Deploy?", topic: "[hidden]" });
  expect(JSON.stringify(shown)).not.toMatch(/secret|ada@/);
});
