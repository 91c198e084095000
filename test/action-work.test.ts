import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { QUESTION, changeState, runStep, endService } from "./action-step.ts";
import { GithubServer } from "./channels/github-server.ts";

const CARRY = { ...QUESTION, carry: "~/.agent/sessions\n~/.agent/none", prompt: "Fix the null reference" };
const folder = mkdtempSync(join(tmpdir(), "askd-action-work-"));
/** An agent that keeps its session in a file, and goes on only with it. */
const AGENT = `
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
const file = process.env.HOME + "/.agent/sessions/s1.jsonl";
if (process.argv[2] === "start") {
  mkdirSync(process.env.HOME + "/.agent/sessions", { recursive: true });
  writeFileSync(file, JSON.stringify({ token: "hidden in the session" }) + "\\n");
  writeFileSync("a.txt", "changed\\n");
  writeFileSync("new.bin", Buffer.from([0, 1, 2, 255]));
} else {
  const known = existsSync(file) ? "the session" : "nothing";
  process.stdout.write("resumed with " + known + ": " + process.argv[3]);
}
`;

let service: GithubServer;
let jobs = 0;

beforeEach(async () => {
  service = await GithubServer.start();
});
afterEach(() => endService(service));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A job on a machine of its own: an empty home, and the repository as it was pushed. */
function aJob() {
  jobs += 1;
  const home = join(folder, `home-${jobs}`);
  const tree = join(folder, `tree-${jobs}`);
  for (const each of [home, tree]) mkdirSync(each);
  const env = { PATH: process.env["PATH"], HOME: home };
  const git = (...args: string[]) => execFileSync("git", args, { cwd: tree, env, encoding: "utf8", stdio: "pipe" });
  git("init", "-q", "-b", "main");
  writeFileSync(join(tree, "a.txt"), "as it was\n");
  git("add", ".");
  git("-c", "user.name=ada", "-c", "user.email=ada@example.com", "commit", "-qm", "first");
  const script = join(home, "agent.mjs");
  writeFileSync(script, AGENT);
  const agent = (...args: string[]) =>
    execFileSync(process.execPath, [script, ...args], { cwd: tree, env, encoding: "utf8" });
  const step = (inputs: Record<string, string> = CARRY) =>
    runStep(service, inputs, { env: { HOME: home, GITHUB_WORKSPACE: tree } });
  return { home, tree, agent, step, read: (name: string) => readFileSync(join(tree, name)) };
}

async function asked() {
  const first = aJob();
  first.agent("start");
  const { exit, outputs } = await first.step();
  expect({ exit, state: outputs["state"], session: outputs["session"] }).toEqual({
    exit: 0,
    state: "pending",
    session: "",
  });
  return first;
}

test("the session and the changes of the job that asked are in the job that finds the answer, and the agent goes on", async () => {
  await asked();
  await service.say("B\nit is cleaner", "mika");
  const second = aJob();
  const { outputs } = await second.step();
  expect(outputs).toMatchObject({ state: "answered", answer: "early", session: "carried" });
  expect(outputs["message"]).toBe('You asked: "Which approach?"\nAnswer by @mika: "early"\nReason: "it is cleaner"');
  expect(second.read("a.txt").toString()).toBe("changed\n");
  expect([...second.read("new.bin")]).toEqual([0, 1, 2, 255]);
  expect(second.agent("resume", outputs["message"] ?? "")).toContain("resumed with the session: You asked");
});

test("nobody who reads the repository reads the session, and the comment does not have it", async () => {
  await asked();
  const [blob = ""] = service.pulls.blobs.values();
  expect(Buffer.from(blob, "base64").toString("latin1")).not.toMatch(/hidden|sessions|changed/);
  expect([...service.refs.keys()]).toContainEqual(expect.stringMatching(/^refs\/askd\/q-[0-9a-f]+\/work$/));
  const [, state = ""] = /state=([\w-]+)\./.exec(service.comments[0]?.body ?? "") ?? [];
  expect(Buffer.from(state, "base64url").toString()).not.toMatch(/hidden|jsonl/);
});

