import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ADA, AGENT } from "../../../../test/builders.ts";
import { Scene, said } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import { shortId } from "../../../core/id.ts";
import { type Anchor, parseAnchors } from "../../../core/trail/anchor.ts";

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "askd-audit-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function askedScene(): Promise<Scene> {
  const scene = new Scene();
  const { question } = await scene.ask();
  await scene.engine.answer(question.id, said("1"), ADA);
  return scene;
}

function linesOf(file: string): Anchor[] {
  return parseAnchors(readFileSync(file, "utf8"), file);
}

/** A program on this machine that takes what is posted to it. */
async function startReceiver(status: number): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      bodies.push(body);
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/seals` };
}

test("audit shows that an agent tried to answer, and of which run it is", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const { question } = await scene.engine.ask(scene.input(), { ...AGENT, runId: run.id }, { runId: run.id });
  const tried = await type(scene, ["answer", question.id, "1"], { env: { ASKD_RUN: run.id } });
  expect(tried.exit).toBe(7);
  expect(tried.stderr).toContain(`askd check ${shortId(question.id)}`);
  expect(tried.stderr).not.toContain("check_answer");
  const { stdout } = await type(scene, ["audit", String(run.number)]);
  const line = stdout.split("\n").find((each) => each.includes("question.refused"));
  expect(line).toContain(`agent of run #${run.number} (cli)`);
  expect(line).toContain("pending, attempt 1 refused: An agent cannot answer a question; a person has to");
});

describe("audit --seal-to", () => {
  test("appends a line for each seal, and none where nothing happened since", async () => {
    const scene = await askedScene();
    const file = join(tempDir(), "seals.ndjson");
    const first = await type(scene, ["audit", "--seal-to", file]);
    expect(first).toMatchObject({ exit: 0, stdout: `✓ seal 2 is in ${file}\n` });
    expect((await type(scene, ["audit", "--seal-to", file])).exit).toBe(0);
    expect(linesOf(file).map(({ n }) => n)).toEqual([2]);
    await scene.ask({ question: "Which port?" });
    expect((await type(scene, ["audit", "--seal-to", file, "--json"])).exit).toBe(0);
    expect(linesOf(file).map(({ kind, n }) => [kind, n])).toEqual([
      ["askd.seal", 2],
      ["askd.seal", 3],
    ]);
    expect((await type(scene, ["audit", "--verify", "--against", file])).exit).toBe(0);
  });

  test("starts a new line after one that a full disk cut off, and writes to what is no file", async () => {
    const scene = await askedScene();
    const file = join(tempDir(), "seals.ndjson");
    writeFileSync(file, '{"kind":"askd.se');
    expect((await type(scene, ["audit", "--seal-to", file])).exit).toBe(0);
    const [cut, whole = ""] = readFileSync(file, "utf8").split("\n");
    expect(cut).toBe('{"kind":"askd.se');
    expect(parseAnchors(whole, "the line")).toHaveLength(1);
    expect((await type(scene, ["audit", "--seal-to", "/dev/null"])).exit).toBe(0);
  });

  test.each([
    ["in a folder that is not there", "missing/seals.ndjson", "ENOENT"],
    ["that is a folder", "folder", "EISDIR"],
  ])("refuses a file %s", async (_what, name, code) => {
    const dir = tempDir();
    mkdirSync(join(dir, "folder"));
    const file = join(dir, name);
    const { exit, stdout, stderr } = await type(await askedScene(), ["audit", "--seal-to", file]);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain(`The seal cannot be written to ${file}: ${code}`);
    expect(stderr).toContain("askd audit --seal-to <file>");
  });

  test("has nothing to write before anything happened", async () => {
    const typed = await type(new Scene(), ["audit", "--seal-to", join(tempDir(), "seals.ndjson")]);
    expect(typed).toMatchObject({ exit: 5, stdout: "" });
  });

  test("posts to a program on this machine only where the settings allow loopback", async () => {
    const scene = await askedScene();
    const { url, bodies } = await startReceiver(204);
    const refused = await type(scene, ["audit", "--seal-to", url]);
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain("askd config set callbacks.allow_loopback true");
    expect(bodies).toEqual([]);
    const env = { ASKD_CALLBACK_LOOPBACK: "1" };
    expect(await type(scene, ["audit", "--seal-to", url], { env })).toMatchObject({ exit: 0 });
    expect(bodies.flatMap((body) => parseAnchors(body, "the body"))).toMatchObject([{ kind: "askd.seal", n: 2 }]);
  });

  test("says what an address answered that did not accept the seal", async () => {
    const { url } = await startReceiver(503);
    const env = { ASKD_CALLBACK_LOOPBACK: "1" };
    const { exit, stderr } = await type(await askedScene(), ["audit", "--seal-to", url], { env });
    expect(exit).toBe(2);
    expect(stderr).toContain("did not accept the seal: status 503");
  });

  test("refuses what only looks like an address", async () => {
    const { exit, stderr } = await type(await askedScene(), ["audit", "--seal-to", "https://"]);
    expect(exit).toBe(2);
    expect(stderr).toContain("https:// is not an address");
  });
});

