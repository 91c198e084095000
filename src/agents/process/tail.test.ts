import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { aRunScene } from "../../../test/run-dir.ts";
import { waitForProcessEnd } from "./process.ts";
import { tail, type TailedLine } from "./tail.ts";

const GONE = AbortSignal.abort();

function aFile(content: string | Uint8Array): string {
  const dir = mkdtempSync(join(tmpdir(), "askd-tail-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, "out");
  writeFileSync(file, content);
  return file;
}

/** Everything that is handed out until the end. */
async function readAll(file: string, over: Partial<Parameters<typeof tail>[1]> = {}): Promise<TailedLine[]> {
  const lines: TailedLine[] = [];
  for await (const some of tail(file, { from: 0, gone: GONE, ...over })) lines.push(...some);
  return lines;
}

/** Reads line by line from a file that grows meanwhile. */
function reader(file: string, gone: AbortSignal): () => Promise<string | undefined> {
  const batches = tail(file, { from: 0, gone });
  const waiting: string[] = [];
  return async () => {
    if (waiting.length === 0) waiting.push(...((await batches.next()).value ?? []).map(({ text }) => text));
    return waiting.shift();
  };
}

describe("of a file that is complete", () => {
  test("each line comes with the bytes up to its end, and the last one without an end too", async () => {
    expect(await readAll(aFile("one\n\nzwei ü\nlast"))).toEqual([
      { text: "one", end: 4, isCut: false },
      { text: "", end: 5, isCut: false },
      { text: "zwei ü", end: 13, isCut: false },
      { text: "last", end: 17, isCut: false },
    ]);
    expect(await readAll(aFile(""))).toEqual([]);
  });

  test("reading goes on at any line's end as if it had never stopped", async () => {
    const file = aFile("a\nbb\n€\nrest");
    const all = await readAll(file);
    for (const [index, { end }] of all.entries()) {
      expect(await readAll(file, { from: end })).toEqual(all.slice(index + 1));
    }
  });

  test("lines and characters are whole wherever the pieces that are read end", async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => "ü€😀".repeat(index % 40) + index);
    const read = await readAll(aFile(`${lines.join("\n")}\n`));
    expect(read.map(({ text }) => text)).toEqual(lines);
    expect(read.at(-1)?.end).toBe(Buffer.byteLength(lines.join("\n")) + 1);
  });

  test("a line over the limit is cut at a whole character, and the next one is not", async () => {
    const read = await readAll(aFile(`${"€".repeat(10)}\n${"x".repeat(20)}\nnext\n${"y".repeat(21)}`), {
      lineBytes: 20,
    });
    expect(read).toEqual([
      { text: "€".repeat(6), end: 31, isCut: true },
      { text: "x".repeat(20), end: 52, isCut: false },
      { text: "next", end: 57, isCut: false },
      { text: "y".repeat(20), end: 78, isCut: true },
    ]);
  });

  test("a line over 16 MB is cut there, and reading goes on behind it", async () => {
    const file = aFile("");
    for (let count = 0; count < 64; count += 1) appendFileSync(file, Buffer.alloc(1024 * 1024, 0x61));
    appendFileSync(file, "\nafter\n");
    const read = await readAll(file);
    expect(read.map(({ text, isCut }) => [text.length, isCut])).toEqual([
      [16 * 1024 * 1024, true],
      [5, false],
    ]);
    expect(read.at(-1)?.end).toBe(64 * 1024 * 1024 + 7);
  });

  test("bytes that are no text do not stop it", async () => {
    const read = await readAll(aFile(Uint8Array.of(0xff, 0x0a, 0x00, 0x0a, 0xc3)));
    expect(read.map(({ end }) => end)).toEqual([2, 4, 5]);
  });

  test("a file that became shorter than what was read is a failure", async () => {
    const file = aFile("one\ntwo\n");
    truncateSync(file, 2);
    await expect(readAll(file, { from: 4 })).rejects.toThrow(/has 2 bytes, but 4/);
  });
});

describe("of a file that grows", () => {
  test("a line comes when its end has come, though it was written byte by byte", async () => {
    const file = aFile("");
    const gone = new AbortController();
    const next = reader(file, gone.signal);
    for (const text of ["ü€😀", "", "second"]) {
      const line = next();
      for (const byte of Buffer.from(`${text}\n`)) {
        appendFileSync(file, Uint8Array.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await line).toBe(text);
    }
    appendFileSync(file, "cut off");
    gone.abort();
    expect(await next()).toBe("cut off");
    expect(await next()).toBeUndefined();
  });

  test("what was written just before its writer ended is read", async () => {
    for (let round = 0; round < 20; round += 1) {
      const file = aFile("");
      const gone = new AbortController();
      const all = readAll(file, { gone: gone.signal });
      await new Promise((resolve) => setTimeout(resolve, round % 7));
      appendFileSync(file, "one\ntwo");
      gone.abort();
      expect((await all).map(({ text }) => text)).toEqual(["one", "two"]);
    }
  });

  test("reading ends at once when nobody wants more", async () => {
    const stop = new AbortController();
    const lines = tail(aFile("one\npart"), { from: 0, gone: new AbortController().signal, stop: stop.signal });
    expect((await lines.next()).value).toMatchObject([{ text: "one" }]);
    const next = lines.next();
    stop.abort();
    expect(await next).toEqual({ value: undefined, done: true });
  });
});

test("a second reader goes on with an agent's output where the first one was cut off", async () => {
  const scene = await aRunScene();
  const count = 400;
  await scene.start(
    `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); echo "line $i"; [ $((i % 40)) = 0 ] && sleep 0.01; done`,
  );
  const gone = new AbortController();
  const ended = waitForProcessEnd(scene.runDir, 1).then(() => gone.abort());
  const seen: string[] = [];
  let from = 0;
  while (seen.length < count) {
    for await (const lines of tail(join(scene.runDir, "1.out"), { from, gone: gone.signal })) {
      seen.push(...lines.map(({ text }) => text));
      from = lines.at(-1)!.end;
      break;
    }
  }
  await ended;
  expect(seen).toEqual(Array.from({ length: count }, (_, index) => `line ${index + 1}`));
});
