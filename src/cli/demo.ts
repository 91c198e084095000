import { parseDuration, spellDuration } from "../core/duration.ts";
import type { Command } from "./command.ts";
import type { Context } from "./context.ts";
import type { Flags } from "./flags.ts";
import { quoted } from "./wording.ts";

const PATIENCE = "6s";
const MOST_TRIES = 3;
const QUESTION = "Redis or Memcached for the caching layer?";

const flags = {
  agent: { type: "boolean", about: "Be the agent of the demonstration" },
  patience: { type: "string", value: "duration", about: `How long to wait where nobody can type (${PATIENCE})` },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "demo",
  flags,
  run: (args, context) =>
    args.flags.agent ? beAgent(context) : showStory(context, parseDuration(args.flags.patience ?? PATIENCE)),
};

/** The scripted agent: works, meets a choice it should not make alone, asks, and goes on with the answer. */
async function beAgent({ stderr, runChild, self }: Context): Promise<number> {
  const say = (line: string): void => stderr.write(`${line}\n`);
  say("I am adding a cache. Both Redis and Memcached would do; a wrong guess is costly, so I ask.");
  const { exitCode, stdout } = await runChild({
    argv: [
      ...[...self, "ask", QUESTION, "--name", "demo-add-caching", "--option", "redis:Redis", "--option"],
      ...["memcached:Memcached", "--recommend", "redis", "--timeout", "10m", "--wait", "5m"],
      ...["--context", "Redis has pub/sub and persistence; Memcached is simpler."],
    ],
    stdio: "pipe",
    onLine: say,
  });
  if (exitCode !== 0) {
    say(`I got no answer (exit ${exitCode}) and stop here.`);
    return exitCode;
  }
  say(`The answer is ${quoted(stdout.trim())}. I go on with it. Done.`);
  return 0;
}

/** Starts the agent as a process of its own and brings it an answer from somewhere else. */
async function showStory(context: Context, patienceMs: number): Promise<number> {
  const { stdout } = context;
  stdout.write("An agent works alone, in a process of its own:\n\n");
  const agent = startAgent(context);
  const id = await Promise.race([agent.asked, agent.ended.then(() => undefined)]);
  if (id !== undefined)
    await (context.mayPrompt ? askPerson(id, context) : answerLater(id, { ended: agent.ended, patienceMs }, context));
  const { exitCode } = await agent.ended;
  if (exitCode === 0) stdout.write(`\nThat is all. See what was kept: ${context.program} show demo-add-caching\n`);
  return exitCode;
}

function startAgent({ stdout, style, self, runChild }: Context) {
  let tell: (id: string) => void = () => undefined;
  const asked = new Promise<string>((resolve) => (tell = resolve));
  const ended = runChild({
    argv: [...self, "demo", "--agent"],
    stdio: "pipe",
    onLine: (line) => {
      stdout.write(`${style.dim("agent │")} ${line}\n`);
      const id = /^asked (q-\w+)/.exec(line)?.[1];
      if (id) tell(id);
    },
  });
  return { asked, ended };
}

/** The person at this terminal answers; what cannot be taken as an answer is asked for again. */
async function askPerson(id: string, context: Context): Promise<void> {
  const { stdout, stdin } = context;
  stdout.write(`\n${context.style.bold(QUESTION)}\n  1 Redis (recommended)  2 Memcached  3 Other\n`);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    stdout.write("Your answer (a number, a name, or your own words): ");
    const typed = await stdin.readLine(context.interrupt());
    if (typed === undefined) break;
    if (await answer(id, typed, context)) return;
  }
  stdout.write("\nNo answer, so the demonstration gives one.\n");
  await answer(id, "1", context);
}

/** Nobody sits here: says how to answer from elsewhere, waits a moment, and then answers from another process. */
async function answerLater(
  id: string,
  { ended, patienceMs }: { ended: Promise<unknown>; patienceMs: number },
  context: Context,
): Promise<void> {
  const { stdout } = context;
  stdout.write(`\nAnswer it from another terminal: ${context.program} answer ${id} "Redis"\n`);
  const isAnswered = await Promise.race([ended.then(() => true), context.pause(patienceMs).then(() => false)]);
  if (isAnswered) return;
  stdout.write(`Nobody did within ${spellDuration(patienceMs)}, so the demonstration answers from a second process:\n`);
  await answer(id, "1", context);
}

async function answer(id: string, text: string, { self, runChild, stdout, program }: Context): Promise<boolean> {
  stdout.write(`\n$ ${program} answer ${id} ${quoted(text)}\n`);
  const result = await runChild({
    argv: [...self, "answer", id, "--", text],
    stdio: "pipe",
    onLine: (line) => stdout.write(`${line}\n`),
  });
  stdout.write(`${result.stdout}\n`);
  return result.exitCode === 0;
}
