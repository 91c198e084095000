import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { Board } from "../../../test/channels/board-channel.ts";
import { Scene, said } from "../../../test/scene.ts";
import { idsFrom } from "../../core/id.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { Decider } from "../decide.ts";
import { receiveReply } from "./receive.ts";

async function aScene() {
  const board = new Board("telegram");
  const reach = [{ name: "telegram", person: undefined, isPersonal: true }];
  const ids = idsFrom(Date.now, randomBytes);
  const scene = new Scene({ rules: { reach }, openChannel: board.open, ids });
  await scene.engine.putPerson({ id: "lena", version: 0, groups: [], telegram: "7", language: "de" }, SYSTEM);
  const { question } = await scene.ask({ allow_text: false });
  await scene.pass(0);
  const decider = new Decider({ store: scene.store, ids, rules: scene.rules, now: () => scene.now });
  const people = { pairTelegram: () => Promise.reject(new Error("nobody pairs")) };
  const responses: string[] = [];
  const channel = Object.assign(Object.create(board) as Board, {
    respond: (_to: string, text: string) =>
      Promise.resolve(void responses.push(text)).then(() => ({ ok: true }) as const),
  });
  const reply = (key: string, text: string) =>
    receiveReply({ store: scene.store, decider, questions: scene.engine, people }, channel, {
      key,
      from: "7",
      outside: [...board.messages.keys()][0],
      text,
      respondTo: "7",
    });
  return { scene, question, reply, responses };
}

test("an invalid and a late reply are told so in the language of the person", async () => {
  const { scene, question, reply, responses } = await aScene();
  await reply("1", "Postgres");
  expect(responses).toEqual([
    "„Postgres“ ist keine der Optionen. Zur Auswahl stehen: 1 Redis, 2 Memcached. Antworten Sie mit A oder B.",
  ]);
  await scene.engine.answer(question.id, said("1"), ADA);
  await reply("2", "B");
  expect(responses[1]).toMatch(/^ada hat vor \S+ bereits geantwortet/);
});
