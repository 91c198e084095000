import { describe, expect, test } from "vitest";
import { AGENT } from "../../../../test/builders.ts";
import { Everyday, LENA, fixedScene } from "../../../../test/everyday.ts";
import { Transcript } from "../../../../test/golden.ts";
import { Scene, said } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import { HOUR_MS, MINUTE_MS } from "../../../core/instant.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { ProcessWorld } from "../../process.ts";

/** A world in which something happens at every pause, and in the end the person interrupts. */
function happening(...steps: Array<() => Promise<unknown>>): Pick<ProcessWorld, "pause" | "interrupt"> {
  const interrupted = new AbortController();
  return {
    interrupt: () => interrupted.signal,
    pause: async () => {
      const step = steps.shift();
      if (step) await step();
      else interrupted.abort();
    },
  };
}

function screen(): {
  over: Pick<ProcessWorld, "stdout" | "stderr">;
  written: () => { stdout: string; stderr: string };
} {
  const written = { stdout: "", stderr: "" };
  const to = (name: "stdout" | "stderr") => ({
    isTty: true,
    columns: 80,
    write: (text: string) => void (written[name] += text),
  });
  return { over: { stdout: to("stdout"), stderr: to("stderr") }, written: () => written };
}

/** Something of everything: asked, claimed, discussed, answered, done. */
function aStory(day: Everyday): Array<() => Promise<unknown>> {
  const { engine } = day.scene;
  const pending = async () => (await day.run(42)).pendingId!;
  return [
    async () => engine.claim(await pending(), LENA),
    async () => engine.comment(await pending(), "I know the load", LENA),
    async () => engine.assign(await pending(), ["lena", "ops"], LENA),
    async () => {
      await day.scene.pass(MINUTE_MS);
      await engine.answer(await pending(), said("2"), LENA);
    },
    async () => engine.startRun((await day.run(42)).id, AGENT),
    async () => engine.given((await day.run(42)).lastQuestionId!, "transcript"),
    async () => engine.ask(day.scene.input({ question: "And the port?" }), AGENT, { runId: (await day.run(42)).id }),
  ];
}

