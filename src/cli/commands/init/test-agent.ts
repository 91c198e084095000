import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";

/** The test question of init. */
export const TEST_QUESTION = "Is this the right terminal?";
export const TEST_OPTIONS = ["Yes", "No"] as const;

const flags = {} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "test-agent",
  flags,
  run: (_args, context) => ask(context),
};

/** An agent as small as can be: it asks by a marker and ends, and says what it was told when it is started again. */
async function ask({ env, stdout, readFile }: Context): Promise<number> {
  const file = env["ASKD_ANSWER_FILE"];
  if (file === undefined) {
    const asked = JSON.stringify({ question: TEST_QUESTION, options: TEST_OPTIONS });
    stdout.write(`I ask and end.\n<<ASK_HUMAN>> ${asked} <</ASK_HUMAN>>\n`);
    return 0;
  }
  const told = await readFile(file);
  stdout.write(`I was started again and told:\n${told}\n`);
  return 0;
}
