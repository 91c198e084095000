import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BIN, BuiltScene } from "../../test/built.ts";

/** `Für später`, as a program writes it that does not write UTF-8. */
const LATIN = Buffer.from("F\u00fcr sp\u00e4ter\n", "latin1");

/** Types a command in a shell with these bytes as its input. */
function pipe({ home, project }: BuiltScene, line: string | Buffer, input: Buffer) {
  const env = { PATH: process.env["PATH"], HOME: home, ASKD_HOME: home, ASKD_NO_SERVICE: "1" };
  const script = Buffer.concat([Buffer.from(`askd() { "${process.execPath}" "${BIN}" "$@"; }\n`), Buffer.from(line)]);
  const file = join(project, "typed.sh");
  writeFileSync(file, script);
  const { status, stdout, stderr } = spawnSync("sh", [file], { cwd: project, env, input });
  return { exit: status, said: `${stdout.toString("utf8")}${stderr.toString("utf8")}` };
}

test("text that is not UTF-8 is refused on every way in, and nothing is asked or answered", async () => {
  const scene = new BuiltScene();
  await scene.typeWith({ ASKD_NO_SERVICE: "1" }, "ask", "Name?");
  writeFileSync(join(scene.project, "latin.txt"), LATIN);
  const json = Buffer.concat([Buffer.from('{"question": "'), LATIN.subarray(0, -1), Buffer.from('"}')]);
  for (const [line, input, what] of [
    ["askd answer 1 -F latin.txt", Buffer.alloc(0), "latin.txt"],
    ["askd answer 1 -F -", LATIN, "The input"],
    ["askd answer 1 -", LATIN, "The input"],
    ["askd ask --input -", json, "The input"],
    [
      Buffer.concat([Buffer.from("askd ask '"), LATIN.subarray(0, -1), Buffer.from("'")]),
      Buffer.alloc(0),
      "An argument",
    ],
  ] as const) {
    const { exit, said } = pipe(scene, line, input);
    expect({ line: line.toString("latin1"), exit, said }).toEqual({
      line: line.toString("latin1"),
      exit: 2,
      said: expect.stringContaining(`error: ${what} is not UTF-8 text`),
    });
    expect(said).toContain("iconv -f latin1 -t utf-8");
  }
  const listed = await scene.type("list", "--json=title,status");
  expect(JSON.parse(listed.stdout.toString("utf8"))).toEqual([{ title: "Name?", status: "pending" }]);
  expect(pipe(scene, "askd answer 1 -F -", Buffer.from("Für später\n")).exit).toBe(0);
  const shown = await scene.show("1");
  expect(shown["humanResponse"]).toBe("Für später");
});
