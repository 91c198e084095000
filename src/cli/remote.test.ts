import { describe } from "vitest";
import { Scene } from "../../test/scene.ts";

// Commands do the same on a server's engine as on one of their own: these are the same tests.
Scene.engines = "remote";

describe("against a server", async () => {
  await import("./commands.test.ts");
  await import("./commands/setup/template.test.ts");
  await import("./commands/inspect/stats.test.ts");
});