describe("watch", () => {
  test("tells what happens, line by line, as it was agreed", async () => {
    const day = await Everyday.begin();
    const seen = new Transcript((argv) => day.type(argv, happening(...aStory(day))), day.root);
    expect((await seen.type("watch")).exit).toBe(130);
    const past = new Transcript(day.type, day.root);
    await past.type("watch", "--since", "1h", "--type", "question.answered,run.*", "--limit", "3");
    await past.type("watch", "--since", "3h", "--run", "42", "--limit", "1");
    seen.add(["watch", "--since", "1h"], await day.type(["watch", "--since", "1h", "--limit", "1"]));
    expect(seen.text).toBe(seen.golden("watch"));
    expect(past.text).toBe(past.golden("watch-past"));
  });

  test("gives programs one object per line, and goes on from where they were", async () => {
    const day = await Everyday.begin();
    const { stdout, stderr } = await day.type(["watch", "--json"], happening(...aStory(day)));
    expect(stderr).toBe("");
    const lines = stdout.trim().split("\n");
    const events: Array<Record<string, unknown>> = JSON.parse(`[${lines.join(",")}]`);
    expect(events.map(({ type: name }) => name)).toEqual([
      "question.claimed",
      "question.commented",
      "question.assigned",
      "question.answered",
      "run.resuming",
      "run.resumed",
      "question.given",
      "question.asked",
    ]);
    expect(events[0]).toMatchObject({ run_number: 42, run_name: "add-caching", by: { id: "lena", channel: "slack" } });
    const after = String(events[4]?.["cursor"]);
    const rest = await day.type(["watch", "--json", "--after", after, "--limit", "3"]);
    expect(rest.stdout.trim().split("\n")).toEqual(lines.slice(5));
    const some = await day.type(["watch", "--json=type,cursor", "--after", after, "--limit", "1"]);
    expect(JSON.parse(some.stdout)).toEqual({ type: "run.resumed", cursor: events[5]?.["cursor"] });
  });

  test("is the same over a server, and outlives its restart", async () => {
    Scene.engines = "remote";
    try {
      const scene = fixedScene();
      await scene.ask();
      let away = 0;
      const over = happening(
        () => Promise.resolve((away = 2)),
        () => Promise.resolve((away -= 1)),
        () => Promise.resolve((away -= 1)),
        () => scene.ask({ question: "Another?" }),
      );
      const openEngine: ProcessWorld["openEngine"] = () => {
        const { engine } = scene;
        return Promise.resolve(
          new Proxy(engine, {
            get: (target, name) => {
              if (name === "readFeed" && away > 0) {
                return () => Promise.reject(new Refusal("store_unreachable", "The server cannot be reached"));
              }
              const member: unknown = Reflect.get(target, name, target);
              return typeof member === "function"
                ? (...args: unknown[]): unknown => Reflect.apply(member, target, args)
                : member;
            },
          }),
        );
      };
      const { stdout, stderr } = await type(scene, ["watch"], { ...over, openEngine });
      expect(stdout).toContain("❓ q-9m2x Another?");
      expect(stderr.match(/The server cannot be reached/g)).toHaveLength(1);
    } finally {
      Scene.engines = "local";
    }
  });

  test("rings on a terminal when something is asked, and only then", async () => {
    const day = await Everyday.begin();
    const { over, written } = screen();
    await day.type(["watch", "--type", "question.*"], { ...over, ...happening(...aStory(day)) });
    expect(written().stderr).toBe("Watching; 1 question is waiting. Stop with Ctrl-C\n\x07");
    const quiet = screen();
    await day.type(["watch", "-q", "--since", "3h", "--limit", "9"], { ...quiet.over, ...happening() });
    expect(quiet.written().stderr).toBe("");
  });

  test.each([
    [["watch", "--after", "soon"], '"soon" is not a cursor'],
    [["watch", "--since", "yesterday"], '"yesterday" is not a time'],
    [["watch", "--since", "1h", "--after", "1"], "Use --after or --since, not both"],
    [["watch", "--type", "question.slept"], 'There is no event "question.slept"'],
    [["watch", "--limit", "0"], "--limit takes a whole number from 1"],
    [["watch", "42"], 'Unexpected argument "42"'],
  ])("%j is refused", async (argv, problem) => {
    const { exit, stderr } = await type(fixedScene(), argv);
    expect(exit).toBe(2);
    expect(stderr).toContain(problem);
  });
});

describe("status --watch", () => {
  test("shows the short form again when something changes, not when only time passes", async () => {
    const day = await Everyday.begin();
    const steps = [() => day.scene.pass(MINUTE_MS), ...aStory(day).slice(0, 1), ...aStory(day).slice(3)];
    const { exit, stdout } = await day.type(["status", "--short", "--watch"], happening(...steps));
    expect(exit).toBe(130);
    expect(stdout).toBe("?1 ▶1\n?0 ▶2\n?1 ▶1\n");
  });

  test("draws the page in place on a terminal, and below where that cannot be", async () => {
    const day = await Everyday.begin();
    const inPlace = screen();
    const passes = () => day.scene.pass(HOUR_MS);
    await day.type(["status", "--watch"], { ...inPlace.over, ...happening(passes), env: { NO_COLOR: "1" } });
    const frames = inPlace.written().stdout.split("\x1b[H\x1b[2J");
    expect(frames.slice(1).map((frame) => frame.split("\n")[1])).toEqual([
      "  #42 add-caching (waiting 2h)",
      "  #42 add-caching (waiting 3h)",
    ]);
    const dumb = screen();
    await day.type(["status", "--watch"], { ...dumb.over, ...happening(passes), env: { TERM: "dumb" } });
    expect(dumb.written().stdout).not.toContain("\x1b");
  });

  test("with --exit-code ends as soon as something waits", async () => {
    const scene = fixedScene();
    const over = happening(
      () => Promise.resolve(),
      () => scene.ask(),
    );
    expect(await type(scene, ["status", "--watch", "--exit-code", "--short"], over)).toEqual({
      exit: 8,
      stderr: "",
      stdout: "?0 ▶0\n?1 ▶0\n",
    });
  });

  test("gives programs one object per line", async () => {
    const scene = fixedScene();
    const { stdout } = await type(
      scene,
      ["status", "--watch", "--json=waiting"],
      happening(() => scene.ask()),
    );
    const lines = stdout.trim().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { waiting: [] },
      { waiting: [{ short_id: "q-7k3f" }] },
    ]);
  });
});
