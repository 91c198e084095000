/** Where an agent is measured: a home of its own, and a model on this machine. */
export interface ProbeBox {
  home: string;
  dir: string;
  modelUrl: string;
}

/** How an agent is started without a person and with a scripted model; nothing of what it does leaves this machine. */
export interface ProbeAgent {
  /** The content of its settings file before our server is put into it. */
  base(box: ProbeBox): string;
  env(box: ProbeBox): Record<string, string>;
  args: readonly string[];
  /** Its name for our tool, if that can be called without having been offered. */
  tool?: string;
  /** The variable for how long it waits without progress, if that limit is not the one of its settings. */
  idleEnv?: string;
}

export const PROBE_PROMPT = "Ask a person.";
export const PROBE_KEY = "not-a-key";
