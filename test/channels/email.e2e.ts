import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { emailChannel } from "../../src/channels/email/email.ts";
import type { QuestionId } from "../../src/core/id.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { AGENT } from "../builders.ts";
import { BuiltScene } from "../built.ts";
import { PageVisit } from "../page-visit.ts";
import { Scene } from "../scene.ts";
import { channelSuite } from "./channel.suite.ts";
import { OUTBOUND } from "./loopback-server.ts";
import { MailCounterpart, stopSharedMailServer } from "./mail-counterpart.ts";
import { AUTHSERV, DOMAIN, PASSWORD } from "./mail-server.ts";

const ABLE = { hasMentions: false, hasStatuses: true, isFixed: true, mayRepeat: true };
const TRAITS = { strength: "person", hasWords: true, ...ABLE } as const;
const WAIT = { timeout: 30_000, interval: 50 };

afterAll(stopSharedMailServer);

channelSuite("mail", TRAITS, () => MailCounterpart.start());

async function aMailbox() {
  const service = await MailCounterpart.start();
  onTestFinished(async () => {
    await service.close();
    expect(service.problems).toEqual([]);
  });
  return service;
}

async function aScene(service: MailCounterpart, channel = service.channel, person: object = service.person) {
  const rules = { reach: [service.reach], personChannel: true };
  const scene = new Scene({ rules, openChannel: () => Promise.resolve(channel) });
  onTestFinished(() => scene.engine.stop());
  await scene.engine.putPerson({ id: "mika", version: 0, groups: [], ...person }, SYSTEM);
  return scene;
}

async function ask(scene: Scene, raw: Record<string, unknown> = {}) {
  const { question } = await scene.ask(raw);
  await scene.pass(0);
  // An engine that works may send it itself.
  const isSent = async () => (await scene.engine.listDeliveries(question.id)).every(({ state }) => state !== "due");
  await expect.poll(isSent, WAIT).toBe(true);
  return question.id;
}

function answerOf(scene: Scene, id: QuestionId) {
  return async () => {
    const { question } = await scene.engine.read(id);
    return question.status === "answered" ? question.answer.items["1"]?.values[0] : question.status;
  };
}

test("mails of strangers, forgers and programs are passed over, and the person's own counts", async () => {
  const service = await aMailbox();
  const scene = await aScene(service);
  const id = await ask(scene);
  await service.forge();
  await service.say("B");
  void scene.engine.work();
  // The mailbox is read in order: by the time the last counts, all were read.
  await expect.poll(answerOf(scene, id), WAIT).toBe("Memcached");
  expect(service.responses()).toEqual([]);
});

test("without results of the server a reply proves nobody, and does not close high risk", async () => {
  const service = await aMailbox();
  const scene = await aScene(service);
  void scene.engine.work();
  const id = await ask(scene, { risk: "high" });
  const to = service.lastReplyTo();
  const author = `${service.mika}@${DOMAIN}`;
  const raw = `From: ${author}\r\nTo: ${to}\r\nMessage-ID: <weak@x>\r\n\r\nA\r\n`;
  await service.server.deliver({ from: `unknown@${DOMAIN}`, to, raw });
  await expect.poll(() => service.responses().length, WAIT).toBe(1);
  expect(await answerOf(scene, id)()).toBe("pending");
  const low = await ask(scene, { question: "Which port?", options: ["80", "443"], risk: "low" });
  const toLow = service.lastReplyTo();
  await service.server.deliver({ from: `unknown@${DOMAIN}`, to: toLow, raw: raw.replace(to, toLow) });
  await expect.poll(answerOf(scene, low), WAIT).toBe("80");
  expect((await scene.engine.read(low)).question).toMatchObject({ answer: { by: { id: "mika", strength: "bearer" } } });
});

