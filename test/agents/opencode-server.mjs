/**
 * A stand-in for `opencode serve` that does what it is told: in OPENCODE_SCRIPT a list of steps, taken after the first
 * prompt. A step is an event to send, {"until":"/path"} for a request to wait for, {"until":"SIGUSR2"} for that signal,
 * or {"exit":code}. Its process id and every request go as lines into the file that OPENCODE_JOURNAL names.
 */
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

const steps = JSON.parse(process.env.OPENCODE_SCRIPT ?? "[]");
const { OPENCODE_JOURNAL: journal, OPENCODE_SERVER_USERNAME: user, OPENCODE_SERVER_PASSWORD: password } = process.env;
const allowed = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
const seen = [];
let events;
let look = () => {};

function see(what) {
  seen.push(what);
  look();
}

async function play() {
  for (const step of steps) {
    if ("exit" in step) process.exit(step.exit);
    if ("until" in step) while (!seen.includes(step.until)) await new Promise((resolve) => (look = resolve));
    else events.write(`data: ${JSON.stringify(step)}\n\n`);
  }
}

const server = createServer((request, response) => void reply(request, response));
appendFileSync(journal, `${process.pid}\n`);
process.on("SIGUSR2", () => see("SIGUSR2"));
server.listen(0, "127.0.0.1", () => {
  console.log(`opencode server listening on http://127.0.0.1:${server.address().port}`);
});

async function reply(request, response) {
  let body = "";
  for await (const chunk of request) body += chunk;
  if (request.headers.authorization !== allowed) response.writeHead(401).end();
  else if (request.url === "/event") {
    events = response.writeHead(200, { "content-type": "text/event-stream" });
    events.write(`data: {"type":"server.connected","properties":{}}\n\n`);
  } else {
    appendFileSync(journal, `${request.url} ${body}\n`);
    see(request.url);
    response.end(request.url === "/session" ? `{"id":"ses_1"}` : "true");
    if (request.url.endsWith("/prompt_async")) void play();
  }
}
