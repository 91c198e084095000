/** How surely a noun names a secret: a `weak` one ("key", "code") only where somebody demands it for themselves. */
export type SecretNoun = "strong" | "weak";

/** The words of a list, for look-ups. */
export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/));
}

const ALWAYS_SECRET = wordSet(
  `password passwords passwd pwd pw passphrase passphrases passcode passcodes token tokens secret secrets credential
  credentials creds pat otp totp pin passwort passwörter passworts kennwort kennwörter kennworts zugangsdaten
  anmeldedaten logindaten zugangscode tan`,
);
/** A German compound is what it ends in: `Datenbankpasswort` is a password, `Passwortfeld` is not. */
const GERMAN_COMPOUND =
  /(?:passwort|kennwort|zugangsdaten|token|(?:einmal|bestätigungs|sicherheits|freischalt|zugangs)code)s?$/u;
/** The name of a variable that holds a secret, as in `DB_PASSWORD` or `STRIPE_SECRET_KEY`. */
const VARIABLE =
  /_(?:password|passwd|pwd|token|secret|pat|credentials?)$|(?:^|_)(?:api|secret|access|private|signing|encryption|license|auth|account)_key(?:_|$)/u;

const KEY_OWNERS = wordSet(
  `api access secret private ssh signing encryption decryption license licence unseal deploy master account json
  recovery gpg pgp auth openai anthropic stripe aws azure google gcp github gitlab sendgrid mailgun twilio cloudflare
  datadog sentry huggingface s3`,
);
const CODE_OWNERS = wordSet(
  `2fa mfa otp totp pin time one-time verification authenticator security recovery backup sms digit six-digit 6-digit
  sechsstelligen 6-stelligen`,
);
const PHRASE_OWNERS = wordSet("seed recovery secret pass mnemonic");
const PUBLIC = /^(?:public|öffentlich)/u;
const GERMAN_KEY = /^(?:privat|geheim|api|master|ssh|lizenz)/u;
/** An English noun that is followed by anything else is part of another one: "token endpoint", "password hash". */
const FOLLOWERS = wordSet(
  `for of to so here in now from with that which and or please pls i you we used is are set below as then at on by
  until before via into over needed required again first should shall did do does has have had am was will would can
  could must be was were when where if since because right too anywhere yet unlocks opens works , ; : ( ) ? !`,
);

/** The kind of secret that the word at this place names, if that word is what its phrase is about. */
export function findSecretNoun(words: readonly string[], place: number, isGerman: boolean): SecretNoun | undefined {
  const next = words[place + 1];
  // A German compound is one word, so the next word never changes what this one is.
  if (!isGerman && next !== undefined && !FOLLOWERS.has(next)) return undefined;
  const word = words[place] ?? "";
  if (word.includes("_")) return VARIABLE.test(word) ? "strong" : undefined;
  const parts = word.split("-");
  const last = parts.at(-1) ?? "";
  const owner = parts.at(-2) ?? words[place - 1] ?? "";
  if (PUBLIC.test(owner) || PUBLIC.test(words[place - 2] ?? "")) return undefined;
  if (ALWAYS_SECRET.has(last) || GERMAN_COMPOUND.test(last)) return "strong";
  return last.endsWith("schlüssel") ? nameGermanKey(last, owner) : nameKey(last, owner);
}

function nameKey(last: string, owner: string): SecretNoun | undefined {
  if (last === "phrase") return PHRASE_OWNERS.has(owner) ? "strong" : undefined;
  if (last === "key" || last === "keys") return KEY_OWNERS.has(owner) ? "strong" : "weak";
  if (last === "code" || last === "codes") return CODE_OWNERS.has(owner) ? "strong" : "weak";
  return undefined;
}

function nameGermanKey(last: string, owner: string): SecretNoun | undefined {
  if (GERMAN_KEY.test(last) || GERMAN_KEY.test(owner)) return "strong";
  return last === "schlüssel" ? "weak" : undefined;
}

/** Plurals name what a program handles, not a value somebody is asked for. */
export function isKindOfThing(word: string): boolean {
  return /(?:^|-)(?:tokens|secrets|keys|codes|passwords|passwörter)$/u.test(word);
}

/** Passwords and their like are asked for where "which" asks about a token: a token has a kind, a name and an owner. */
export function isPassword(word: string): boolean {
  return /(?:password|passphrase|passcode|passwort|kennwort|pin|pw)$/u.test(word);
}
