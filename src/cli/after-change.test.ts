import { expect, test } from "vitest";
import { ConfigHome } from "../../test/config-home.ts";
import { Scene } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";

const NTFY = '[channels.ntfy]\nurl = "https://ntfy.example.com"\ntopic = "askd-q"\nreply_topic = "askd-a"\n';
const VERBS = [
  ["answer", "1", "Redis"],
  ["answer", "1", "Redis", "--undo-window", "1m"],
  ["claim", "1"],
  ["extend", "1", "1h"],
  ["cancel", "1"],
  ["runs", "cancel", "1"],
];

/** Types a command about a question, without a worker that runs. */
async function typeAbout({ reaches }: { reaches: boolean }, argv: readonly string[], env: Record<string, string> = {}) {
  const home = new ConfigHome();
  if (reaches) home.write(home.userFile, NTFY);
  const reach = reaches ? [{ name: "ntfy", person: undefined, isPersonal: false }] : [];
  const scene = new Scene({ rules: { reach } });
  await scene.ask();
  let started = 0;
  const typed = await type(scene, argv, {
    env: { HOME: home.home, XDG_CONFIG_HOME: `${home.home}/.config`, ...env },
    homeDir: home.home,
    isLocked: () => Promise.resolve(false),
    detach: async () => void (started += 1),
  });
  return { ...typed, started };
}

test.each(VERBS.map((argv) => ({ argv })))(
  "$argv starts a worker for the message that people have",
  async ({ argv }) => {
    expect(await typeAbout({ reaches: true }, argv)).toMatchObject({ exit: 0, stderr: "", started: 1 });
  },
);

test.each(VERBS.map((argv) => ({ argv })))("$argv starts nothing where nobody has a message", async ({ argv }) => {
  expect(await typeAbout({ reaches: false }, argv)).toMatchObject({ exit: 0, stderr: "", started: 0 });
});

test("where nothing may run in the background, the command says what the messages wait for", async () => {
  expect(await typeAbout({ reaches: true }, ["answer", "1", "Redis"], { CI: "1" })).toMatchObject({
    exit: 0,
    stderr: "No worker or server runs here to update the messages (ntfy). Start one: askd worker\n",
    started: 0,
  });
});
