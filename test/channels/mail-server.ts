import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, connect as openSocket } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import type { EmailSettings, MailServerSettings } from "../../src/core/channel/channel-settings.ts";
import { ownCertificate } from "../certificate.ts";
import { ensureProgram } from "../debian.ts";

export const DOMAIN = "askd.test";
export const PASSWORD = "correct-horse";
/** The name under which this server writes what it found out about senders. */
export const AUTHSERV = "mx.askd.test";
const READY_MS = 20_000;

/**
 * Debian's Postfix and Dovecot on loopback, with TLS by a certificate of our own. Every name is a mailbox with the same
 * password; `name+tag` reaches `name`. Mail to `gone` is accepted and comes back, as in real life.
 */
export class MailServer {
  readonly dir: string;
  readonly ca: string;
  readonly ports: { submission: number; mx: number; imap: number };
  readonly #sources = new Map<string, string>();

  /** Starts both programs; throws if they cannot be had or do not start. */
  static async start(): Promise<MailServer> {
    ensureProgram("postfix");
    // A machine may have one of its parts without the others.
    ensureProgram("/usr/lib/dovecot/imap", "dovecot-imapd");
    ensureProgram("/usr/lib/dovecot/lmtp", "dovecot-lmtpd");
    const [submission, mx, imap] = await Promise.all([freePort(), freePort(), freePort()]);
    const server = new MailServer({ submission, mx, imap });
    server.startDovecot();
    server.#run("postfix", "-c", join(server.dir, "etc"), "start");
    for (const port of [submission, mx, imap]) await waitForPort(port);
    return server;
  }

  private constructor(ports: { submission: number; mx: number; imap: number }) {
    this.ports = ports;
    this.dir = mkdtempSync(join(tmpdir(), "askd-mail-"));
    chmodSync(this.dir, 0o755); // both programs give up their rights and must still get in
    for (const name of ["etc", "queue", "data", "run", "run/dovecot", "mail"])
      mkdirSync(join(this.dir, name), { recursive: true });
    this.#run("chown", "postfix", join(this.dir, "data"));
    this.#run("chown", "mail", join(this.dir, "mail"));
    const { key, cert } = ownCertificate();
    this.ca = cert;
    writeFileSync(join(this.dir, "etc", "cert.pem"), cert);
    writeFileSync(join(this.dir, "etc", "key.pem"), key, { mode: 0o600 });
    for (const [name, text] of Object.entries(configFiles(this.dir, ports)))
      writeFileSync(join(this.dir, "etc", name), text);
  }

  startDovecot(): void {
    this.#run("dovecot", "-c", join(this.dir, "etc", "dovecot.conf"));
  }

  /** Stops the server of mailboxes, as a restart does: connections are lost. */
  async stopDovecot(): Promise<void> {
    spawnSync("doveadm", ["-c", join(this.dir, "etc", "dovecot.conf"), "stop"]);
    await waitForPort(this.ports.imap, false);
  }

  async restartDovecot(): Promise<void> {
    await this.stopDovecot();
    this.startDovecot();
    await waitForPort(this.ports.imap);
  }

  /** Hands in a mail from outside, as another server would. */
  async deliver(mail: { from: string; to: string; raw: string }): Promise<void> {
    const transport = createTransport({ host: "127.0.0.1", port: this.ports.mx, secure: false, ignoreTLS: true });
    try {
      await transport.sendMail({ envelope: { from: mail.from, to: [mail.to] }, raw: mail.raw });
    } finally {
      transport.close();
    }
  }

  /** The mails in a mailbox as they are on the disk, oldest first. */
  mails(name: string): string[] {
    const folders = ["new", "cur"].map((folder) => join(this.dir, "mail", name, folder));
    const files = folders.flatMap((folder) => listFiles(folder).map((file) => ({ folder, file })));
    return files
      .sort((one, other) => order(one.file) - order(other.file))
      .map(({ folder, file }) => this.#read(folder, file));
  }

  /** A mail does not change; its file gets another name when it is read. */
  #read(folder: string, file: string): string {
    const name = file.split(":")[0] ?? file;
    const source = this.#sources.get(name) ?? readFileSync(join(folder, file), "utf8");
    this.#sources.set(name, source);
    return source;
  }

  /** Says whether every mail that was taken is in its mailbox. */
  isQueueEmpty(): boolean {
    return ["maildrop", "incoming", "active", "deferred"].every((name) => {
      const folder = join(this.dir, "queue", name);
      return readdirSync(folder, { recursive: true, withFileTypes: true }).every((entry) => !entry.isFile());
    });
  }

  /** Forgets the uids of a mailbox: the server gives new ones, and a new UIDVALIDITY. */
  forgetUids(name: string): void {
    for (const file of listFiles(join(this.dir, "mail", name)).filter((each) => each.startsWith("dovecot")))
      rmSync(join(this.dir, "mail", name, file), { force: true, recursive: true });
  }

  async stop(): Promise<void> {
    await this.stopDovecot();
    spawnSync("postfix", ["-c", join(this.dir, "etc"), "stop"], { stdio: "ignore" });
    await waitForPort(this.ports.mx, false);
    rmSync(this.dir, { recursive: true, force: true });
  }

  #run(program: string, ...args: string[]) {
    // A daemon keeps a pipe to us open, and waiting for its end would never end: what it says goes to a file.
    const said = openSync(join(this.dir, "started.log"), "a");
    const { status } = spawnSync(program, args, { stdio: ["ignore", said, said] });
    closeSync(said);
    if (status === 0) return;
    const logs = ["started.log", "mail.log", "dovecot.log"].filter((name) => listFiles(this.dir).includes(name));
    const log = logs.map((name) => readFileSync(join(this.dir, name), "utf8").slice(-500)).join("\n");
    throw new Error(`${program} ended with ${status}: ${log} (the tests of mail need root)`);
  }
}

