const SECRET_NAME = /(?:^|_)(?:token|secret|passw(?:or)?d|passphrase|credentials?|(?:api|private|access)_?key)s?$/i;

/** Says whether a key of this name would hold a secret itself, and not the place where one is kept. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}
