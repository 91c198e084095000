// The agent of `askd demo`, a program of its own: works, asks, stops, and goes on with the answer when it is resumed.
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { setTimeout: pause } = require("node:timers/promises");

const NOTES = "notes.json";
const PACE_MS = 450;
const [patience = "10m"] = process.argv.slice(2);
const { ASKD_ANSWER_FILE: answerFile } = process.env;

void (answerFile ? goOn(readFileSync(answerFile, "utf8")) : begin());

async function begin() {
  await say(`I am process ${process.pid}. My task: add a cache to the API.`);
  await write("src/cache.mjs", "export const cache = new Map(); // until the store is chosen\n");
  await write(NOTES, `${JSON.stringify({ done: ["src/cache.mjs"], next: "connect a store" })}\n`);
  await say("Two stores would do. A wrong guess costs a day, so I ask a person, and stop.");
  const question = {
    question: "Redis or Memcached for the caching layer?",
    context: "Both are ready to use. Changing it later costs about a day.",
    options: [
      { value: "redis", label: "Redis", description: "survives a restart", recommended: true },
      { value: "memcached", label: "Memcached", description: "simpler, in memory only" },
    ],
    timeout: patience,
    on_timeout: "default",
  };
  // This is all that it takes to ask: words on stdout.
  process.stdout.write(`<<ASK_HUMAN>> ${JSON.stringify(question)} <</ASK_HUMAN>>\n`);
}

async function goOn(message) {
  const { done } = JSON.parse(readFileSync(NOTES, "utf8"));
  await say(`I am process ${process.pid}. I was gone; ${done.join(", ")} is as I left it.`);
  const by = /^Answered by (.+) at /m.exec(message)?.[1];
  const store = /^Answer(?: of the policy)?:\n<([^>]+)>\n([^]*?)\n<\/\1>/m.exec(message)?.[2];
  if (store === undefined) throw new Error("There is no answer in what I was told");
  await say(by ? `I was told "${store}", by ${by}.` : `Nobody answered in time; what I declared applies: "${store}".`);
  await write("src/store.mjs", `export const store = ${JSON.stringify(store)};\n`);
  await say("Done.");
}

async function write(file, text) {
  mkdirSync("src", { recursive: true });
  writeFileSync(file, text);
  await say(`→ Write ${file}`);
}

async function say(line) {
  process.stdout.write(`${line}\n`);
  await pause(PACE_MS);
}
