import { existsSync } from "node:fs";
import { type QuestionId, shortId } from "../../../core/id.ts";
import { namedAgents } from "../../../agents/registry.ts";
import { RunStatus } from "../../../core/run/run.ts";
import { TimeoutPolicy } from "../../../core/question/timeout-policy.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Candidate } from "./complete.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getQuestionId } from "../../find-target.ts";

const MOST = 50;
/** A word that needs no quotes and is neither a flag nor a comment. */
const PLAIN = /^[A-Za-z0-9_][\w.,/@+-]*$/;

/** Fixed values, by the value's name in help. */
export const STATIC: Readonly<Record<string, readonly string[]>> = {
  state: ["pending", "answered", "timeout", "cancelled"],
  status: RunStatus.options,
  policy: TimeoutPolicy.options,
  scope: ["agent", "human", "admin"],
  what: ["person", "channel", "agent", "repo", "group", "day"],
  risk: ["low", "medium", "high"],
  kind: ["question", "approval"],
};

/** The agents that can be named, by what help calls them. */
export async function agentNames(context: Context): Promise<Candidate[]> {
  return namedAgents(await context.agents()).map((name): Candidate => [name, ""]);
}

/** Values from the store, read-only; none without a store. */
export async function liveValues(kind: string, words: readonly string[], context: Context): Promise<Candidate[]> {
  const { store } = context.place;
  if (!Object.hasOwn(LIVE, kind) || (store.kind === "sqlite" && !existsSync(store.file))) return [];
  const engine = await context.engine({ isReading: true });
  const found = (await LIVE[kind]?.(engine, words)) ?? [];
  return found.filter(([value]) => PLAIN.test(value));
}

const LIVE: Readonly<Record<string, (engine: Engine, words: readonly string[]) => Promise<Candidate[]>>> = {
  pending: (engine) => questions(engine, "pending"),
  question: async (engine) => [...(await questions(engine, "pending")), ...(await runs(engine))],
  run: runs,
  template: async (engine) =>
    (await engine.listTemplates()).map(({ name, text, choose }): Candidate => [name, text ?? choose?.join(", ") ?? ""]),
  option: options,
};

async function questions(engine: Engine, status: "pending"): Promise<Candidate[]> {
  const waiting = await engine.listQuestions({ status, order: "oldest", limit: MOST });
  const ids = waiting.map(({ id }) => id);
  return waiting.map(({ id, title }): Candidate => [shortId(id, ids), title]);
}

async function runs(engine: Engine): Promise<Candidate[]> {
  const newest = await engine.listRuns({ order: "newest", limit: MOST });
  return newest.map(({ number, name, status }): Candidate => [String(number), `${oneLine(name)} (${status})`]);
}

/** The numbered options of the question named before. */
async function options(engine: Engine, [name = ""]: readonly string[]): Promise<Candidate[]> {
  const id: QuestionId = await getQuestionId(engine, name);
  const [only, ...others] = (await engine.read(id)).content.items;
  if (!only || others.length > 0) return [];
  return only.options.map(({ label }, index): Candidate => [String(index + 1), label]);
}
