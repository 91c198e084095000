import { expect, test } from "vitest";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

test("a server in the background has the same settings as the command that starts it", async () => {
  let env: Readonly<Record<string, string | undefined>> = {};
  const own = { ASKD_HOME: "/h", ASKD_CONFIG_DIR: "/c", ASKD_CONFIG_SYSTEM: "/s/config.toml", SECRET_TOKEN: "x" };
  await type(new Scene(), ["service", "start"], {
    env: own,
    detach: (started) => {
      env = started.env;
      return Promise.reject(new Error("it is not started here"));
    },
  });
  expect(env).toEqual({ ASKD_HOME: "/h", ASKD_CONFIG_DIR: "/c", ASKD_CONFIG_SYSTEM: "/s/config.toml" });
});
