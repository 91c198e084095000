import { expect, test } from "vitest";
import { ADA } from "../../../../test/builders.ts";
import { Board } from "../../../../test/channels/board-channel.ts";
import { Scene, said } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

const REACH = { reach: [{ name: "board", person: undefined, isPersonal: false }] };

test("who was told of a closed question is shown, also that its message could not be changed", async () => {
  const board = new Board();
  const scene = new Scene({ rules: REACH, openChannel: board.open });
  const { question } = await scene.ask();
  await scene.pass(0);
  await scene.engine.answer(question.id, said("1"), ADA);
  board.failures.push({ ok: false, why: "status 503" });
  await scene.pass(0);
  const { stdout } = await type(scene, ["show", "1"]);
  expect(stdout).toMatch(/Told: board not updated yet: status 503; tried 1 time\b(?!s)/);
});
