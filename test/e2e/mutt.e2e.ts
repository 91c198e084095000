import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import PostalMime from "postal-mime";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { MailCounterpart, stopSharedMailServer } from "../channels/mail-counterpart.ts";
import { ensureProgram } from "../debian.ts";
import { removeFolder } from "../remove-folder.ts";
import { Scene } from "../scene.ts";
import { Terminal } from "../tmux.ts";

const OUT = resolve("shots", "mail");
const CODE = "const value = obj.property.nested;";
const ASKED = {
  question: "Which approach fixes the null reference – und warum?",
  options: [
    { label: "Add null check", description: "Simple guard clause", recommended: true },
    { label: "Initialize early", description: "Refactor to ensure that the object exists" },
  ],
  context: `The cache is on the hot path.\n\`\`\`ts\n${CODE}\n\`\`\`\nSee \`src/cache.ts\`.`,
};
/** Mutt as Debian brings it, without any setting that changes how a mail looks. */
const MUTTRC = `set folder=~/mail spoolfile=~/mail mbox_type=Maildir sort=date
set sendmail=/bin/true wait_key=no delete=no
`;

afterAll(stopSharedMailServer);

test("the mail of a question reads well as plain text in mutt, and its reply goes to the signed address", async () => {
  ensureProgram("mutt");
  const service = await MailCounterpart.start();
  onTestFinished(() => service.close());
  const scene = new Scene({
    rules: { reach: [service.reach], personChannel: true, publicUrl: "https://askd.example.com" },
    openChannel: () => Promise.resolve(service.channel),
  });
  onTestFinished(() => scene.engine.stop());
  await scene.engine.putPerson({ id: "mika", version: 0, groups: [], ...service.person }, SYSTEM);
  await scene.ask(ASKED);
  await scene.pass(0);
  const [source = ""] = service.server.mails(service.mika);
  const terminal = openMutt(source);

  await terminal.shows("askd");
  terminal.press("Enter");
  const screen = await terminal.shows("A) Add null check");
  mkdirSync(OUT, { recursive: true });
  writeFileSync(join(OUT, "mutt-80.txt"), `${screen}\n`);
  const mail = screen.slice(screen.indexOf("\n")); // below the keys of mutt
  for (const words of ["Subject: ", ASKED.question, CODE, "B) Initialize early", "eply with A or B"])
    expect(mail).toContain(words);
  expect(mail).not.toMatch(/<\/?\w+>|=\?utf-8|=[0-9A-F]{2}\b|&\w+;|�|\[-- .*text\/html/i);
  expect(mail.split("\n").filter((line) => line.startsWith("+"))).toEqual([]); // a line that mutt had to wrap

  const { replyTo } = await PostalMime.parse(source);
  terminal.press("r");
  expect(await terminal.shows(/^Reply to answers/m)).toContain(replyTo?.[0]?.address);
});

/** Opens a mailbox with this mail on a terminal of 80 columns. */
function openMutt(source: string): Terminal {
  const home = mkdtempSync(join(tmpdir(), "askd-mutt-"));
  onTestFinished(() => removeFolder(home));
  for (const folder of ["cur", "new", "tmp"]) mkdirSync(join(home, "mail", folder), { recursive: true });
  writeFileSync(join(home, "mail", "new", "1.M1P1.test"), source);
  writeFileSync(join(home, ".muttrc"), MUTTRC);
  const terminal = new Terminal({ columns: 80, rows: 50, cwd: home, env: { HOME: home, EDITOR: "/bin/true" } });
  terminal.enter("mutt");
  return terminal;
}
