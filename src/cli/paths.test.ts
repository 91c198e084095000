import { describe, expect, test } from "vitest";
import { Refusal } from "../core/refusal.ts";
import { type PathSurroundings, findPaths } from "./paths.ts";

function around(env: Record<string, string>, more: Partial<PathSurroundings> = {}): PathSurroundings {
  return { env, cwd: "/project", homeDir: "/home/ada", platform: "linux", ...more };
}

describe("a server in place of a store", () => {
  test("is named by ASKD_URL, with the token beside it", () => {
    const { store } = findPaths(around({ ASKD_URL: "https://askd.example/", ASKD_TOKEN: "t", ASKD_HOME: "/box" }));
    expect(store).toEqual({
      kind: "server",
      url: "https://askd.example",
      token: "t",
      runtimeDir: "/box/run",
      source: "ASKD_URL",
    });
    expect(findPaths(around({ ASKD_URL: "http://127.0.0.1:4319" })).store.kind).toBe("server");
    expect(findPaths(around({ ASKD_URL: "https://askd.example" }, { store: "sqlite:a.db" })).store.kind).toBe("sqlite");
  });

  test.each(["http://askd.example", "ftp://127.0.0.1", "https://ada:pw@askd.example", "askd.example"])(
    "is not reached at %s, where the token would be seen or which is no address",
    (url) => {
      expect(() => findPaths(around({ ASKD_URL: url }))).toThrow(Refusal);
    },
  );
});

describe("where things are", () => {
  test("by default in the XDG folders of the user", () => {
    expect(findPaths(around({}))).toEqual({
      store: { kind: "sqlite", file: "/home/ada/.local/share/askd/askd.db" },
      configFile: "/home/ada/.config/askd/config.toml",
      stateDir: "/home/ada/.local/state/askd",
      cacheDir: "/home/ada/.cache/askd",
      runtimeDir: "/home/ada/.local/state/askd",
    });
  });

  test("where the XDG variables say, if they are absolute", () => {
    const place = findPaths(around({ XDG_DATA_HOME: "/data", XDG_CACHE_HOME: "tmp", XDG_RUNTIME_DIR: "/run/user/1" }));
    expect(place.store).toEqual({ kind: "sqlite", file: "/data/askd/askd.db" });
    expect(place.cacheDir).toBe("/home/ada/.cache/askd");
    expect(place.runtimeDir).toBe("/run/user/1/askd");
  });

  test("below ASKD_HOME, all of them", () => {
    expect(findPaths(around({ ASKD_HOME: "box", XDG_DATA_HOME: "/data" }))).toEqual({
      store: { kind: "sqlite", file: "/project/box/data/askd.db" },
      configFile: "/project/box/config/config.toml",
      stateDir: "/project/box/state",
      cacheDir: "/project/box/cache",
      runtimeDir: "/project/box/run",
    });
  });

  test("in the folders of the platform on macOS", () => {
    expect(findPaths(around({}, { platform: "darwin" })).store).toEqual({
      kind: "sqlite",
      file: "/home/ada/Library/Application Support/askd/askd.db",
    });
  });
});

describe("the store", () => {
  test.each([
    ["sqlite:/data/x.db", { kind: "sqlite", file: "/data/x.db" }],
    ["sqlite:x.db", { kind: "sqlite", file: "/project/x.db" }],
    ["sqlite:///data/x.db", { kind: "sqlite", file: "/data/x.db" }],
    ["postgres://ada@db/askd", { kind: "postgres", url: "postgres://ada@db/askd" }],
    ["postgresql://db/askd", { kind: "postgres", url: "postgresql://db/askd" }],
  ])("%s is understood", (given, store) => {
    expect(findPaths(around({ ASKD_STORE: given })).store).toEqual(store);
  });

  test("given as a flag wins over the environment", () => {
    const place = findPaths(around({ ASKD_STORE: "postgres://db/askd" }, { store: "sqlite:mine.db" }));
    expect(place.store).toEqual({ kind: "sqlite", file: "/project/mine.db" });
  });

  test.each(["mysql://db/askd", "sqlite:", "/data/x.db", "postgres://[", "sqlite:a\0b"])(
    "%j is refused with what to write instead, without repeating it",
    (given) => {
      const find = (): unknown => findPaths(around({ ASKD_STORE: given }));
      expect(find).toThrow(Refusal);
      expect(find).toThrow(/^The value of ASKD_STORE is not a [a-zA-Z ]+$/);
    },
  );
});
