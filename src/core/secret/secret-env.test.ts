import { expect, test } from "vitest";
import { parseEnvFile, secretsIn } from "./secret-env.ts";

const MADE_UP = "q7Rt2Yw9Lm4Kx8Zb";

test("values of an environment are secret by their name, by their form, or as a login in an address", () => {
  const env = {
    API_TOKEN: `${MADE_UP}1`,
    DB_PASS: `${MADE_UP}2`,
    DATABASE_URL: `postgres://ada:${MADE_UP}3@db/app`,
    PLAIN: `ghp_${MADE_UP.repeat(3)}`,
    PWD: "/home/ada/work",
    SSH_AUTH_SOCK: "/tmp/ssh-agent.123",
    KEY_FILE: "/home/ada/.ssh/id_ed25519",
    EDITOR: "nano --softwrap",
    SHORT_TOKEN: "abc",
  };
  expect(secretsIn(env)).toEqual([env.API_TOKEN, env.DB_PASS, env.DATABASE_URL, `${MADE_UP}3`, env.PLAIN]);
});

test("a .env file is read with its comments, quotes and lines", () => {
  const text = `# settings\nexport A_TOKEN=${MADE_UP} # ours\nB_KEY="one\\ntwo \\"three\\""\nC='it # is'\nD="first\nsecond"\nE=\n`;
  expect(parseEnvFile(text)).toEqual({
    A_TOKEN: MADE_UP,
    B_KEY: 'one\ntwo "three"',
    C: "it # is",
    D: "first\nsecond",
    E: "",
  });
});
