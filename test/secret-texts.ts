export const LOWER = "abcdefghijklmnopqrstuvwxyz";
export const UPPER = LOWER.toUpperCase();
export const DIGITS = "0123456789";
export const HEX = `${DIGITS}abcdef`;
export const ALNUM = LOWER + UPPER + DIGITS;
export const SMALL = LOWER + DIGITS;
export const BIG = UPPER + DIGITS;
export const WORD = `${ALNUM}_-`;
export const BASE64 = `${ALNUM}+/`;

/** Text that no provider's form covers: the surroundings give the secret away. */
export const EMBEDDED: readonly (readonly [
  name: string,
  make: (made: (alphabet: string, length: number) => string) => readonly [text: string, secret: string],
])[] = [
  ...["RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", ""].map(
    (kind) =>
      [
        `${kind}private key`,
        (made: (alphabet: string, length: number) => string) => {
          const body = made(BASE64, 64);
          return [
            `-----BEGIN ${kind}PRIVATE KEY-----\n${body}\n${made(BASE64, 64)}\n-----END ${kind}PRIVATE KEY-----`,
            body,
          ] as const;
        },
      ] as const,
  ),
  [
    "PGP private key",
    (made) =>
      withSecret(
        made(BASE64, 64),
        (body) => `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${body}\n-----END PGP PRIVATE KEY BLOCK-----`,
      ),
  ],
  [
    "private key, cut off",
    (made) => withSecret(made(BASE64, 64), (body) => `-----BEGIN RSA PRIVATE KEY-----\n${body}`),
  ],
  [
    "private key in JSON",
    (made) =>
      withSecret(
        made(BASE64, 64),
        (body) =>
          `{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n${body}\\n-----END PRIVATE KEY-----\\n"}`,
      ),
  ],
  [
    "PuTTY key",
    (made) =>
      withSecret(
        made(BASE64, 64),
        (body) =>
          `PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 1\n${body}\nPrivate-MAC: ${"0a1b2c3d".repeat(5)}`,
      ),
  ],
  ...[
    "postgres",
    "postgresql",
    "mysql",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "amqp",
    "amqps",
    "mssql",
    "clickhouse",
    "ftp",
    "sftp",
    "smtp",
    "https",
    "ldap",
    "jdbc:mysql",
  ].map(
    (scheme) =>
      [
        `${scheme} address`,
        (made: (alphabet: string, length: number) => string) =>
          withSecret(made(ALNUM, 12), (word) => `${scheme}://ada:${word}@db.test:5432/app`),
      ] as const,
  ),
  [
    "address with a token",
    (made) => withSecret(made(ALNUM, 32), (word) => `git clone https://${word}@git.test/a/b.git`),
  ],
  [
    "JDBC parameters",
    (made) => withSecret(made(ALNUM, 12), (word) => `jdbc:postgresql://db.test/app?user=ada&password=${word}&ssl=true`),
  ],
  [
    "ADO connection",
    (made) =>
      withSecret(
        `${made(ALNUM, 10)}!7`,
        (word) => `Server=db.test;Database=app;User Id=ada;Password=${word};Encrypt=true`,
      ),
  ],
  [
    "Azure storage connection",
    (made) =>
      withSecret(
        `${made(BASE64, 86)}==`,
        (word) => `DefaultEndpointsProtocol=https;AccountName=ada;AccountKey=${word};EndpointSuffix=core.windows.net`,
      ),
  ],
  [
    "Azure service bus",
    (made) =>
      withSecret(
        `${made(BASE64, 43)}=`,
        (word) => `Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${word}`,
      ),
  ],
  [
    "Azure shared access",
    (made) =>
      withSecret(made(ALNUM, 43), (word) => `https://a.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig=${word}%3D`),
  ],
  ["AWS secret key", (made) => withSecret(made(BASE64, 40), (word) => `aws_secret_access_key = ${word}`)],
  ["AWS secret key in JSON", (made) => withSecret(made(BASE64, 40), (word) => `"SecretAccessKey": "${word}",`)],
  ["AWS account", () => ["aws_account_id: 1234-5678-9012", "1234-5678-9012"]],
  [
    "Azure tenant",
    () => ["AZURE_TENANT_ID=0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"],
  ],
  ["bearer header", (made) => withSecret(made(ALNUM, 30), (word) => `Authorization: Bearer ${word}`)],
  ["bearer header, hex", (made) => withSecret(made(HEX, 32), (word) => `-H "Authorization: Bearer ${word}"`)],
  ["basic header", (made) => withSecret(`${made(ALNUM, 18)}==`, (word) => `Authorization: Basic ${word}`)],
  ["token header", (made) => withSecret(made(HEX, 40), (word) => `Authorization: Token ${word}`)],
  ["bare authorization header", (made) => withSecret(made(ALNUM, 24), (word) => `authorization: ${word}`)],
  ["key header", (made) => withSecret(made(HEX, 32), (word) => `x-api-key: ${word}`)],
  ["cookie header", (made) => withSecret(made(ALNUM, 30), (word) => `Cookie: theme=dark; session=${word}`)],
  ["set-cookie header", (made) => withSecret(made(SMALL, 32), (word) => `Set-Cookie: sid=${word}; HttpOnly`)],
  ["session cookie", (made) => withSecret(made(SMALL, 32), (word) => `_gitlab_session=${word}`)],
  ["curl login", (made) => withSecret(made(ALNUM, 12), (word) => `curl -u ada:${word} https://api.test`)],
  [
    "curl login, quoted",
    (made) => withSecret(`${made(ALNUM, 10)}!x`, (word) => `curl --user 'ada:${word}' https://api.test`),
  ],
  [".netrc", (made) => withSecret(made(ALNUM, 12), (word) => `machine api.test login ada password ${word}`)],
  [
    ".npmrc",
    (made) =>
      withSecret(`${made(ALNUM, 8)}-1a2b-4c3d-8e5f-0a1b2c3d4e5f`, (word) => `//registry.npmjs.org/:_authToken=${word}`),
  ],
  [".npmrc basic", (made) => withSecret(`${made(ALNUM, 20)}==`, (word) => `_auth=${word}`)],
  [
    "docker config",
    (made) => withSecret(`${made(ALNUM, 22)}==`, (word) => `{"auths": {"registry.test": {"auth": "${word}"}}}`),
  ],
  ["kubeconfig", (made) => withSecret(made(ALNUM, 80), (word) => `    client-key-data: ${word}`)],
  [
    "Kubernetes secret",
    (made) =>
      withSecret(
        `${made(ALNUM, 14)}==`,
        (word) => `apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\ndata:\n  extra: ${word}\n`,
      ),
  ],
  [
    "WordPress salt",
    (made) => withSecret(made(`${ALNUM}!@#$^&*()-_ []{}<>~+=,.;:/?|`, 64), (word) => `define('AUTH_SALT', '${word}');`),
  ],
  [
    "Django",
    (made) => withSecret(made(`${SMALL}!@#$%^&*(-_=+)`, 50), (word) => `SECRET_KEY = 'django-insecure-${word}'`),
  ],
  ["typed password", () => [`"password": "hunter2-hunter3"`, "hunter2-hunter3"]],
  ["typed password with symbols", () => ["DB_PASSWORD=Zx9!kQ2mPw", "Zx9!kQ2mPw"]],
  ["typed password of words", () => [`password: "correcthorsebattery"`, "correcthorsebattery"]],
  ["password flag", () => ["deploy --password Tr0ub4dor&3 --now", "Tr0ub4dor&3"]],
  ["password in a sentence", () => ["The admin password is Tr0ub4dor&3, change it", "Tr0ub4dor&3"]],
  ["password in XML", () => ["<password>Tr0ub4dor&amp;3</password>", "Tr0ub4dor"]],
  ["NuGet", () => [`<add key="ClearTextPassword" value="Tr0ub4dor33" />`, "Tr0ub4dor33"]],
  ["escaped line before a key", (made) => withSecret(`ghp_${made(ALNUM, 36)}`, (word) => `{"log": "first\\n${word}"}`)],
  ["Ethereum key", (made) => withSecret(made(HEX, 64), (word) => `PRIVATE_KEY=0x${word}`)],
];

