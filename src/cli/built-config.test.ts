import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";

const NIGHTLY = `#!/bin/sh
if [ "$1" = --continue ]; then
  printf '%s' "$2" > told.txt
  exit 0
fi
cat > prompt.txt
echo "first words: $*"
echo '<<ASK_HUMAN>> {"question": "Redis or Memcached?", "options": ["Redis", "Memcached"]} <</ASK_HUMAN>>'
`;

describe("the built program with files", () => {
  test("runs an agent that was configured, with the deadlines of its project, and resumes it as configured", async () => {
    const at = new BuiltScene();
    const program = at.program("nightly.sh", NIGHTLY);
    mkdirSync(join(at.home, "config"));
    writeFileSync(
      join(at.home, "config/config.toml"),
      `[questions]\ntimeout = "5h"\n[agents.nightly]\nargv = ["${program}", "--headless"]\nresume = ["${program}", "--continue", "{message}"]\nlive_window = "7s"\n`,
    );
    writeFileSync(join(at.project, "askd.toml"), '[questions]\ntimeout = "1h"\non_timeout = "skip"\n');
    expect(await at.type("run", "--agent", "nightly", "Add caching")).toMatchObject({ exit: 0 });
    await at.state("1", "waiting_input");
    expect(readFileSync(join(at.project, "prompt.txt"), "utf8")).toMatch(
      /^Add caching\n\n## Asking a person\n[^]*<<ASK_HUMAN>>/,
    );
    const { stdout } = await at.type("list", "--json=asked_at,due_at,on_timeout");
    const [question] = JSON.parse(stdout.toString()) as Array<{
      asked_at: string;
      due_at: string;
      on_timeout: unknown;
    }>;
    expect(Date.parse(question?.due_at ?? "") - Date.parse(question?.asked_at ?? "")).toBe(3_600_000);
    expect(JSON.stringify(question?.on_timeout)).toContain("skip");
    const { id } = await at.show("1");
    const launch: unknown = JSON.parse(readFileSync(join(at.home, "state/runs", String(id), "env.json"), "utf8"));
    expect(launch).toMatchObject({ options: { liveWindowMs: 7_000 } });
    expect(await at.type("answer", "1", "redis", "--wait")).toMatchObject({ exit: 0 });
    expect(readFileSync(join(at.project, "told.txt"), "utf8")).toContain("Redis");
  });

  test("refuses a hostile project, and config mends what is wrong", async () => {
    const at = new BuiltScene();
    writeFileSync(join(at.project, "askd.toml"), '[store]\nurl = "sqlite:/tmp/evil.db"\n');
    const refused = await at.type("status");
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain("askd.toml:2:1: A project may not set store.url\n");
    expect(await at.type("config", "unset", "--project", "store.url")).toMatchObject({ exit: 0 });
    expect(await at.type("status")).toMatchObject({ exit: 0, stderr: "" });
    expect(await at.type("config", "set", "questions.timeout", "2h")).toMatchObject({ exit: 0 });
    expect((await at.type("config", "get", "questions.timeout")).stdout.toString()).toBe("2h\n");
    expect(JSON.parse((await at.type("config", "schema")).stdout.toString())).toHaveProperty("properties.questions");
  });
});
