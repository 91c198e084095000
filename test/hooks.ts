import { readFileSync } from "node:fs";
import { z } from "zod";
import type { HookCall, HookClient } from "../src/core/door/hook.ts";

const Fields = z.record(z.string(), z.unknown());

/** What a program wrote to its hook, as it was recorded, with some of it changed. */
export function hookInput(name: string, over: Record<string, unknown> = {}): Record<string, unknown> {
  const recorded = Fields.parse(JSON.parse(readFileSync(`test/fixtures/hooks/${name}.json`, "utf8")));
  return { ...recorded, ...over };
}

/** The call that a hook is asked about. */
export function hookCall(client: HookClient, name: string, over: Record<string, unknown> = {}): HookCall {
  const event = client.parse(hookInput(name, over));
  if (event.is !== "call") throw new Error(`it is ${event.is}`);
  return event.call;
}