function withSecret(secret: string, text: (secret: string) => string): readonly [string, string] {
  return [text(secret), secret];
}

/** Ways in which a value that is known to be secret is written. Each has to be found without any name beside it. */
export const OWN_FORMS: readonly (readonly [name: string, write: (secret: string) => string])[] = [
  ["as it is", (secret) => secret],
  ["base64", (secret) => Buffer.from(secret).toString("base64")],
  ["base64 without padding", (secret) => Buffer.from(secret).toString("base64").replace(/=+$/, "")],
  ["base64 inside more", (secret) => Buffer.from(`user:${secret}\n`).toString("base64")],
  ["base64 inside more, shifted", (secret) => Buffer.from(`x:${secret}; y`).toString("base64")],
  ["base64 in lines", (secret) => Buffer.from(secret).toString("base64").replace(/.{16}/g, "$&\n")],
  ["base64url", (secret) => Buffer.from(secret).toString("base64url")],
  ["URL-encoded", (secret) => encodeURIComponent(secret)],
  ["URL-encoded, small hex", (secret) => encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase())],
  ["URL-encoded, every byte", (secret) => Buffer.from(secret).toString("hex").replace(/../g, "%$&")],
  ["JSON-escaped", (secret) => JSON.stringify(secret)],
  ["JSON-escaped twice", (secret) => JSON.stringify(JSON.stringify(secret))],
  [
    "JSON-escaped with codes",
    (secret) => secret.replace(/[^]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`),
  ],
  ["hex", (secret) => Buffer.from(secret).toString("hex")],
  ["hex, big", (secret) => Buffer.from(secret).toString("hex").toUpperCase()],
  [
    "hex with colons",
    (secret) =>
      Buffer.from(secret)
        .toString("hex")
        .replace(/..(?=.)/g, "$&:"),
  ],
  [
    "hex with spaces",
    (secret) =>
      Buffer.from(secret)
        .toString("hex")
        .replace(/..(?=.)/g, "$& "),
  ],
  ["hex escapes", (secret) => Buffer.from(secret).toString("hex").replace(/../g, "\\x$&")],
  ["HTML-escaped", (secret) => secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")],
  ["split over lines", (secret) => secret.replace(/.{8}/g, "$&\n  ")],
  ["split over quoted lines", (secret) => secret.replace(/.{7}/g, "$&\n> ")],
  ["concatenated", (secret) => `"${secret.replace(/.{9}/g, '$&" + "')}"`],
  ["concatenated over lines", (secret) => `'${secret.replace(/.{6}/g, "$&' +\n    '")}'`],
  ["in groups with spaces", (secret) => secret.replace(/.{4}(?=.)/g, "$& ")],
  ["in groups with dashes", (secret) => secret.replace(/.{4}(?=.)/g, "$&-")],
  ["one by one", (secret) => secret.split("").join(" ")],
];