describe("audit --verify --against", () => {
  test("finds nothing in an untouched store, also after it went on", async () => {
    const scene = await askedScene();
    const file = join(tempDir(), "seals.ndjson");
    await type(scene, ["audit", "--seal-to", file]);
    await scene.ask({ question: "Which port?" });
    const { exit, stdout } = await type(scene, ["audit", "--verify", "--against", file]);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining("nothing was changed") });
  });

  test("finds a store that was replaced, also when the new one has written its seals to the same file", async () => {
    const file = join(tempDir(), "seals.ndjson");
    await type(await askedScene(), ["audit", "--seal-to", file]);
    const replaced = await askedScene();
    expect((await type(replaced, ["audit", "--verify"])).exit).toBe(0);
    for (let count = 0; count < 2; count += 1) {
      const { exit, stdout } = await type(replaced, ["audit", "--verify", "--against", file]);
      expect(exit).toBe(1);
      expect(stdout).toContain("is not the one that was anchored outside");
      await type(replaced, ["audit", "--seal-to", file]);
    }
    expect(linesOf(file)).toHaveLength(2);
  });

  test("finds a store that has fewer seals than were anchored", async () => {
    const scene = await askedScene();
    const file = join(tempDir(), "seals.ndjson");
    await type(scene, ["audit", "--seal-to", file]);
    const replaced = new Scene();
    await replaced.ask();
    expect((await type(replaced, ["audit", "--verify", "--against", file])).exit).toBe(1);
  });

  test.each([
    ["garbage", "garbage\n", "Line 1 of"],
    ["a line of another program after a seal", '\n{"n":1}\n', "Line 2 of"],
    ["nothing", "\n", "has no seals in it"],
  ])("refuses a file with %s", async (_what, text, message) => {
    const file = join(tempDir(), "seals.ndjson");
    writeFileSync(file, text);
    const { exit, stdout, stderr } = await type(await askedScene(), ["audit", "--verify", "--against", file]);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toContain("askd audit --seal-to");
  });

  test("refuses a file that is not there, and a folder", async () => {
    const dir = tempDir();
    const scene = await askedScene();
    const missing = await type(scene, ["audit", "--verify", "--against", join(dir, "none.ndjson")]);
    expect(missing.exit).toBe(5);
    expect(missing.stderr).toContain("There is no file");
    const folder = await type(scene, ["audit", "--verify", "--against", dir]);
    expect(folder.exit).toBe(2);
    expect(folder.stderr).toContain("cannot be read: EISDIR");
  });

  test("needs --verify", async () => {
    const { exit, stderr } = await type(await askedScene(), ["audit", "--against", "seals.ndjson"]);
    expect(exit).toBe(2);
    expect(stderr).toContain("askd audit --verify --against seals.ndjson");
  });
});
