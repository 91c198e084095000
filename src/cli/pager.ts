import type { Context } from "./context.ts";

const USUAL = "less -FRX";

/** The pager that this person has chosen, as words; none for `cat` and where it is set to nothing. */
export function findPager(env: Context["env"]): string[] | undefined {
  const chosen = env["ASKD_PAGER"] ?? env["PAGER"] ?? USUAL;
  const argv = chosen.trim().split(/\s+/).filter(Boolean);
  return argv.length === 0 || argv[0] === "cat" ? undefined : argv;
}

/** Shows a text in the pager; false where there is none that works. */
export async function showInPager(
  text: string,
  { env, runChild }: Pick<Context, "env" | "runChild">,
): Promise<boolean> {
  const argv = findPager(env);
  if (!argv) return false;
  try {
    await runChild({ argv, stdio: "inherit", input: text });
    return true;
  } catch {
    return false; // it is not there: the text is printed as it is
  }
}