test.each([
  ["is gone", () => service.pulls.blobs.clear()],
  ["was altered", () => alterBlobs((bytes) => bytes.fill(7, 40, 41))],
])(
  "a session that %s is lost: the agent begins anew, with its task, the answer and what it had changed",
  async (_name, lose) => {
    await asked();
    lose();
    service.add("A", "lena");
    const second = aJob();
    const { exit, outputs } = await second.step();
    expect({ exit, session: outputs["session"] }).toEqual({ exit: 0, session: "lost" });
    const message = outputs["message"] ?? "";
    for (const part of ["session in which you asked is lost", "The task: Fix the null", '"Which approach?"', "@lena"])
      expect(message).toContain(part);
    expect(message).toMatch(/a\.txt +\| +2 \+-/);
    expect(second.read("a.txt").toString()).toBe("as it was\n");
    expect(second.agent("resume", message)).toContain("resumed with nothing");
  },
);

function alterBlobs(alter: (bytes: Buffer) => Buffer) {
  for (const [sha, text] of service.pulls.blobs)
    service.pulls.blobs.set(sha, alter(Buffer.from(text, "base64")).toString("base64"));
}

test("of two jobs that find the answer at the same time only the one that goes on gets the work", async () => {
  await asked();
  service.add("A", "mika");
  service.add("B", "lena");
  const both = [aJob(), aJob()];
  const done = await Promise.all(both.map((job) => job.step()));
  const states = done.map(({ outputs }) => `${outputs["state"]} ${outputs["session"]}`.trim()).sort();
  expect(states).toEqual(["answered carried", "taken"]);
  const carried = both.filter(({ home }) => existsSync(join(home, ".agent/sessions/s1.jsonl")));
  expect(carried).toHaveLength(1);
});

test("a question whose first reply from GitHub was lost is one comment, and its work is carried", async () => {
  service.limits.plan(/^POST .*comments$/, { lost: true });
  await asked();
  expect(service.comments).toHaveLength(1);
  expect([...service.refs.keys()].map((ref) => ref.split("/").at(-1))).toEqual(["asked", "work"]);
  service.add("A", "mika");
  // The replies to both records, of the answer and of who goes on, are lost too.
  for (let count = 0; count < 2; count += 1) service.limits.plan(/^POST .*git\/refs$/, { lost: true });
  expect((await aJob().step()).outputs).toMatchObject({ state: "answered", session: "carried" });
});

test("changes that do not fit any more are left in a file that the message names", async () => {
  await asked();
  service.add("A", "mika");
  const second = aJob();
  writeFileSync(join(second.tree, "a.txt"), "somebody else was here\n");
  const { outputs } = await second.step();
  expect(outputs["session"]).toBe("carried");
  const [, file = ""] = /do not fit the working tree any more; they are in (\S+)/.exec(outputs["message"] ?? "") ?? [];
  expect(readFileSync(file, "utf8")).toContain("+changed");
  expect(second.read("a.txt").toString()).toBe("somebody else was here\n");
});

test("a path outside of the home folder is not carried, and the question is asked all the same", async () => {
  const job = aJob();
  const { exit, log, outputs } = await job.step({ ...CARRY, carry: "/etc/passwd" });
  expect({ exit, state: outputs["state"] }).toEqual({ exit: 0, state: "pending" });
  expect(log).toContain("not below the home folder");
  expect(service.pulls.blobs.size).toBe(0);
});

test("a scheduled look forgets the work of questions that were closed a week ago", async () => {
  await asked();
  service.add("A", "mika");
  await aJob().step();
  const look = () => runStep(service, {}, { event: { schedule: "0 * * * *" } });
  await look();
  expect([...service.refs.keys()].some((ref) => ref.endsWith("/work"))).toBe(true);
  changeState(service.comments[0], { at: "2020-01-01T00:00:00Z" });
  await look();
  expect([...service.refs.keys()].some((ref) => ref.endsWith("/work"))).toBe(false);
});
