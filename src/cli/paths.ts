import { isAbsolute, join, resolve } from "node:path";
import type { Values } from "../config/schema.ts";
import { readSecret } from "../config/secret.ts";
import { Refusal } from "../core/refusal.ts";
import { oneLine } from "./view/sanitise.ts";

/** The location of the store. */
export type StorePlace =
  | { kind: "sqlite"; file: string; isReadOnly?: boolean }
  | { kind: "postgres"; url: string; isReadOnly?: boolean }
  | { kind: "server"; url: string; token: string | undefined; runtimeDir: string; source: string };

/** A store that this program can open by itself. */
export type OwnStorePlace = Exclude<StorePlace, { kind: "server" }>;

/** The locations of this user's files. */
export interface StorePaths {
  store: StorePlace;
  configFile: string;
  stateDir: string;
  cacheDir: string;
  runtimeDir: string;
}

/** The environment that decides the locations. */
export interface PathSurroundings {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  homeDir: string;
  platform: NodeJS.Platform;
  /** The flags, which override the environment, which overrides the settings. */
  store?: string | undefined;
  url?: string | undefined;
  profile?: string | undefined;
  settings?: Pick<Values, "profile" | "profiles" | "store">;
}

/** Finds all locations: below `ASKD_HOME`, else the XDG folders, else the platform's folders. */
export function findPaths(around: PathSurroundings): StorePaths {
  const dirs = findDirs(around);
  return {
    store: findByFlag(around, dirs.runtime) ??
      findByEnv(around, dirs.runtime) ??
      findBySetting(around, dirs.runtime) ?? { kind: "sqlite", file: join(dirs.data, "askd.db") },
    configFile: findConfigFile(around),
    stateDir: dirs.state,
    cacheDir: dirs.cache,
    runtimeDir: dirs.runtime,
  };
}

/** The user's config file. */
export function findConfigFile(around: PathSurroundings): string {
  const dir = around.env["ASKD_CONFIG_DIR"];
  return join(dir ? resolve(around.cwd, dir) : findDirs(around).config, "config.toml");
}

function findDirs(around: PathSurroundings): Dirs {
  return around.env["ASKD_HOME"] ? belowHome(around, around.env["ASKD_HOME"]) : byUser(around);
}

/** The variables that put all files below one directory. */
export function homeVariables(dir: string): Record<string, string> {
  const none = ["ASKD_URL", "ASKD_TOKEN", "ASKD_PROFILE", "ASKD_CONFIG_DIR", "ASKD_RUN"];
  const store = `sqlite:${join(dir, "data", "askd.db")}`; // settings of the system may name another
  return { ...Object.fromEntries(none.map((name) => [name, ""])), ASKD_HOME: dir, ASKD_STORE: store };
}

interface Dirs {
  config: string;
  data: string;
  state: string;
  cache: string;
  runtime: string;
}

function belowHome({ cwd }: PathSurroundings, home: string): Dirs {
  const root = resolve(cwd, home);
  return {
    config: join(root, "config"),
    data: join(root, "data"),
    state: join(root, "state"),
    cache: join(root, "cache"),
    runtime: join(root, "run"),
  };
}

