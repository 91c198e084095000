import { describe } from "vitest";
import { Scene } from "../../../test/scene.ts";

// What the engine promises holds for one behind a server too: these are the same tests.
Scene.engines = "remote";

describe("over HTTP", async () => {
  await import("../ask.test.ts");
  await import("../answer.test.ts");
  await import("../hold.test.ts");
  await import("../timeout.test.ts");
  await import("../stats/precedents.test.ts");
});
