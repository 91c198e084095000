import { execFile } from "node:child_process";
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { removeFolder } from "../../test/remove-folder.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const hasOwnDriver = major > 22 || (major === 22 && minor >= 16);

test("without the optional SQLite package an older Node says what to install", async () => {
  const home = mkdtempSync(join(tmpdir(), "askd-bare-"));
  onTestFinished(() => removeFolder(home));
  for (const name of ["bin", "dist", "package.json"]) cpSync(name, join(home, name), { recursive: true });
  const run = promisify(execFile)(process.execPath, [join(home, "bin", "askd"), "ask", "Ready?"], {
    env: { PATH: process.env["PATH"], HOME: home, ASKD_HOME: join(home, "askd") },
  });
  const { stderr, code } = await run.then(
    ({ stderr: text }) => ({ stderr: text, code: 0 }),
    (error: { stderr: string; code: number }) => error,
  );
  if (hasOwnDriver) {
    expect(code).toBe(0);
    return;
  }
  expect(stderr).toContain(`error: Node ${process.versions.node} has no SQLite of its own`);
  expect(stderr).toContain("npm install -g @photostructure/sqlite");
  expect(stderr).not.toContain("Require stack");
});
