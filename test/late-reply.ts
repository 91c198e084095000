import { engineOn } from "../src/app.ts";
import { epochMs } from "../src/core/instant.ts";
import type { Engine } from "../src/engine/engine.ts";
import { ADA } from "./builders.ts";
import { type Scene, said } from "./scene.ts";

/** The engine of another process: a person answers just before it ends a hold, and time passes right after. */
export function answeredAsHoldEnds(scene: Scene, reply: { undoMs: number; thenMs: number }): Engine {
  const engine = engineOn(scene.store, { rules: scene.rules, nowMs: () => epochMs(scene.now) });
  const endHold = engine.endHold.bind(engine);
  let isAnswered = false;
  return Object.assign(engine, {
    endHold: async (...args: Parameters<Engine["endHold"]>) => {
      if (isAnswered) return endHold(...args);
      isAnswered = true;
      await scene.engine.answer(args[0], said("1", { undoMs: reply.undoMs }), ADA);
      const read = await endHold(...args);
      await scene.pass(reply.thenMs);
      return read;
    },
  });
}
