import { isAbsolute, join, resolve } from "node:path";
import { Refusal } from "../core/refusal.ts";

/** Where questions are kept. */
export type StorePlace =
  | { kind: "sqlite"; file: string }
  | { kind: "postgres"; url: string }
  | { kind: "server"; url: string; token: string | undefined; runtimeDir: string };

/** Where everything of this user is. */
export interface Place {
  store: StorePlace;
  configFile: string;
  stateDir: string;
  cacheDir: string;
  runtimeDir: string;
}

/** The surroundings that decide where things are. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  homeDir: string;
  platform: NodeJS.Platform;
  /** What `--store` was given; it wins over the environment. */
  store?: string;
}

/** Finds where things are: `ASKD_HOME` moves everything, else the XDG folders, else those of the platform. */
export function findPlace(around: Surroundings): Place {
  const dirs = around.env["ASKD_HOME"] ? belowHome(around, around.env["ASKD_HOME"]) : byUser(around);
  const configDir = around.env["ASKD_CONFIG_DIR"];
  return {
    store: findServer(around, dirs.runtime) ?? findStore(around, join(dirs.data, "askd.db")),
    configFile: join(configDir ? resolve(around.cwd, configDir) : dirs.config, "config.toml"),
    stateDir: dirs.state,
    cacheDir: dirs.cache,
    runtimeDir: dirs.runtime,
  };
}

interface Dirs {
  config: string;
  data: string;
  state: string;
  cache: string;
  runtime: string;
}

function belowHome({ cwd }: Surroundings, home: string): Dirs {
  const root = resolve(cwd, home);
  return {
    config: join(root, "config"),
    data: join(root, "data"),
    state: join(root, "state"),
    cache: join(root, "cache"),
    runtime: join(root, "run"),
  };
}

function byUser(around: Surroundings): Dirs {
  const { env, homeDir, platform } = around;
  // Relative paths in XDG variables are to be ignored, says their specification.
  const xdg = (name: string, fallback: string): string => {
    const dir = env[name];
    return join(dir && isAbsolute(dir) ? dir : fallback, "askd");
  };
  if (platform === "darwin") {
    const support = join(homeDir, "Library", "Application Support");
    return {
      config: xdg("XDG_CONFIG_HOME", support),
      data: xdg("XDG_DATA_HOME", support),
      state: xdg("XDG_STATE_HOME", join(homeDir, "Library", "Logs")),
      cache: xdg("XDG_CACHE_HOME", join(homeDir, "Library", "Caches")),
      runtime: xdg("XDG_RUNTIME_DIR", support),
    };
  }
  const local = platform === "win32" ? (env["LOCALAPPDATA"] ?? join(homeDir, "AppData", "Local")) : undefined;
  const state = xdg("XDG_STATE_HOME", local ?? join(homeDir, ".local", "state"));
  return {
    config: xdg("XDG_CONFIG_HOME", local ?? join(homeDir, ".config")),
    data: xdg("XDG_DATA_HOME", local ?? join(homeDir, ".local", "share")),
    state,
    cache: xdg("XDG_CACHE_HOME", local ?? join(homeDir, ".cache")),
    runtime: env["XDG_RUNTIME_DIR"] ? xdg("XDG_RUNTIME_DIR", state) : state,
  };
}

/** The server that `ASKD_URL` names, unless `--store` names a store of our own. */
function findServer({ env, store }: Surroundings, runtimeDir: string): StorePlace | undefined {
  const given = env["ASKD_URL"];
  if (!given || store !== undefined) return undefined;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "") {
    throw new Refusal("bad_input", "The value of ASKD_URL is not the address of a server", {
      hint: "Write https://<host> or http://127.0.0.1:4319",
    });
  }
  if (url.protocol === "http:" && !/^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)) {
    throw new Refusal("not_permitted", "ASKD_URL would send your token over the network in the clear", {
      hint: "Use https://",
    });
  }
  return { kind: "server", url: given.replace(/\/+$/, ""), token: env["ASKD_TOKEN"] || undefined, runtimeDir };
}

function findStore({ env, cwd, store }: Surroundings, file: string): StorePlace {
  const given = store ?? env["ASKD_STORE"] ?? "";
  const source = store === undefined ? "ASKD_STORE" : "--store";
  if (given === "" && store === undefined) return { kind: "sqlite", file };
  if (/^postgres(ql)?:\/\//.test(given)) return { kind: "postgres", url: requireUrl(given, source) };
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/s.exec(given)?.[1];
  if (path && !path.includes("\0")) return { kind: "sqlite", file: resolve(cwd, path) };
  throw badStore(source, "is not a store that askd knows");
}

function requireUrl(url: string, source: string): string {
  if (!URL.canParse(url)) throw badStore(source, "is not a valid PostgreSQL address");
  return url;
}

// The value itself is not repeated: it may hold a password.
function badStore(source: string, problem: string): Refusal {
  return new Refusal("bad_input", `The value of ${source} ${problem}`, {
    hint: `Write sqlite:<path> or postgres://<user>@<host>/<database>`,
  });
}