test("a mail that comes back marks its delivery as failed, with the reason and without the address", async () => {
  const service = await aMailbox();
  const channel = emailChannel(service.settings(), OUTBOUND);
  const scene = await aScene(service, channel, { email: `gone@${DOMAIN}` });
  void scene.engine.work();
  const id = await ask(scene);
  const failure = async () => (await scene.engine.listDeliveries(id))[0];
  await expect.poll(async () => (await failure())?.state, WAIT).toBe("failed");
  expect((await failure())?.failure?.why).toContain("no such person");
  expect((await failure())?.failure?.why).not.toContain(`gone@`);
  const { run } = await scene.engine.read(id);
  const events = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
  expect(events.filter((type) => type === "question.delivery_failed")).toHaveLength(1);
});

/** The mails of the person, oldest first, once there are this many. */
async function mailsOf({ server, mika }: MailCounterpart, count: number) {
  await expect.poll(() => server.mails(mika).length, WAIT).toBe(count);
  return Promise.all(server.mails(mika).map((source) => PostalMime.parse(source)));
}

test("the questions of one run are one thread, and those of another run are another", async () => {
  const service = await aMailbox();
  const scene = await aScene(service);
  const first = await scene.ask();
  await scene.pass(0);
  await scene.engine.cancel(first.question.id, { resume: "try again" }, SYSTEM);
  await scene.engine.ask(scene.input({ question: "Which port?" }), AGENT, { runId: first.run.id });
  await scene.pass(0);
  await ask(scene, { question: "Which region?" });
  const mails = await mailsOf(service, 4);
  const threads = new Map<string, string[]>();
  for (const { subject = "", references = "", inReplyTo } of mails) {
    const [root = ""] = references.split(" ");
    threads.set(root, [...(threads.get(root) ?? []), subject]);
    expect(references).toContain(inReplyTo);
  }
  expect([...threads.values()].map((subjects) => subjects.length)).toEqual([3, 1]);
});

test("a provider without tagged addresses: the reply goes to the plain address and is found by the mail it answers", async () => {
  const service = await aMailbox();
  const channel = emailChannel({ ...service.settings(), hasTags: false }, OUTBOUND);
  const scene = await aScene(service, channel);
  void scene.engine.work();
  const first = await ask(scene);
  const second = await ask(scene, { question: "Which port?", options: ["80", "443"] });
  const [cache, port] = await mailsOf(service, 2);
  expect([cache?.replyTo, port?.replyTo]).toEqual([undefined, undefined]);
  await service.reply({ email: port! }, "B");
  await expect.poll(answerOf(scene, second), WAIT).toBe("443");
  expect(await answerOf(scene, first)()).toBe("pending");
  await service.reply({ email: cache! }, "A");
  await expect.poll(answerOf(scene, first), WAIT).toBe("Redis");
  expect((await scene.engine.read(first)).question).toMatchObject({
    answer: { by: { id: "mika", strength: "person" } },
  });
});

