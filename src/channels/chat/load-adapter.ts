import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { z } from "zod";
import {
  ADAPTER_VERSION,
  type ChatPlatform,
  adapterPackage,
  installCommand,
} from "../../core/channel/chat-platform.ts";
import { Refusal } from "../../core/refusal.ts";
import { PLATFORMS } from "./platform.ts";

const Manifest = z.object({ version: z.string(), main: z.string() });

/** Loads the adapter that the user installed beside askd; refuses with what to type if it is not there, or too old. */
export function loadAdapter(platform: ChatPlatform): Record<string, unknown> {
  const require = createRequire(import.meta.url);
  const name = adapterPackage(platform);
  const hint = `Type: ${installCommand(platform)}`;
  const folder = findPackage(name, require);
  if (folder === undefined) {
    const message = `${PLATFORMS[platform].title} needs a package that is not installed: ${name}`;
    throw new Refusal("bad_input", message, { hint });
  }
  const { version, main } = Manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  const [major, minor] = version.split(".").map(Number);
  if (major !== ADAPTER_VERSION.major || minor === undefined || minor < ADAPTER_VERSION.leastMinor) {
    throw new Refusal("bad_input", `${name} is of version ${version}, and this version of askd needs another`, {
      hint,
    });
  }
  // The program is a script of its own kind, which cannot import; Node also requires packages that are only modules.
  const loaded: unknown = require(join(folder, main));
  return z.record(z.string(), z.unknown()).parse({ ...Object(loaded) });
}

/** The folder of a package, where Node looks for it: asked by name, Node finds no package that is only a module. */
function findPackage(name: string, require: NodeJS.Require): string | undefined {
  const folders = require.resolve.paths(name) ?? [];
  return folders.map((folder) => join(folder, name)).find((folder) => existsSync(join(folder, "package.json")));
}
