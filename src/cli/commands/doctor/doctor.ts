import { withEnv } from "../../../config/env.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { checkUp } from "../../../doctor/check-up.ts";
import { type RepairResult, repairAll, sortFindings } from "../../../doctor/run-checks.ts";
import { type Finding, countOf } from "../../../doctor/finding.ts";
import type { DoctorContext } from "../../../doctor/doctor-context.ts";
import { wireClient } from "../../../doctor/wire-client.ts";
import { wrongUsage } from "../../arguments.ts";
import { isServiceOff, startService } from "../service/worker.ts";
import { workerLockFile } from "../../paths.ts";
import { BELL } from "../../terminal/bell.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import { type DoctorView, renderDoctor, renderSummary, viewDoctor } from "./doctor-view.ts";
import { PROBE_FIELDS, probeAgent } from "./doctor-probe.ts";
import type { Flags } from "../../flags.ts";
import { requireMaintainer } from "../store/direct-store.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { DEFAULT_PORT } from "../service/serve.ts";
import { setupAround } from "../init/find-surroundings.ts";
import { VERSION } from "../../version.ts";

const PROBE_MAX = "6m";

const flags = {
  fix: { type: "boolean", about: "Fix what can be fixed" },
  send: { type: "boolean", about: "Send a test message on every configured channel" },
  probe: { type: "string", value: "agent", about: "Measure the tool-call timeout of an agent's real program" },
  max: { type: "string", value: "duration", about: "How long --probe may take (6m)" },
  summary: { type: "boolean", about: "Print one line" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "doctor [--fix] [--send] [--summary] [--probe <agent>]",
  flags,
  fields: ["version", "platform", "node", "problems", "warnings", "findings", "fixed", ...PROBE_FIELDS],
  examples: ["askd doctor", "askd doctor --fix", "askd doctor --json > report.json", "askd doctor --probe claude"],
  isAboutWrongConfig: true,
  isLooking: ({ flags: { fix, send, probe } }) => !fix && !send && probe === undefined,
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    if (args.flags.probe !== undefined) {
      return probeAgent(args.flags.probe, parseDuration(args.flags.max ?? PROBE_MAX), context);
    }
    if (args.flags.fix) await requireMaintainer(context);
    // Some programs take seconds to print their version.
    if (context.stderr.isTty && !context.isQuiet) context.stderr.write("Checking…\n");
    const patient = await patientOf(context);
    const first = await checkUp(patient);
    const { findings: after, repaired } = args.flags.fix
      ? await repairAll(first, () => checkUp(patient))
      : { findings: first, repaired: [] };
    const findings = args.flags.send ? sortFindings([...after, ...(await send(context))]) : after;
    print(findings, repaired, { context, isShort: args.flags.summary ?? false });
    return countOf(findings, "problem") > 0 ? EXIT_CODE.error : 0;
  },
};

function print(
  findings: readonly Finding[],
  repaired: readonly RepairResult[],
  { context, isShort }: { context: Context; isShort: boolean },
) {
  const { version, arch } = process;
  const view: DoctorView = {
    version: VERSION,
    node: version.slice(1),
    platform: `${context.platform}-${arch}`,
    findings,
    repaired,
    program: context.program,
    columns: context.stdout.columns,
  };
  printResult(context, command.fields ?? [], {
    page: () => (isShort ? renderSummary(view) : renderDoctor(view, context.style)),
    json: () => viewDoctor(view, context),
  });
}

/** Sends test messages if --send asks for it. */
async function send(context: Context) {
  const { sendTests } = await import("../../../doctor/test-message.ts");
  const ring = () => {
    if (context.config.values.notifications?.terminal_bell === false) return undefined;
    if (context.stderr.isTty) context.stderr.write(BELL);
    return context.stderr.isTty;
  };
  const { rules, openChannel } = context;
  const listPeople = async () => (await context.engine({ isReading: true })).listPeople();
  return sendTests({ rules, openChannel, listPeople, ring });
}

/** The input of the doctor, from the context. */
async function patientOf(context: Context): Promise<DoctorContext> {
  const { env, cwd, homeDir, platform, place, rules, config, self } = context;
  const around = await setupAround(context);
  return {
    around,
    agents: await context.agents(),
    wire: (client, scope) => wireClient(client, scope, { around, stateDir: place.stateDir, now: context.now() }),
    env,
    cwd,
    homeDir,
    platform,
    host: await context.host(),
    rules,
    config,
    self,
    store: place.store,
    stateDir: place.stateDir,
    runtimeDir: place.runtimeDir,
    version: VERSION,
    nodeVersion: process.versions.node,
    port: withEnv(config.values, env).server?.port || DEFAULT_PORT, // 0 picks one that is free
    note: (text) => context.stderr.write(`! ${oneLine(text)}\n`),
    nowMs: () => Date.parse(context.now()),
    isWorkerLocked: () => context.isLocked(workerLockFile(context)),
    openRemote: () => context.engine(),
    doDue: async () => void (await context.engine()),
    startWorker: async () => {
      if (isServiceOff(context.env)) return false;
      await startService(context);
      return true;
    },
  };
}
