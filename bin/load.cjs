// Loads the program with the machine code that V8 kept from an earlier start: 20 of 75 ms less on Node 20,
// which has no compile cache of its own. Without a cache that can be trusted it is compiled as always.
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const vm = require("node:vm");
const { createRequire } = require("node:module");

const BUILD_NAME = /^\/\*([0-9a-f]{32})\*\//;

exports.load = function load(name) {
  const file = path.join(__dirname, "..", "dist", name);
  const source = readProgram(file);
  const build = BUILD_NAME.exec(source)?.[1];
  const cache = build && path.join(cacheDir(), `${build}-${process.version}-${process.arch}-${commandName()}-${name}`);
  const cachedData = cache && readCache(cache);
  const script = new vm.Script(`(function(exports,require,module,__filename,loadProgram){${source}\n})`, {
    filename: file,
    cachedData,
  });
  if (cache && (!cachedData || script.cachedDataRejected)) process.once("exit", () => writeCache(cache, script));
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

/** What a start has compiled by its end; one that was refused has used too little of its command to be worth keeping. */
function writeCache(cache, script) {
  if (process.exitCode) return;
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
