import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Ward } from "../../test/ward.ts";
import { formatBytes } from "./store/disk.ts";

describe("the system", () => {
  test.each(["18.20.4", "20.18.3"])("with Node %s is found to be too old", async (nodeVersion) => {
    expect(await new Ward().troubles({ nodeVersion })).toEqual([
      `node_old: ${nodeVersion} is too old: askd needs 20.19 or newer`,
    ]);
  });

  test("without git is found", async () => {
    const ward = new Ward();
    expect(await ward.troubles({ env: { PATH: ward.root, ASKD_HOME: ward.root } })).toEqual([
      expect.stringContaining("git_missing: is not on the path"),
    ]);
  });

  test("without the folders that its variables name is found", async () => {
    const ward = new Ward();
    const env = { PATH: process.env["PATH"], TMPDIR: join(ward.root, "no"), XDG_RUNTIME_DIR: join(ward.root, "none") };
    expect(await ward.troubles({ env })).toEqual([
      expect.stringContaining(`tmpdir: ${ward.root}/no is not a folder`),
      expect.stringContaining(`runtime_dir: ${ward.root}/none is not a folder`),
    ]);
  });
});

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1_500_000, "1.5 MB"],
  [53_000_000_000, "53 GB"],
])("%d bytes are said as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
