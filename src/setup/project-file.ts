import { FIRST_LINE } from "../config/json-schema.ts";
import { join } from "node:path";
import { readConfig } from "./config-file.ts";
import type { FilePlan } from "./plan.ts";
import { Unfit } from "../edit/change.ts";

/** Every line is a comment: the file shows what can be set, and changes nothing. */
const TEXT = `${FIRST_LINE}
# Settings of askd for this project. Every line shows the default; take the # away to change it.

[questions]
# live_window = "3m"        # how long a question waits with the agent alive; then the run is parked
# timeout     = "24h"       # how long it waits in all
# on_timeout  = "fail"      # wait | proceed | skip | default | escalate | fail | defer
# max_per_run = 100

[notifications]
# terminal_bell = true
`;

/** A new askd.toml where the project has none. */
export async function planProjectFile(dir: string): Promise<FilePlan[]> {
  const file = join(dir, "askd.toml");
  try {
    const { real, bytes } = await readConfig(file);
    if (bytes) return [];
    const plan = { file, real, titles: [], before: undefined, after: Buffer.from(TEXT) };
    return [{ ...plan, how: { kind: "new" }, says: ["new"], notes: [] }];
  } catch (error) {
    if (error instanceof Unfit) return []; // something else is there by that name
    throw error;
  }
}
