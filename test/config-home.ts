import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { ConfigSurroundings } from "../src/config/config-files.ts";

/** A home with a project in it and a place for the system's file; gone when the test ends. */
export class ConfigHome {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "askd-config-")));
  readonly home = join(this.root, "home");
  readonly project = join(this.home, "project");
  readonly projectFile = join(this.project, "askd.toml");
  readonly userFile = join(this.home, ".config/askd/config.toml");
  readonly systemFile = join(this.root, "etc/askd/config.toml");

  constructor() {
    mkdirSync(this.project, { recursive: true });
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
  }

  write(file: string, text: string | Uint8Array): void {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** What decides which files count here. */
  around(over: Partial<ConfigSurroundings> = {}): ConfigSurroundings {
    return {
      env: { ASKD_CONFIG_SYSTEM: this.systemFile },
      cwd: this.project,
      homeDir: this.home,
      userFile: this.userFile,
      ...over,
    };
  }

  /** Paths of this home as they are on every machine. */
  plain(text: string): string {
    return text.replaceAll(this.root, "");
  }
}
