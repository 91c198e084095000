// Secrets that must not reach GitHub, where everybody who may read the repository sees them.
import { redactor, secretsIn } from "./redact.mjs";

const OWN = ["GITHUB_TOKEN", "ASKD_KEY", "ASKD_TOKEN"];
/** The most that a server accepts with a question. */
const MOST_SECRETS = 500;

/** Secrets in the environment of a step. Its inputs are what it shows: `INPUT_KEY` is the name of a question. */
export function readOwnSecrets(env) {
  const others = Object.entries(env).filter(([name]) => !name.startsWith("INPUT_"));
  const own = OWN.flatMap((name) => env[name] || []);
  return [...new Set([...own, ...secretsIn(Object.fromEntries(others))])].slice(0, MOST_SECRETS);
}

/** Creates the redactor of a step. An absent text stays absent. */
export function redactorOf(env) {
  const clean = redactor(readOwnSecrets(env));
  return (text) => (text === undefined || text === null ? text : clean(text));
}

/** A text that answers or settings are matched with cannot be redacted; with a secret in it nothing is asked. */
export function requireNoSecret(name, text, clean) {
  if (clean(text) === text) return;
  throw new Error(`${name} contains a secret, or what looks like one. Everybody who reads the repository would see it`);
}
