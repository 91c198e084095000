import { randomBytes } from "node:crypto";
import { Refusal } from "../../../core/refusal.ts";
import { parseIssue } from "../../../core/run/issue.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Context } from "../../context.ts";
import { makeGithubApp, waitForInstallation } from "./github-app.ts";
import { oneLine } from "../../view/sanitise.ts";
import { keepSecret, readSecretLine, say } from "./secret-input.ts";

const SECRET_BYTES = 24;
const GITHUB_URL = "https://api.github.com";
const USAGE = "setup github <owner>/<repo>[#<issue>]";

type Pairs = Array<[key: string, value: string]>;

/**
 * Asks for a token that can write comments in one repository. With an issue, questions that belong to none are asked
 * there, and the test question too.
 */
export async function setUpGithub(
  words: readonly string[],
  given: {
    server?: string | undefined;
    "token-file"?: string | undefined;
    app?: boolean | undefined;
    organisation?: string | undefined;
  },
  context: Context,
): Promise<Pairs> {
  const [name = "", ...more] = words;
  const { repo, issue } = readPlace(name);
  if (repo === undefined || more.length > 0) throw wrongUsage("Name the repository of the issues", USAGE);
  const place: Pairs = [
    ["channels.github.repo", repo],
    ...(issue === undefined ? [] : ([["channels.github.issue", issue]] as Pairs)),
    ...(given.server === undefined ? [] : ([["channels.github.url", given.server]] as Pairs)),
  ];
  if (given.app) {
    const api = (given.server ?? GITHUB_URL).replace(/\/+$/, "");
    const { id, keyFile, secretFile, url } = await makeGithubApp({ api, organisation: given.organisation }, context);
    say(context, `✓ The app is made; its key is in ${keyFile}`);
    say(context, `Install it in the repository: ${oneLine(url)}/installations/new`);
    return [
      ["channels.github.mode", "app"],
      ["channels.github.app_id", String(id)],
      ["channels.github.app_key_file", keyFile],
      ...(secretFile === undefined ? [] : ([["channels.github.webhook_secret_file", secretFile]] as Pairs)),
      ...place,
    ];
  }
  const file =
    given["token-file"] ??
    (await keepSecret("github-token", await readToken({ repo, server: given.server }, context), context));
  const secret = await keepSecret("github-webhook-secret", randomBytes(SECRET_BYTES).toString("hex"), context);
  return [
    ["channels.github.mode", "poll"],
    ["channels.github.token_file", file],
    ["channels.github.webhook_secret_file", secret],
    ...place,
  ];
}

function readPlace(name: string): { repo?: string; issue?: string } {
  if (/^[\w.-]+\/[\w.-]+$/.test(name)) return { repo: name };
  if (name === "") return {};
  const { repo, number } = parseIssue(name);
  return repo === undefined ? {} : { repo, issue: `${repo}#${number}` };
}

async function readToken({ repo, server }: { repo: string; server: string | undefined }, context: Context) {
  say(context, "Open https://github.com/settings/personal-access-tokens/new and choose:");
  say(context, `  Repository access: Only select repositories, ${repo}`);
  say(context, "  Permissions, Repository: Issues (read and write), Pull requests (read and write), Metadata (read)");
  const gh = await findGh(context);
  const offer =
    gh === undefined ? "" : ", or press Enter to use the token of gh, which reaches all of your repositories";
  say(context, `Then paste the token here${offer}:`);
  // A terminal that is closed accepts nothing.
  const typed = gh === undefined ? await readSecretLine(context) : await context.stdin.readLine(context.interrupt());
  const token = gh !== undefined && typed?.trim() === "" ? await readGhToken(gh, server, context) : typed?.trim();
  if (token !== undefined && /^(?:github_pat_|gh[a-z]_)\w{10,}$/.test(token)) return token;
  throw new Refusal("bad_input", "This is no token of GitHub", { hint: "It looks like github_pat_…" });
}

/** GitHub's own program, if a person is there to accept its token. */
async function findGh({ stdin, env, cwd }: Context): Promise<string | undefined> {
  if (!stdin.isTty) return undefined;
  const { findProgram } = await import("../../../agents/runner/launch.ts");
  return findProgram("gh", env, cwd);
}

async function readGhToken(gh: string, server: string | undefined, context: Context): Promise<string> {
  const host = server === undefined ? "github.com" : new URL(server).hostname.replace(/^api\./, "");
  const { exitCode, stdout } = await context.runChild({
    argv: [gh, "auth", "token", "--hostname", host],
    stdio: "pipe",
  });
  if (exitCode === 0) return stdout.trim();
  throw new Refusal("bad_input", `gh is not signed in to ${host}`, { hint: `Type: gh auth login --hostname ${host}` });
}

/** Waits for the installation of an app that was just made. */
export async function waitForApp(context: Context): Promise<void> {
  say(context, `✓ ${await waitForInstallation(context)}`);
}

/** The next step where there is no issue for a test question. */
export async function sayGithubNext(context: Context): Promise<number> {
  const { repo } = context.config.values.channels?.github ?? {};
  say(context, `✓ ${await (await context.openChannel("github")).verify()}`);
  say(context, `Try it in an issue: ${context.program} ask "Can you read this?" -o Yes -o No --issue ${repo}#1`);
  return 0;
}
