import { afterEach, expect, test } from "vitest";
import { McpScene } from "../../../test/mcp/scene.ts";
import { NOON } from "../../../test/builders.ts";
import type { MeasuredLimits } from "../../core/door/measured-limits.ts";

const CACHE = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };

let scene: McpScene;
afterEach(() => scene.close());

const measured = (version: string): { measured: (agent: string) => MeasuredLimits } => ({
  measured: (agent) => ({
    agent,
    version,
    measuredAt: NOON,
    limitMs: 30_000,
    client: { name: "test-client", version },
  }),
});

test.each([
  ["15 s before the limit that was measured of this version", "stdio", "1.0.0", 15_000],
  ["as is known of it, where another version was measured", "stdio", "0.9.0", 45_000],
  ["as is known of it over HTTP, which was not measured", "http", "1.0.0", 45_000],
] as const)("a call is held %s", async (_what, way, version, windowMs) => {
  scene = new McpScene();
  for (const era of ["legacy", "modern"] as const) {
    const client = await scene.connect({ way, era, deps: measured(version) });
    const calling = client.call("ask_human", CACHE);
    const question = await scene.waiting();
    expect(question).toMatchObject({ hold: { windowMs } });
    await scene.answer(question.id, "1");
    expect((await calling).fields).toMatchObject({ status: "answered" });
  }
});
