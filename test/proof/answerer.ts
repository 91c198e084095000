import { z } from "zod";
import { QuestionId } from "../../src/core/id.ts";
import { answererOn } from "./answer-race.ts";
import { liveEngine } from "./live-engine.ts";
import { openStore, Place } from "./place.ts";

const Round = z.object({ id: QuestionId, names: z.array(z.string()) });

// Started with a place; answers every round that it is sent, until its parent lets go of it.
const store = await openStore(Place.parse(JSON.parse(process.argv[2] ?? "")), { poolSize: 4 });
const engine = liveEngine(store);
const answer = answererOn(engine);

process.on("message", (message) => {
  const { id, names } = Round.parse(message);
  answer(id, names).then(
    (told) => process.send?.({ told }),
    (error: unknown) => process.send?.({ failed: String(error) }),
  );
});
process.on("disconnect", () => void engine.stop().then(() => process.exit(0)));
process.send?.({ ready: true });
