import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { hasEnded } from "../../src/core/run/run.ts";
import { AGENTS, TYPED, write } from "./agent.ts";
import { type ProgramName, programFile } from "./install.ts";
import { type Stage, onStage, promptOf } from "./stage.ts";

/** Starts take many seconds on a busy machine, and several tests run at once. */
vi.setConfig({ testTimeout: 240_000 });

/** Runs an agent by a script that first does this to its arguments, and returns how the run ended. */
async function runWith(stage: Stage, program: ProgramName, script: string) {
  const { box, env } = await stage.box((at) => AGENTS[program](at, { kind: "none" }, "").env);
  const file = join(stage.root, "bin", program);
  write(file, `#!/bin/bash\n${script}\nexec '${programFile(program)}' "\${args[@]}"\n`);
  chmodSync(file, 0o755);
  await stage.work();
  const command = [file, ...TYPED[program], promptOf([{ say: "Done." }])];
  const number = Number(await stage.typeIn(box.dir, env, "run", "--", ...command));
  const engine = await stage.engine();
  return stage.until("it ended", async () =>
    (await engine.lookUp({ by: "number", number }, 1)).runs.find((run) => hasEnded(run) && run.worker === undefined),
  );
}

const CHANGED = (edit: string) => `args=(); for arg in "$@"; do args+=("$(printf %s "$arg" | sed '${edit}')"); done`;
const BROKEN = 's#^\\(mcp_servers.askd={command=\\)"[^"]*"#\\1"/bin/false"#';

test.concurrent("Codex does not start where our server does not start", () =>
  onStage(async (stage) => {
    const run = await runWith(stage, "codex", CHANGED(BROKEN));
    expect(run).toMatchObject({ status: "failed", reason: "agent_error" });
    expect(run.result?.summary).toContain("required MCP servers failed to initialize: askd");
  }));

test.concurrent("Codex waits for our server where it starts slowly, and has its tools", () =>
  onStage(async (stage) => {
    const slow = join(stage.root, "slow");
    write(slow, `#!/bin/sh\nsleep 3\nexec '${process.execPath}' "$@"\n`);
    chmodSync(slow, 0o755);
    const run = await runWith(stage, "codex", CHANGED(BROKEN.replace("/bin/false", slow)));
    expect(run).toMatchObject({ status: "completed" });
    expect(run.mayHaveAsked).toBeUndefined();
  }));

test.concurrent("Codex that does not need our server is not quietly completed without its tools", () =>
  onStage(async (stage) => {
    const run = await runWith(stage, "codex", CHANGED(`${BROKEN};s#,required=true##`));
    expect(run).toMatchObject({ status: "completed", mayHaveAsked: expect.stringContaining("never loaded them") });
    const status = await stage.type("status");
    expect(status).toContain("It may have asked: It worked without the tools to ask with");
  }));

const NO_COMMAND = `s#"command":\\(\\[\\?\\)"[^"]*"#"command":\\1"/bin/false"#`;
/** Where each agent is told of our server. */
const WITHOUT_SERVER = {
  claude: `args=("$@"); for ((at = 0; at < $#; at++)); do
    if [ "\${args[at]}" = --mcp-config ]; then sed -i '${NO_COMMAND}' "\${args[at + 1]}"; fi
  done`,
  gemini: `args=("$@"); sed -i '${NO_COMMAND}' "$GEMINI_CLI_SYSTEM_DEFAULTS_PATH"`,
  opencode: `args=("$@"); OPENCODE_CONFIG_CONTENT=$(printf %s "$OPENCODE_CONFIG_CONTENT" | sed '${NO_COMMAND}')`,
} as const;

test.concurrent.each(["claude", "gemini", "opencode"] as const)(
  "%s that goes on without our server is not quietly completed without its tools",
  (program) =>
    onStage(async (stage) => {
      const run = await runWith(stage, program, WITHOUT_SERVER[program]);
      expect(run).toMatchObject({ status: "completed", mayHaveAsked: expect.stringContaining("never loaded them") });
    }),
);
