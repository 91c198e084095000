import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { ClientSurroundings } from "../src/agents/wiring.ts";

/** A home with a project in it, for programs whose settings are changed; gone when the test ends. */
export class SetupHome {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "askd-setup-")));
  readonly around: ClientSurroundings = {
    env: { PATH: "/usr/bin:/bin" },
    homeDir: join(this.root, "home"),
    platform: "linux",
    dir: join(this.root, "project"),
    askd: { own: ["/opt/askd/bin/askd"], shared: ["npx", "-y", "askd@1.0.0"] },
    liveWindowMs: 180_000,
  };
  /** Where records of changes are kept. */
  readonly history = join(this.root, "state", "init");

  constructor() {
    for (const dir of [this.around.homeDir, this.around.dir]) mkdirSync(dir, { recursive: true });
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
  }

  /** Puts a file there, with the folders above it. */
  write(file: string, content: string | Buffer): string {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  /** What applying plans has to know. */
  get at(): { root: string; now: string; dir: string } {
    return { root: this.history, now: "2026-11-16T04:00:00.000Z", dir: this.around.dir };
  }
}
