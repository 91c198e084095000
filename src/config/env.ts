import { parseDuration } from "../core/text/duration.ts";
import { Refusal } from "../core/refusal.ts";
import { TimeoutPolicy } from "../core/question/timeout-policy.ts";
import type { Values } from "./schema.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The environment variables for settings. They override files, and flags override them. */
export const VARIABLES = {
  profile: "ASKD_PROFILE",
  "questions.live_window": "ASKD_LIVE_WINDOW",
  "questions.timeout": "ASKD_TIMEOUT",
  "questions.on_timeout": "ASKD_ON_TIMEOUT",
  "questions.max_per_run": "ASKD_MAX_QUESTIONS",
  "server.port": "ASKD_PORT",
  "store.url": "ASKD_STORE",
  "callbacks.allow_loopback": "ASKD_CALLBACK_LOOPBACK",
} as const;

/** The values, overridden by the environment. */
export function withEnv(values: Values, env: Env): Values {
  const live = readDuration(env, "ASKD_LIVE_WINDOW");
  const timeout = readDuration(env, "ASKD_TIMEOUT");
  const onTimeout = readPolicy(env, "ASKD_ON_TIMEOUT");
  const most = readCount(env, "ASKD_MAX_QUESTIONS", Number.MAX_SAFE_INTEGER);
  const port = readCount(env, "ASKD_PORT", 65_535);
  const loopback = env["ASKD_CALLBACK_LOOPBACK"];
  return {
    ...values,
    questions: {
      ...values.questions,
      ...(live !== undefined && { live_window: live }),
      ...(timeout !== undefined && { timeout }),
      ...(onTimeout !== undefined && { on_timeout: onTimeout }),
      ...(most !== undefined && { max_per_run: most }),
    },
    server: { ...values.server, ...(port !== undefined && { port }) },
    callbacks: { ...values.callbacks, ...(loopback && { allow_loopback: loopback === "1" }) },
  };
}

function readDuration(env: Env, name: string) {
  const text = env[name];
  if (!text) return undefined;
  try {
    parseDuration(text);
    return text;
  } catch (cause) {
    throw wrong(name, 'write a duration such as "3m"', cause);
  }
}

function readPolicy(env: Env, name: string): TimeoutPolicy | undefined {
  if (!env[name]) return undefined;
  const parsed = TimeoutPolicy.safeParse(env[name]);
  if (parsed.success) return parsed.data;
  throw wrong(name, `write one of: ${TimeoutPolicy.options.join(", ")}`);
}

function readCount(env: Env, name: string, most: number) {
  const text = env[name];
  if (!text) return undefined;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 0 && count <= most) return count;
  throw wrong(name, most < Number.MAX_SAFE_INTEGER ? `write a number from 0 to ${most}` : "write a whole number");
}

function wrong(name: string, hint: string, cause?: unknown) {
  return new Refusal("bad_input", `The value of ${name} cannot be read; ${hint}`, {
    hint: `Set it again, or unset ${name}`,
    cause,
  });
}
