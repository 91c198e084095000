import { redact } from "./redact.ts";
import { isPlaceholder } from "./secret-value.ts";

const SECRET_NAME =
  /TOKEN|SECRET|PASSW|PASSPHRASE|PASSCODE|CREDENTIAL|KEY|AUTH|(?:^|_)(?:PASS|PWD|PAT|PW|DSN|SALT|COOKIE|SIGNATURE|WEBHOOK|JWT|OTP)(?:_|$)|CONNECTION_?STRING/i;
/** Folders and sockets whose names look like those of secrets. */
const NO_SECRET_NAME = /^(?:PWD|OLDPWD|SSH_AUTH_SOCK|XAUTHORITY)$|(?:_FILE|_PATH|_DIR|_SOCK)$/i;
const SHORTEST_SECRET = 8;
const LONGEST_SECRET = 10_000;

type Env = Readonly<Record<string, string | undefined>>;

/** Environment values that must not reach a channel: secret by name, by format, or as a login in a URL. */
export function secretsIn(env: Env): string[] {
  const found = Object.entries(env).flatMap(([name, value]) => (value ? secretsOf(name, value) : []));
  return [...new Set(found)];
}

function secretsOf(name: string, value: string) {
  if (value.length < SHORTEST_SECRET || value.length > LONGEST_SECRET || NO_SECRET_NAME.test(name)) return [];
  const login = /:\/\/[^\s/@:]*:([^\s@]{4,})@/.exec(value)?.[1];
  const password = login !== undefined && login.length >= SHORTEST_SECRET ? [login] : [];
  const isSecret = SECRET_NAME.test(name) ? !isPlaceholder(value) : redact(value, []) !== value;
  return isSecret ? [value, ...password] : password;
}

const ENTRY =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^])*)"|'([^']*)'|([^\n\r#]*))/gm;

/** Parses the variables of a `.env` file; a quoted value may span lines. */
export function parseEnvFile(text: string): Record<string, string> {
  const entries = [...text.matchAll(ENTRY)].map(([, name = "", double, single, bare = ""]) => {
    const unescaped = double?.replace(/\\(["\\nrt])/g, (_, char: string) => ESCAPED[char] ?? char);
    return [name, unescaped ?? single ?? bare.trim()] as const;
  });
  return Object.fromEntries(entries);
}

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
