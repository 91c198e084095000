import { expect, test } from "vitest";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

function disk() {
  const files = new Map<string, string>();
  return {
    files,
    readFile: (path: string) => {
      const text = files.get(path);
      return text === undefined ? Promise.reject(new Error("no such file")) : Promise.resolve(text);
    },
    writeFile: (path: string, text: string) => Promise.resolve(void files.set(path, text)),
    removeFile: (path: string) => Promise.resolve(files.delete(path)),
  };
}

test("a unit of the user is written, its path printed, and taken away again", async () => {
  const { files, ...over } = disk();
  const env = { ASKD_HOME: "/home/ada/my askd" };
  const installed = await type(new Scene(), ["service", "install"], {
    ...over,
    env,
    self: ["/usr/bin/node", "/opt/100%/askd"],
  });
  const path = "/home/ada/.config/systemd/user/askd.service";
  expect(installed).toMatchObject({ exit: 0, stdout: `${path}\n` });
  expect(files.get(path)).toContain(
    'ExecStart="/usr/bin/node" "/opt/100%%/askd" "serve"\nEnvironment="ASKD_HOME=/home/ada/my askd"\n',
  );
  expect(installed.stderr).toContain("systemctl --user daemon-reload && systemctl --user enable askd\n");
  expect((await type(new Scene(), ["service", "uninstall"], over)).exit).toBe(0);
  expect(files.size).toBe(0);
  expect((await type(new Scene(), ["service", "uninstall"], over)).exit).toBe(5);
});

test("on a Mac it is an agent of launchd, with every word escaped", async () => {
  const { files, ...over } = disk();
  await type(new Scene(), ["service", "install"], { ...over, platform: "darwin", self: ["/opt/a & b/askd"] });
  expect(files.get("/home/ada/Library/LaunchAgents/dev.askd.plist")).toContain("<string>/opt/a &amp; b/askd</string>");
});

test.each([
  [["service"], 2],
  [["service", "restart"], 2],
  [["service", "status"], 3],
])("%j is answered with exit code %d", async (argv, exit) => {
  expect((await type(new Scene(), argv)).exit).toBe(exit);
});

test("a password is not written into a service's file", async () => {
  const { files, ...over } = disk();
  const refused = await type(new Scene(), ["service", "install"], {
    ...over,
    env: { ASKD_STORE: "postgres://ada:pw@db/askd" },
  });
  expect(refused).toMatchObject({ exit: 2 });
  expect(files.size).toBe(0);
});

test("on a Mac launchd is told to take the agent in and out", async () => {
  const { files, ...over } = disk();
  const told: string[] = [];
  const runChild = ({ argv }: { argv: readonly string[] }) => {
    told.push(argv.join(" "));
    return Promise.resolve({ exitCode: 0, stdout: "" });
  };
  const mac = { ...over, platform: "darwin" as const, runChild };
  expect((await type(new Scene(), ["service", "install"], mac)).stderr).toContain("✓ askd will start when you log in");
  expect((await type(new Scene(), ["service", "stop"], { ...mac, isLocked: () => Promise.resolve(false) })).exit).toBe(
    0,
  );
  expect((await type(new Scene(), ["service", "uninstall"], mac)).exit).toBe(0);
  const file = "/home/ada/Library/LaunchAgents/dev.askd.plist";
  expect(told).toEqual([`load -w ${file}`, `unload ${file}`, `unload -w ${file}`].map((line) => `launchctl ${line}`));
  expect(files.size).toBe(0);
});

test("a service runs on this machine: a server that is named elsewhere is none", async () => {
  const env = { ASKD_URL: "https://askd.example" };
  const { exit, stderr } = await type(new Scene(), ["service", "start"], { env });
  expect({ exit, stderr }).toEqual({
    exit: 2,
    stderr: "error: ASKD_URL names a server; a service runs on this machine\n  Name the store with --store\n",
  });
});
