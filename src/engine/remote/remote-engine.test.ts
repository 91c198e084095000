import { describe } from "vitest";
import { Scene } from "../../../test/scene.ts";

// An engine behind a server keeps the same promises: these are the same tests.
Scene.engines = "remote";

describe("over HTTP", async () => {
  await import("../ask.test.ts");
  await import("../answer.test.ts");
  await import("../hold.test.ts");
  await import("../timeout.test.ts");
  await import("../stats/precedents.test.ts");
});
