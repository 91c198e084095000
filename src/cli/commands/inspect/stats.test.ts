import { describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../../core/instant.ts";
import { ADA } from "../../../../test/builders.ts";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

/** A day of a small team: three answers by two people, one timeout, and one question that still waits. */
async function aDay(): Promise<Scene> {
  const scene = new Scene();
  const ask = (repo: string, agent: string, raw: object = {}) =>
    scene.engine.ask(scene.input({ timeout: "4h", to: ["backend"], ...raw }), ADA, { run: { repo, agent } });
  await ask("acme/api", "claude");
  await scene.pass(4 * MINUTE_MS);
  await type(scene, ["answer", "1", "1"], { user: "ada" });
  await ask("acme/api", "codex");
  await scene.pass(HOUR_MS);
  await type(scene, ["answer", "2", "2"], { user: "lena" });
  await ask("acme/web", "claude");
  await scene.pass(20 * MINUTE_MS);
  await type(scene, ["answer", "3", "1"], { user: "ada" });
  await ask("acme/web", "claude", { timeout: "30m" });
  await scene.pass(HOUR_MS);
  await ask("acme/web", "claude", { to: [] });
  await scene.pass(30 * MINUTE_MS);
  return scene;
}

describe("stats", () => {
  test("say how many, how fast and by whom", async () => {
    const { exit, stdout } = await type(await aDay(), ["stats", "--since", "1d"]);
    expect(exit).toBe(0);
    expect(stdout.replace(/q-\w{4}/, "q-1234")).toBe(`Questions from 2025-12-31 14:54 to 2026-01-01 14:54
1 waiting now, oldest q-1234 30m ago: Redis or Memcached?

Asked:          5 by 5 runs, 1.0 a run, at most 1
Answered:       3 by people, 0 by policy (100 % by people)
Timed out:      1 (25 % of closed questions)
Time to answer: 20m median, 1h p90
Agents waited:  2h 54m, 34m a run

PERSON  ANSWERED  MEDIAN  P90
ada            2      4m  20m
lena           1      1h   1h

CHANNEL  ANSWERED  MEDIAN  P90
cli             3     20m   1h

AGENT   ASKED  ANSWERED  TIMED OUT  MEDIAN  P90  WAITED
claude      4         2          1      4m  20m  1h 54m
codex       1         1          0      1h   1h      1h

REPOSITORY  ASKED  ANSWERED  TIMED OUT  MEDIAN  P90  WAITED
acme/web        3         1          1     20m  20m  1h 50m
acme/api        2         2          0      4m   1h   1h 4m

GROUP    WITH DEADLINE  IN TIME  MISSED   MET
backend              4        3       1  75 %
`);
  });

  test("by one thing are one table", async () => {
    const scene = await aDay();
    expect((await type(scene, ["stats", "--by", "day"])).stdout).toBe(
      "DAY         ASKED  ANSWERED  TIMED OUT  MEDIAN\n2026-01-01      5         3          1     20m\n",
    );
    expect((await type(scene, ["stats", "--by", "people"])).stderr).toContain("There is no table by");
    expect((await type(scene, ["stats", "--by", "persons"])).stdout).toContain("ada            2");
  });

  test("of nothing say so", async () => {
    expect((await type(new Scene(), ["stats"])).stdout).toContain("Nothing is waiting now");
    expect((await type(new Scene(), ["stats", "--by", "person"])).stdout).toBe("No questions in this period.\n");
  });

  test("warn of what is above its threshold", async () => {
    const scene = await aDay();
    for (let n = 0; n < 11; n += 1) await scene.ask();
    expect((await type(scene, ["stats"])).stdout).toContain("! 12 questions are waiting; the threshold is 10\n");
  });

  test("are numbers for programs", async () => {
    const { stdout } = await type(await aDay(), [
      "stats",
      "--json=asked,by_person,median_ms,oldest,people,timeout_rate",
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      asked: 5,
      by_person: 3,
      median_ms: 20 * MINUTE_MS,
      timeout_rate: 0.25,
      oldest: { title: "Redis or Memcached?" },
      people: [{ name: "ada", answered: 2 }, { name: "lena" }],
    });
  });

  test.each([
    [["stats", "--since", "soon"], '"soon" is not a time'],
    [["stats", "--since", "2026-13-99"], "is not a date"],
    [["stats", "--since", "1h", "--until", "2h"], "ends before it begins"],
    [["stats", "now"], 'Unexpected argument "now"'],
  ])("%j is refused", async (argv, problem) => {
    expect(await type(new Scene(), argv)).toMatchObject({ exit: 2, stderr: expect.stringContaining(problem) });
  });

  test("begin on the reader's midnight", async () => {
    const over = { ahead: () => 2 * HOUR_MS };
    const { stdout } = await type(await aDay(), ["stats", "--since", "2026-01-01", "--json=since"], over);
    expect(JSON.parse(stdout)).toEqual({ since: "2025-12-31T22:00:00.000Z" });
  });
});