/** The settings of askd for a mailbox of such a server. */
export function mailSettings(
  { user, ports, ca }: { user: string; ports: { submission: number; imap: number }; ca: string },
  password: string = PASSWORD,
): EmailSettings & { imap: MailServerSettings } {
  const at = (port: number, tls: MailServerSettings["tls"]): MailServerSettings => ({
    host: "127.0.0.1",
    port,
    tls,
    user,
    readPassword: () => password,
    readCa: () => ca,
  });
  return {
    from: `${user}@${DOMAIN}`,
    to: [],
    smtp: at(ports.submission, "starttls"),
    imap: at(ports.imap, "implicit"),
    authserv: AUTHSERV,
    removesForgedResults: false,
    hasTags: true,
  };
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // a mailbox exists from its first mail on
  }
}

/** A file of a maildir begins with the second, and has the microsecond after an M. */
function order(file: string) {
  const [, second = "0", micro = "0"] = /^(\d+)\.M(\d+)/.exec(file) ?? [];
  return Number(second) * 1e6 + Number(micro);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function waitForPort(port: number, isUp = true): Promise<void> {
  for (const end = Date.now() + READY_MS; Date.now() < end;) {
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = openSocket(port, "127.0.0.1", () => resolve(true));
      socket.on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (isThere === isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`port ${port} is ${isUp ? "not there" : "still there"} after ${READY_MS} ms`);
}

function configFiles(dir: string, { submission, mx, imap }: MailServer["ports"]): Record<string, string> {
  return {
    "main.cf": `
compatibility_level = 3.6
queue_directory = ${dir}/queue
data_directory = ${dir}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
maillog_file = ${dir}/mail.log
maillog_file_prefixes = ${dir}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = ${AUTHSERV}
mydomain = ${DOMAIN}
myorigin = ${DOMAIN}
mydestination =
mynetworks = 127.0.0.0/8
local_transport = error:no local mail
local_recipient_maps =
alias_maps =
alias_database =
virtual_mailbox_domains = ${DOMAIN}
virtual_mailbox_maps = static:ok
virtual_transport = lmtp:unix:${dir}/run/lmtp
transport_maps = inline:{ { gone@${DOMAIN} = error:5.1.1 no such person } }
recipient_delimiter = +
default_transport = error:this server delivers only to ${DOMAIN}
relayhost =
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_tls_cert_file = ${dir}/etc/cert.pem
smtpd_tls_key_file = ${dir}/etc/key.pem
smtpd_sasl_type = dovecot
smtpd_sasl_path = ${dir}/run/auth
smtp_tls_security_level = none
message_size_limit = 26214400
minimal_backoff_time = 2s
queue_run_delay = 2s
biff = no
smtpd_client_connection_rate_limit = 0
smtpd_client_connection_count_limit = 0
in_flow_delay = 0
smtpd_error_sleep_time = 0
`,
    "master.cf": `
127.0.0.1:${submission} inet n - n - - smtpd
  -o smtpd_tls_security_level=encrypt
  -o smtpd_sasl_auth_enable=yes
  -o smtpd_recipient_restrictions=permit_sasl_authenticated,reject
127.0.0.1:${mx} inet n - n - - smtpd
  -o smtpd_sender_restrictions=check_sender_access,regexp:${dir}/etc/results
cleanup   unix  n - n - 0 cleanup
qmgr      unix  n - n 300 1 qmgr
rewrite   unix  - - n - - trivial-rewrite
bounce    unix  - - n - 0 bounce
defer     unix  - - n - 0 bounce
trace     unix  - - n - 0 bounce
flush     unix  n - n 1000? 0 flush
proxymap  unix  - - n - - proxymap
tlsmgr    unix  - - n 1000? 1 tlsmgr
smtp      unix  - - n - - smtp
showq     unix  n - n - - showq
error     unix  - - n - - error
retry     unix  - - n - - error
lmtp      unix  - - n - - lmtp
anvil     unix  - - n - 1 anvil
postlog   unix-dgram n - n - 1 postlogd
`,
    // What a filter for DMARC would find out: the domain is ours, and forgers come from elsewhere.
    results: `
/^forger.*@/ PREPEND Authentication-Results: ${AUTHSERV}; dmarc=fail (p=reject) header.from=${DOMAIN}
/^unknown.*@/ DUNNO
/@${DOMAIN.replaceAll(".", "\\.")}$/ PREPEND Authentication-Results: ${AUTHSERV}; dkim=pass header.d=${DOMAIN}; dmarc=pass (p=reject) header.from=${DOMAIN}
`,
    "dovecot.conf": `
base_dir = ${dir}/run/dovecot
log_path = ${dir}/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
ssl = required
ssl_cert = <${dir}/etc/cert.pem
ssl_key = <${dir}/etc/key.pem
auth_mechanisms = plain login
auth_failure_delay = 0
first_valid_uid = 1
mail_location = maildir:${dir}/mail/%n
mail_uid = mail
mail_gid = mail
recipient_delimiter = +
lmtp_save_to_detail_mailbox = no
lda_mailbox_autocreate = yes
mail_max_userip_connections = 100
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=mail gid=mail home=${dir}/mail/%n
}
service auth {
  unix_listener ${dir}/run/auth {
    user = postfix
    mode = 0600
  }
}
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    address = 127.0.0.1
    port = ${imap}
    ssl = yes
  }
}
service lmtp {
  unix_listener ${dir}/run/lmtp {
    user = postfix
    group = postfix
    mode = 0600
  }
}
protocol lmtp {
  postmaster_address = postmaster@${DOMAIN}
}
`,
  };
}
