import { describe, expect, test } from "vitest";
import { questionMessage } from "../../src/core/channel/message.ts";
import { Scene } from "../scene.ts";
import { allChannels } from "./all-channels.ts";

const MARK = /machine where askd runs/;

/** The message of one question in every channel, as JSON. */
async function wiresWith(publicUrl: string | undefined) {
  const scene = new Scene({ rules: { publicUrl } });
  const { question, ...read } = await scene.ask();
  const message = questionMessage({ question, ...read }, "T0KEN", scene.rules);
  const channels = await allChannels();
  const wires = channels.map(({ name, channel }) => {
    const wire = channel.build(message, { address: "42", person: "mika" });
    return { name, json: JSON.stringify(wire) };
  });
  return { id: question.id, wires };
}

describe("the link to a question", () => {
  test("leaves in no channel without a public address", async () => {
    const { id, wires } = await wiresWith(undefined);
    for (const { name, json } of wires) {
      expect({ name, json }).not.toMatchObject({ json: expect.stringContaining(`/q/${id}`) });
      expect({ name, json }).not.toMatchObject({ json: expect.stringMatching(MARK) });
    }
  });

  test("is that of the public address in every channel", async () => {
    const { id, wires } = await wiresWith("https://askd.example.com/");
    for (const { name, json } of wires) {
      expect({ name, json }).toMatchObject({ json: expect.stringContaining(`https://askd.example.com/q/${id}`) });
      expect({ name, json }).not.toMatchObject({ json: expect.stringMatching(MARK) });
    }
  });

  test.each(["http://localhost:4319", "http://127.0.0.1:4319", "http://[::1]:4319", "http://askd.localhost"])(
    "to %s says that it works on that machine only",
    async (publicUrl) => {
      const { id, wires } = await wiresWith(publicUrl);
      for (const { name, json } of wires) {
        expect({ name, json }).toMatchObject({ json: expect.stringContaining(`${publicUrl}/q/${id}`) });
        // The desktop is that machine, and programs read the address of a signed webhook.
        expect({ name, json }).toMatchObject({
          json: name === "desktop" ? expect.not.stringMatching(MARK) : expect.stringMatching(MARK),
        });
      }
    },
  );
});
