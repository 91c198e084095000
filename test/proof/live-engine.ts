import { engineOn } from "../../src/app.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import type { Store } from "../../src/store/store.ts";
import { ROOMY } from "../scene.ts";

/** An engine as a process of its own would have it: this machine's clock, random ids. */
export function liveEngine(store: Store): LocalEngine {
  return engineOn(store, {
    rules: ROOMY,
    onFailure: (_job, error) => {
      throw error;
    },
  });
}
