import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { engineOn } from "../../../src/app.ts";
import type { QuestionId } from "../../../src/core/id.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/instant.ts";
import { SYSTEM } from "../../../src/core/people/actor.ts";
import { parseAsk } from "../../../src/core/question/ask-input.ts";
import type { Rules } from "../../../src/core/rules.ts";
import { readListener } from "../../../src/engine/reach/listener-lease.ts";
import type { LocalEngine } from "../../../src/engine/local-engine.ts";
import type { Store } from "../../../src/store/store.ts";
import { ADA, AGENT } from "../../builders.ts";
import { MIKA } from "../../channels/slack-server.ts";
import { CHAT } from "../../channels/telegram-server.ts";
import { MCP, said } from "../../scene.ts";
import type { Place } from "../place.ts";
import type { Program } from "../program.ts";
import { openClocked, setClockAhead } from "./clocked-store.ts";
import { type Seen, checkCase, expectedResponses, wordsOf } from "./reach-check.ts";
import type { ReachCase } from "./reach-list.ts";
import { BuiltProcess } from "./built-process.ts";
import { type DyingProcess, ReachProcess } from "./reach-process.ts";
import { type ChannelName, reachRules } from "./reach-task.ts";
import { type ReachService, SERVICES } from "./service.ts";
import type { StopPoint } from "./stop-point.ts";

/** After this time nobody counts on a dead process any more: its leases are over. */
const NEXT_START_MS = 31 * SECOND_MS;
/** A reminder comes at half of this time. */
const REMINDED_MS = 2 * HOUR_MS;
const SETTLED_MS = 120_000;
/** Long enough for a repetition to come that must not come. */
const REST_MS = 100;

export interface ReachOutcome {
  name: string;
  /** Messages that were posted a second time, and responses that were given a second time. */
  repeated: number;
  problems: string[];
}

/** Plays cases of one channel one after another in one store: in each the process dies once, and the next one goes on. */
export async function playReach(
  program: Program | "built",
  place: Place,
  channel: ChannelName,
  cases: readonly ReachCase[],
  onOutcome: (outcome: ReachOutcome) => void = () => undefined,
): Promise<ReachOutcome[]> {
  const service = await SERVICES[channel]();
  let aheadMs = 0;
  const nowMs = () => Date.now() + aheadMs;
  const store = await openClocked(place, nowMs);
  const rules = reachRules(channel);
  const engine = engineOn(store, { rules, nowMs });
  const process = program === "built" ? new BuiltProcess(service) : new ReachProcess(program);
  const { url, secret, mailbox } = service;
  const task = () => ({ place, channel, url, secret, mailbox, aheadMs });
  const restart = async () => {
    // Nobody can put the clock of the built program ahead: it waits.
    if (program !== "built") aheadMs += NEXT_START_MS;
    await setClockAhead(place, aheadMs);
    await process.start(task());
  };
  const goOnLater: Stage["goOnLater"] = async (ms, armed) => {
    await process.end();
    aheadMs += ms;
    await setClockAhead(place, aheadMs);
    await process.start({ ...task(), armed });
  };
  try {
    const accounts = { telegram: String(CHAT), slack: MIKA, github: "mika", email: service.email };
    const mika = { id: "mika", version: 0, groups: [], ...accounts };
    await engine.putPerson(mika, SYSTEM);
    await process.start(task());
    const stage = { engine, store, service, process, rules, restart, goOnLater };
    const outcomes: ReachOutcome[] = [];
    for (const play of cases) {
      const outcome = await new CasePlay(stage, play).play();
      onOutcome(outcome);
      outcomes.push(outcome);
    }
    const problems = [...(await process.end()), ...service.problems];
    await setClockAhead(place, 0);
    problems.push(...(await engine.verify()).problems);
    if (problems.length === 0) return outcomes;
    return [...outcomes, { name: `${channel}: in the end`, repeated: 0, problems }];
  } finally {
    await process.end();
    await engine.stop();
    await service.close();
  }
}

interface Stage {
  engine: LocalEngine;
  store: Store;
  service: ReachService;
  process: DyingProcess;
  rules: Rules;
  /** Starts the next process, so much later that the last one's leases are over. */
  restart(): Promise<void>;
  /** Ends the process in peace, and starts one so much later that dies at this point. */
  goOnLater(ms: number, point: StopPoint): Promise<void>;
}

class CasePlay {
  readonly #stage: Stage;
  readonly #play: ReachCase;
  readonly #mark = `M${randomBytes(5).toString("hex")}`;
  #id: QuestionId | undefined;
  #isBegun = false;
  #responsesBefore = 0;

