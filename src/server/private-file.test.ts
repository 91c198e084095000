import { chmod, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SYSTEM } from "../core/people/actor.ts";
import { Scene } from "../../test/scene.ts";
import { keepLocalToken, serverFiles } from "./local-token.ts";
import { createPrivate, readPrivate } from "./private-file.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "askd-private-"));
});
afterEach(() => rm(dir, { recursive: true }));

describe.skipIf(process.platform === "win32")("a file that is this user's alone", () => {
  test("is made in a folder of its own, and never over one that is there", async () => {
    const file = join(dir, "box", "token");
    expect(await readPrivate(file)).toBeUndefined();
    expect(await createPrivate(file, "one")).toBe(true);
    expect(await createPrivate(file, "two")).toBe(false);
    expect(await readPrivate(file)).toBe("one");
    expect((await lstat(file)).mode & 0o777).toBe(0o600);
    expect((await lstat(join(dir, "box"))).mode & 0o777).toBe(0o700);
  });

  test("is refused when others can read it or enter its folder", async () => {
    const file = join(dir, "token");
    await writeFile(file, "x", { mode: 0o600 });
    await chmod(file, 0o640);
    await expect(readPrivate(file)).rejects.toMatchObject({ code: "not_permitted", hint: `chmod 600 ${file}` });
    await mkdir(join(dir, "open"));
    await chmod(join(dir, "open"), 0o755);
    await expect(createPrivate(join(dir, "open", "token"), "x")).rejects.toMatchObject({ code: "not_permitted" });
  });

  test("is not followed elsewhere", async () => {
    const real = join(dir, "real");
    await writeFile(real, "secret", { mode: 0o600 });
    await symlink(real, join(dir, "link"));
    await expect(readPrivate(join(dir, "link"))).rejects.toMatchObject({ code: "not_permitted" });
    await symlink(join(dir, "nowhere"), join(dir, "dangling"));
    expect(await createPrivate(join(dir, "dangling"), "x")).toBe(false);
    await expect(readFile(join(dir, "nowhere"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("the token of this user", () => {
  test("is kept while the server takes it, and replaced when it does not", async () => {
    const { engine } = new Scene();
    const { token: file } = serverFiles(dir);
    await keepLocalToken(file, engine, "ada");
    const first = await readPrivate(file);
    expect((await engine.authenticate(first ?? "", "cli"))?.actor).toMatchObject({ id: "ada", scope: "admin" });
    await keepLocalToken(file, engine, "ada");
    expect(await readPrivate(file)).toBe(first);
    for (const { id } of await engine.listTokens(SYSTEM)) await engine.revokeToken(id, SYSTEM);
    await keepLocalToken(file, engine, "ada");
    expect(await readPrivate(file)).not.toBe(first);
  });
});
