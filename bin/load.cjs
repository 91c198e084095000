// Loads the program with the machine code that V8 kept from an earlier start: 20 of 75 ms less on Node 20,
// which has no compile cache of its own. Without a cache that can be trusted it is compiled as always.
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const vm = require("node:vm");
const { createRequire } = require("node:module");

const BUILD_NAME = /^\/\*([0-9a-f]{32})\*\//;
/** What every refused start reads and keeps whose command has not kept anything yet. */
const REFUSED = "refused";
const LAST_REFUSAL = 7; // the exit codes after it tell outcomes

exports.load = function load(name) {
  const file = path.join(__dirname, "..", "dist", name);
  const source = readProgram(file);
  const build = BUILD_NAME.exec(source)?.[1];
  const cacheFor = (use) => path.join(cacheDir(), `${build}-${process.version}-${process.arch}-${use}-${name}`);
  const kept = build && findKept([commandName(), REFUSED], cacheFor);
  const script = new vm.Script(`(function(exports,require,module,__filename,loadProgram){${source}\n})`, {
    filename: file,
    cachedData: kept?.code,
  });
  const known = script.cachedDataRejected ? undefined : kept?.use;
  if (build && known !== commandName()) {
    process.once("exit", (exit) => {
      const use = exit > 0 && exit <= LAST_REFUSAL ? REFUSED : commandName();
      if (use !== known) writeCache(cacheFor(use), script);
    });
  }
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, load);
  return module.exports;
};

function readProgram(file) {
  try {
    return fs.readFileSync(file, "latin1"); // the build has only ASCII in it
  } catch (error) {
    process.stderr.write(`error: ${file} cannot be read (${error.code})\n  Build it: npm run build\n`);
    process.exit(1);
  }
}

function cacheDir() {
  const { ASKD_HOME: home, XDG_CACHE_HOME: xdg } = process.env;
  if (home) return path.resolve(home, "cache", "code");
  return path.join(xdg && path.isAbsolute(xdg) ? xdg : path.join(os.homedir(), ".cache"), "askd", "code");
}

/** Each command keeps what it uses itself: reading what another one has used takes longer than it saves. */
function commandName() {
  const [typed = "status"] = process.argv.slice(2);
  return /^[a-z-]{1,20}$/.test(typed) ? typed : "other";
}

function findKept(uses, cacheFor) {
  for (const use of uses) {
    const code = readCache(cacheFor(use));
    if (code) return { use, code };
  }
  return undefined;
}

/** V8 believes what it is given, so only a file that nobody else can have written is taken. */
function readCache(cache) {
  try {
    const { uid, mode } = fs.lstatSync(cache);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    return isOurs ? fs.readFileSync(cache) : undefined;
  } catch {
    return undefined; // there is none yet
  }
}

/** Keeps what a start has compiled by its end, and nothing of other builds. */
function writeCache(cache, script) {
  try {
    const dir = path.dirname(cache);
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
    const draft = `${cache}.${process.pid}`;
    fs.writeFileSync(draft, script.createCachedData(), { mode: 0o600 });
    fs.renameSync(draft, cache);
    const [build] = path.basename(cache).split("-");
    for (const name of fs.readdirSync(dir)) {
      if (!name.startsWith(build)) fs.rmSync(path.join(dir, name), { force: true });
    }
  } catch {
    // A start without a cache is only slower.
  }
}
