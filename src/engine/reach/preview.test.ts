import { expect, test } from "vitest";
import { Board } from "../../../test/channels/board-channel.ts";
import { Scene } from "../../../test/scene.ts";
import type { Channel, Recipient } from "../../core/channel/channel.ts";
import { withoutAddresses } from "../../core/channel/message-preview.ts";
import { SYSTEM } from "../../core/people/actor.ts";

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

test("a shared address gets what the preview shows: the named addresses, and who is mentioned", async () => {
  const board = new Board();
  const built: unknown[] = [];
  const channel: Channel = Object.assign(board, {
    build: (_message: unknown, { address, person, mention }: Recipient) => {
      built.push({ address, person, mention });
      return { text: "Redis or Memcached?", buttons: [], token: "" };
    },
  });
  const reach = ["email", "slack"].map((name) => ({ name, person: undefined, isPersonal: false, isShared: true }));
  const addresses = { email: ["ops@example.com"] };
  const scene = new Scene({ rules: { reach, addresses }, openChannel: () => Promise.resolve(channel) });
  await scene.engine.putPerson({ id: "lena", version: 0, groups: [], slack: "U1", email: "l@example.com" }, SYSTEM);
  const notify = [{ channel: "email", address: "ops@example.com" }, { channel: "slack" }];
  const { question } = await scene.ask({ to: ["lena"], notify });
  await scene.engine.previewMessages(question.id);
  const previewed = built.splice(0);
  expect(previewed).toEqual([
    { address: "ops@example.com", person: undefined, mention: ["l@example.com"] },
    { address: undefined, person: undefined, mention: ["U1"] },
  ]);
  await scene.pass(0);
  expect(built).toHaveLength(2);
  expect(built).toEqual(expect.arrayContaining(previewed));
});

test("credentials in buttons and addresses of people are not shown", () => {
  const actions = [{ url: "https://ntfy.example/secret-topic", headers: { Authorization: "Bearer tk_secret" } }];
  const shown = withoutAddresses({ topic: "secret-topic", to: ["ada@example.com"], text: "Deploy?", actions });
  expect(shown).toMatchObject({ text: "Deploy?", topic: "[hidden]" });
  expect(JSON.stringify(shown)).not.toMatch(/secret|ada@/);
});
