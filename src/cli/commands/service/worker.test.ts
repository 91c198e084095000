import { expect, test } from "vitest";
import { Scene } from "../../../../test/scene.ts";
import { hasOpenMessage } from "./worker.ts";

test("a worker stays while people were told of a question, however many others were asked since", async () => {
  const quiet = new Scene();
  const told = new Scene({
    rules: { reach: [{ name: "board", person: undefined, isPersonal: false }] },
    store: () => quiet.store,
  });
  await quiet.ask({ question: "Nobody is told of this?" });
  expect(await hasOpenMessage(quiet.engine)).toBe(false);
  await told.ask({ question: "People are told of this?" });
  for (let count = 0; count < 120; count += 1) {
    quiet.skip(1_000);
    await quiet.ask({ question: `Question ${count}?` });
  }
  expect(await hasOpenMessage(quiet.engine)).toBe(true);
});