  constructor(stage: Stage, play: ReachCase) {
    this.#stage = stage;
    this.#play = play;
  }

  async play(): Promise<ReachOutcome> {
    const { engine, service, process, restart } = this.#stage;
    const { name, step, point } = this.#play;
    this.#responsesBefore = service.responses();
    await this.#begin();
    if (!(await process.died())) {
      return { name, repeated: 0, problems: [`no process came to ${step} ${point}`, ...process.complaints] };
    }
    await this.#meanwhile();
    await restart();
    const isSettled = await this.#settles();
    await sleep(REST_MS);
    const seen = await this.#look();
    const problems = [...(isSettled ? [] : ["the message does not come in line"]), ...checkCase(this.#play, seen)];
    // It would time out, and change its message, while a later case is played.
    if (step === "remind" && seen.question.status === "pending") {
      await engine.answer(this.#question(), said("2"), ADA);
      await this.#settles();
    }
    const { posted, responses } = seen;
    const repeated = posted.all - posted.different + Math.max(0, responses - 1);
    return { name, repeated, problems: problems.length > 0 ? [...problems, ...process.complaints] : [] };
  }

  /** Brings the question to the step at which the process dies. */
  async #begin(): Promise<void> {
    const { engine, service, process } = this.#stage;
    const { step, point } = this.#play;
    if (step === "send") await process.arm(point);
    const raw = {
      question: `${this.#mark}: Redis or Memcached?`,
      options: ["Redis", "Memcached"],
      allow_text: false,
      timeout: step === "remind" ? REMINDED_MS / SECOND_MS : "90d",
    };
    const input = parseAsk(raw, MCP, this.#stage.rules, await this.#stage.store.now());
    const { question } = await engine.ask(input, AGENT);
    this.#id = question.id;
    if (step === "send") return;
    await this.#settles();
    if (step === "remind") {
      this.#isBegun = true;
      return this.#stage.goOnLater(REMINDED_MS / 2 + MINUTE_MS, point);
    }
    if (step === "late reply") {
      const press = service.grab?.(this.#mark);
      await engine.answer(question.id, said("2"), ADA);
      await this.#settles();
      await process.arm(point);
      this.#isBegun = true;
      return press?.();
    }
    await process.arm(point);
    if (step === "edit") await engine.extend(question.id, HOUR_MS, ADA);
    if (step === "close") await engine.answer(question.id, said("2"), ADA);
    if (step === "reply") await service.grab?.(this.#mark)();
    if (step === "unclear reply") await service.mumble?.(this.#mark);
    this.#isBegun = true;
  }

  async #meanwhile(): Promise<void> {
    const { engine } = this.#stage;
    const { meanwhile } = this.#play;
    if (meanwhile === "extended") await engine.extend(this.#question(), HOUR_MS, ADA);
    if (meanwhile === "answered") await engine.answer(this.#question(), said("2"), ADA);
  }

  /** Waits until the message shows what is so, and nothing is left to do. */
  async #settles(): Promise<boolean> {
    const until = performance.now() + SETTLED_MS;
    while (performance.now() < until) {
      if (await this.#isSettled()) return true;
      await sleep(20);
    }
    return false;
  }

  async #isSettled(): Promise<boolean> {
    const { engine, store, service } = this.#stage;
    const id = this.#question();
    const { question } = await engine.read(id);
    if (this.#play.step === "reply" && this.#isBegun && question.status === "pending") return false;
    if (this.#isBegun && this.#responses() < expectedResponses(this.#play).least) return false;
    if (service.isIdle && !service.isIdle((await readListener(store, this.#play.channel))?.cursor)) return false;
    const jobs = await store.listJobs(1000);
    if (jobs.some((job) => job.kind === "deliver" && job.questionId === id)) return false;
    const [delivery] = await engine.listDeliveries(id);
    if (delivery?.state === "skipped") return true;
    return service.shown(this.#mark).some((text) => text.includes(wordsOf(this.#play, question)));
  }

  async #look(): Promise<Seen> {
    const { engine, service } = this.#stage;
    const { question, run } = await engine.read(this.#question());
    const events = (await engine.readChain(run.id)).map(({ event }) => event);
    const [delivery] = await engine.listDeliveries(question.id);
    return {
      question,
      state: delivery?.state,
      events: events.filter(({ questionId }) => questionId === question.id),
      shown: service.shown(this.#mark),
      posted: service.posted(this.#mark),
      responses: this.#responses(),
    };
  }

  #responses(): number {
    return this.#stage.service.responses() - this.#responsesBefore;
  }

  #question(): QuestionId {
    if (!this.#id) throw new Error("nothing was asked");
    return this.#id;
  }
}