test("following a link of a mail changes nothing, signed in or not, whatever else the address says", async () => {
  const service = await aMailbox();
  const publicUrl = "https://askd.example.com";
  const rules = { reach: [service.reach], personChannel: true, publicUrl };
  const scene = new Scene({ rules, openChannel: () => Promise.resolve(service.channel) });
  await scene.engine.putPerson({ id: "mika", version: 0, groups: [], ...service.person }, SYSTEM);
  const visit = await PageVisit.start({}, {}, scene);
  onTestFinished(() => visit.stop());
  const id = await ask(scene);
  const [mail] = await mailsOf(service, 1);
  const links = [...`${mail?.text} ${mail?.html}`.matchAll(/https:\/\/askd\.example\.com(\/[^\s"<>]*)/g)].map(
    ([, path]) => path!,
  );
  expect(links.length).toBeGreaterThan(0);
  const version = (await scene.engine.read(id)).question.version;
  for (const path of new Set(links))
    for (const wish of ["", "?choose=Redis", "?do=answer&i.0=0", "/answer?do=answer&i.0=0"]) {
      await visit.open(`${path}${wish}`);
      await visit.at.send("GET", `${path}${wish}`, {
        headers: { accept: "text/html", "user-agent": "a mail scanner" },
      });
    }
  expect((await scene.engine.read(id)).question).toMatchObject({ status: "pending", version });
});

test("the mail server restarts, and replies before, meanwhile and after it are taken once", async () => {
  const service = await aMailbox();
  const scene = await aScene(service);
  void scene.engine.work();
  const ids: QuestionId[] = [];
  for (const step of ["before", "meanwhile", "after"]) {
    ids.push(await ask(scene, { question: `Now (${step})?`, options: ["yes", "no"] }));
    if (step === "meanwhile") await service.server.stopDovecot();
    await service.say("A");
    if (step === "meanwhile") service.server.startDovecot();
    await expect.poll(answerOf(scene, ids.at(-1)!), WAIT).toBe("yes");
  }
  expect(service.responses()).toEqual([]);
}, 90_000);

test("the server gives new uids to everything: nothing is taken twice, nothing is lost", async () => {
  const service = await aMailbox();
  const scene = await aScene(service);
  const working = scene.engine.work();
  const first = await ask(scene);
  await service.say("A");
  await expect.poll(answerOf(scene, first), WAIT).toBe("Redis");
  await scene.engine.stop();
  await working;
  service.server.forgetUids(service.answers);
  // A stopped engine does nothing more: another one goes on with the same store.
  const next = new Scene({
    rules: scene.rules,
    store: () => scene.store,
    openChannel: () => Promise.resolve(service.channel),
  });
  onTestFinished(() => next.engine.stop());
  const second = await ask(next, { question: "Which port?", options: ["80", "443"] });
  await service.say("B");
  void next.engine.work();
  await expect.poll(answerOf(next, second), WAIT).toBe("443");
  const { run } = await next.engine.read(first);
  const events = (await next.engine.readChain(run.id)).map(({ event }) => event.type);
  expect(events.filter((type) => type === "question.answered")).toHaveLength(1);
  expect(events).not.toContain("question.late_reply");
  expect(service.responses()).toEqual([]);
});

test("two stores share one mailbox: each takes its own replies and leaves the others", async () => {
  const service = await aMailbox();
  const [one, two] = [await aScene(service), await aScene(service)];
  void one.engine.work();
  void two.engine.work();
  const first = await ask(one);
  await service.say("A");
  const second = await ask(two);
  await service.say("B");
  await expect.poll(answerOf(one, first), WAIT).toBe("Redis");
  await expect.poll(answerOf(two, second), WAIT).toBe("Memcached");
  expect(service.responses()).toEqual([]);
});

test("1,000 unread mails wait at the start, and the one reply among them is found", async () => {
  const service = await aMailbox();
  const scene = await aScene(service);
  const id = await ask(scene);
  fill(service, 500);
  await service.say("B");
  fill(service, 500);
  void scene.engine.work();
  await expect.poll(answerOf(scene, id), WAIT).toBe("Memcached");
});

/** Puts mail of others into the mailbox, as the server keeps it. */
function fill(service: MailCounterpart, count: number) {
  const box = join(service.server.dir, "mail", service.answers);
  const { uid, gid } = statSync(join(service.server.dir, "mail"));
  for (const folder of [box, ...["cur", "new", "tmp"].map((name) => join(box, name))]) {
    mkdirSync(folder, { recursive: true });
    chownSync(folder, uid, gid);
  }
  for (let index = 0; index < count; index += 1) {
    const name = `${Math.floor(Date.now() / 1000)}.M${process.hrtime.bigint() % 1_000_000n}P${randomBytes(6).toString("hex")}.test`;
    const token = randomBytes(16).toString("hex");
    const to = index % 2 === 0 ? `${service.answers}@${DOMAIN}` : `${service.answers}+${token}@${DOMAIN}`;
    const file = join(box, "new", name);
    writeFileSync(
      file,
      `Delivered-To: ${to}\nFrom: lena@${DOMAIN}\nTo: ${to}\nSubject: News ${index}\nMessage-ID: <${name}@x>\n\nA\n`,
    );
    chownSync(file, uid, gid);
  }
}

test("a reply in HTML only, with a file attached: the words count, the file is named", async () => {
  const service = await aMailbox();
  const scene = await aScene(service);
  void scene.engine.work();
  const id = await ask(scene);
  const to = service.lastReplyTo();
  const html = `<div dir="ltr">Hi,<br><br>b)<br>it is there</div><div class="gmail_quote">On Thu askd wrote:<blockquote>Redis or Memcached?</blockquote></div>`;
  const raw = [
    `From: Mika <${service.mika}@${DOMAIN}>`,
    `To: ${to}`,
    "Message-ID: <html@x>",
    "MIME-Version: 1.0",
    "Content-Type: multipart/mixed; boundary=M",
    "",
    "--M",
    "Content-Type: text/html; charset=utf-8",
    "",
    html,
    "--M",
    "Content-Type: application/pdf",
    "Content-Disposition: attachment; filename=plan.pdf",
    "",
    "xx",
    "--M--",
    "",
  ].join("\r\n");
  await service.server.deliver({ from: `${service.mika}@${DOMAIN}`, to, raw });
  await expect.poll(answerOf(scene, id), WAIT).toBe("Memcached");
  const { question } = await scene.engine.read(id);
  expect(question).toMatchObject({
    answer: { note: expect.stringMatching(/^it is there\n\n\(attached.*plan\.pdf\)$/) },
  });
});

test("a shared address gets each question, and whoever has the mail may answer as nobody in particular", async () => {
  const service = await aMailbox();
  const channel = service.watched(emailChannel({ ...service.settings(), to: [`${service.mika}@${DOMAIN}`] }, OUTBOUND));
  const rules = { reach: [{ ...service.reach, isPersonal: false }], personChannel: true };
  const scene = new Scene({ rules, openChannel: () => Promise.resolve(channel) });
  onTestFinished(() => scene.engine.stop());
  void scene.engine.work();
  const id = await ask(scene, { risk: "low" });
  await expect.poll(() => service.shown().length, WAIT).toBe(1);
  await service.say("A");
  await expect.poll(answerOf(scene, id), WAIT).toBe("Redis");
  expect((await scene.engine.read(id)).question).toMatchObject({ answer: { by: { id: "email", strength: "bearer" } } });
});

test("setup email goes from nothing to an answered test question", async () => {
  const service = await aMailbox();
  const { server } = service;
  const scene = new BuiltScene();
  const password = join(scene.home, "password");
  const ca = join(scene.home, "ca.pem");
  writeFileSync(password, `${PASSWORD}\n`, { mode: 0o600 });
  writeFileSync(ca, server.ca);
  await scene.type("config", "set", "--user", "channels.email.ca_file", ca);
  await scene.type("config", "set", "--user", "channels.email.imap.tls", "implicit");
  const servers = ["--smtp", `127.0.0.1:${server.ports.submission}`, "--imap", `127.0.0.1:${server.ports.imap}`];
  const mine = ["--to", `${service.mika}@${DOMAIN}`, "--authserv", AUTHSERV, "--password-file", password];
  const setUp = scene.follow("setup", "email", `${service.answers}@${DOMAIN}`, ...servers, ...mine);
  await expect.poll(() => server.mails(service.mika).length, { timeout: 60_000, interval: 200 }).toBe(1);
  await service.reply({ email: await PostalMime.parse(server.mails(service.mika)[0] ?? "") }, "A");
  expect(await setUp.ended).toMatchObject({ exit: 0, stderr: expect.stringContaining("It works.") });
  expect(setUp.stderr()).not.toContain(PASSWORD);
}, 120_000);
