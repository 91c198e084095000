import { createInterface } from "node:readline";
import { engineOn, openChannels } from "../../../src/app.ts";
import type { ChannelSettings } from "../../../src/core/channel/channel-settings.ts";
import { openClocked } from "./clocked-store.ts";
import { ReachTask, reachRules } from "./reach-task.ts";
import { settingsOf } from "./service.ts";
import { stopInMail } from "./stop-mail.ts";
import { type StopPoint, stoppingChannels, stoppingStore } from "./stop-point.ts";

// One process that brings messages and reads replies. A line on its input names the step at which it dies.
const task = ReachTask.parse(JSON.parse(process.argv[2] ?? ""));
const nowMs = () => Date.now() + task.aheadMs;
let { armed } = task;
createInterface({ input: process.stdin }).on("line", (line) => {
  armed = line;
  process.stdout.write(`ARMED ${line}\n`);
});

function stop(point: StopPoint): void {
  if (point === armed) process.kill(process.pid, "SIGKILL");
}

if (task.channel === "email") stopInMail(stop);
const rules = reachRules(task.channel);
const settings: ChannelSettings = settingsOf(task);
const engine = engineOn(stoppingStore(await openClocked(task.place, nowMs), stop), {
  rules,
  nowMs,
  openChannel: stoppingChannels(openChannels(settings, rules), stop),
  onFailure: (job, error) => void process.stderr.write(`${job.key}: ${String(error)}\n`),
  onChannelFailure: (channel, error) => void process.stderr.write(`${channel}: ${String(error)}\n`),
});
process.once("SIGTERM", () => void engine.stop().then(() => process.exit(0)));
process.stdout.write("READY\n");
await engine.work();
