import { installPrograms } from "./debian.ts";

// node scripts/run.mjs test/programs.ts test|e2e
// Installs what the tests of a suite start, before them: inside a test the time of an installation would count.
const BOTH = {
  tmux: "tmux",
  pgbouncer: "pgbouncer",
  pg_ctlcluster: "postgresql",
  postfix: "postfix",
  // A machine may have one part of Dovecot without the others.
  "/usr/lib/dovecot/imap": "dovecot-imapd",
  "/usr/lib/dovecot/lmtp": "dovecot-lmtpd",
};
const SUITES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  test: {
    ...BOTH,
    zsh: "zsh",
    fish: "fish",
    nginx: "nginx",
    caddy: "caddy",
  },
  e2e: {
    ...BOTH,
    chromium: "chromium",
    mutt: "mutt",
    apprise: "apprise",
    dunst: "dunst",
    Xvfb: "xvfb",
    "dbus-daemon": "dbus-daemon",
    "dbus-send": "dbus-bin",
  },
};

installPrograms(SUITES[process.argv[2] ?? ""] ?? {});