function byUser(around: PathSurroundings): Dirs {
  const { env, homeDir, platform } = around;
  // The XDG specification says to ignore relative paths.
  const xdg = (name: string, fallback: string) => {
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

function findByFlag(around: PathSurroundings, runtimeDir: string): StorePlace | undefined {
  const { store, url, profile } = around;
  const given = Object.entries({ "--store": store, "--url": url, "--profile": profile }).filter(
    ([, value]) => value !== undefined,
  );
  if (given.length > 1) {
    throw new Refusal("bad_input", `${given.map(([name]) => name).join(" and ")} conflict`, {
      hint: "Give one of them",
    });
  }
  if (store !== undefined) return storeAt(store, "--store", around.cwd);
  if (url !== undefined) return serverAt(url, { source: "--url", token: around.env["ASKD_TOKEN"], runtimeDir });
  return profile === undefined ? undefined : profileAt(profile, around, runtimeDir);
}

function findByEnv(around: PathSurroundings, runtimeDir: string): StorePlace | undefined {
  const { ASKD_URL: url, ASKD_STORE: store, ASKD_PROFILE: profile, ASKD_TOKEN: token } = around.env;
  if (url) return serverAt(url, { source: "ASKD_URL", token, runtimeDir });
  if (store) return storeAt(store, "ASKD_STORE", around.cwd);
  return profile ? profileAt(profile, around, runtimeDir) : undefined;
}

function findBySetting(around: PathSurroundings, runtimeDir: string): StorePlace | undefined {
  const { profile, store } = around.settings ?? {};
  if (profile !== undefined) return profileAt(profile, around, runtimeDir);
  if (!store) return undefined;
  const { url, url_env: variable, url_file: file } = store;
  const key = variable === undefined ? "store.url_file" : "store.url_env";
  const given = url ?? readSecret({ variable, file, key }, around.env);
  return given === undefined ? undefined : storeAt(given, url === undefined ? key : "store.url", around.cwd);
}

/** The server with its token, or the store, of a profile. Its token is sent to no other server. */
function profileAt(name: string, around: PathSurroundings, runtimeDir: string): StorePlace {
  const profiles = around.settings?.profiles ?? {};
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (!profile) {
    const names = Object.keys(profiles);
    throw new Refusal("not_found", `There is no profile "${name}"`, {
      hint:
        names.length > 0 ? `Choose from: ${names.join(", ")}` : `Create it: askd config set profiles.${name}.url <url>`,
    });
  }
  const source = `The profile ${name}`;
  if (profile.url === undefined) return storeAt(profile.store ?? "", source, around.cwd);
  const { token_env: variable, token_file: file } = profile;
  const key = `profiles.${name}.${variable === undefined ? "token_file" : "token_env"}`;
  const token = readSecret({ variable, file, key }, around.env) ?? around.env["ASKD_TOKEN"];
  return serverAt(profile.url, { source, token, runtimeDir });
}

function serverAt(
  given: string,
  { source, token, runtimeDir }: { source: string; token: string | undefined; runtimeDir: string },
): StorePlace {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "") {
    throw new Refusal("bad_input", `The value of ${source} is not the address of a server`, {
      hint: "Write https://<host> or http://127.0.0.1:4319",
    });
  }
  if (url.protocol === "http:" && !/^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)) {
    throw new Refusal("not_permitted", `${source} would send your token over the network in the clear`, {
      hint: "Use https://",
    });
  }
  return { kind: "server", url: given.replace(/\/+$/, ""), token: token || undefined, runtimeDir, source };
}

function storeAt(given: string, source: string, cwd: string): StorePlace {
  if (/^postgres(ql)?:\/\//.test(given)) return { kind: "postgres", url: requireUrl(given, source) };
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/s.exec(given)?.[1];
  if (path && !path.includes("\0")) return { kind: "sqlite", file: resolve(cwd, path) };
  throw badStore(source, "is not a store that askd knows");
}

function requireUrl(url: string, source: string) {
  if (!URL.canParse(url)) throw badStore(source, "is not a valid PostgreSQL address");
  return url;
}

// The message does not repeat the value: it may hold a password.
function badStore(source: string, problem: string) {
  return new Refusal("bad_input", `The value of ${source} ${problem}`, {
    hint: `Write sqlite:<path> or postgres://<user>@<host>/<database>`,
  });
}

/** The location of a store as text, without its password. */
export function sayStore(store: StorePlace): string {
  if (store.kind === "sqlite") return `sqlite:${oneLine(store.file)}`;
  const { protocol, username, host, pathname } = new URL(store.url);
  return oneLine(`${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname.replace(/\/$/, "")}`);
}

/** The lock file that the worker of this store holds on this machine. */
export function workerLockFile({ place }: { place: StorePaths }): string {
  const { store } = place;
  return store.kind === "sqlite" ? join(store.file, "..", "askd.lock") : join(place.runtimeDir, "askd.lock");
}

/** The file in which the worker of this store on this machine keeps its process id; it is gone if that ended by itself. */
export function workerPidFile(context: { place: StorePaths }): string {
  return `${workerLockFile(context)}.pid`;
}
