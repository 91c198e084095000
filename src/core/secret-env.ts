const SECRET_NAME = /TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|KEY/i;
const SHORTEST_SECRET = 8;

/** Values of an environment that must not reach a channel, by the names that such variables have. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value && value.length >= SHORTEST_SECRET && SECRET_NAME.test(name) ? [value] : [],
  );
}
