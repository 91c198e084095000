import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { unifiedDiff } from "./diff.ts";

test("shows changes with the lines around them", () => {
  const before = Array.from({ length: 12 }, (_, index) => `line ${index}\n`).join("");
  const after = before.replace("line 5\n", "line five\n") + "end";
  expect(unifiedDiff("x", before, after)).toBe(`--- x
+++ x
@@ -3,10 +3,11 @@
 line 2
 line 3
 line 4
-line 5
+line five
 line 6
 line 7
 line 8
 line 9
 line 10
 line 11
+end
\\ No newline at end of file
`);
  expect(unifiedDiff("x", "a\n", "a\n")).toBe("");
  expect(unifiedDiff("x", undefined, "a\r\n")).toBe("--- /dev/null\n+++ x\n@@ -0,0 +1,1 @@\n+a\r\n");
});

test("what it shows makes the new text of the old one, whatever they are", () => {
  const root = mkdtempSync(join(tmpdir(), "askd-diff-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  execFileSync("git", ["init", "-q", root]);
  const lines = fc.array(fc.constantFrom("a", "b", "c", "{", "}", "", "x\r"), { maxLength: 24 });
  const text = fc.tuple(lines, fc.boolean()).map(([all, isEnded]) => all.join("\n") + (isEnded ? "\n" : ""));
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after && before !== "" && after !== "");
      writeFileSync(join(root, "x"), before);
      const args = ["apply", "--unsafe-paths", "-p0", "--whitespace=nowarn", "-"];
      execFileSync("git", args, { cwd: root, input: unifiedDiff("x", before, after), stdio: "pipe" });
      expect(readFileSync(join(root, "x"), "utf8")).toBe(after);
    }),
    { seed: 7, numRuns: 60 },
  );
});

test("a long file with two changes is compared at once", () => {
  const before = Array.from({ length: 50_000 }, (_, index) => `line ${index}\n`).join("");
  const after = `new\n${before}new\n`;
  expect(unifiedDiff("x", before, after).match(/^[+-][^+-]/gm)).toEqual(["+n", "+n"]);
});
