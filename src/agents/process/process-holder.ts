import { type ProcessIdentity, isProcessAlive, isVisibleHere, readOwnIdentity } from "./process-identity.ts";

/** A process that waits for answers, named so that others on this machine can check whether it is alive. */
interface ProcessHolder {
  own: string;
  isGone(holder: string): Promise<boolean>;
}

/** Names this process, and checks whether other holders have ended. */
export async function processHolder(): Promise<ProcessHolder> {
  return {
    own: nameOf(await readOwnIdentity()),
    isGone: async (holder) => {
      const identity = parseName(holder);
      // A process that cannot be checked may be alive.
      return identity !== undefined && !(await isProcessAlive(identity));
    },
  };
}

/** Says whether a waiting process of this machine has ended. */
export async function isHolderGone(holder: string): Promise<boolean> {
  const identity = parseName(holder);
  return identity !== undefined && (await isVisibleHere(identity)) && !(await isProcessAlive(identity));
}

function nameOf({ pid, born, boot }: ProcessIdentity): string {
  return [pid, boot, born].join("/");
}

function parseName(name: string): ProcessIdentity | undefined {
  const [pid, boot, ...born] = name.split("/");
  return /^\d+$/.test(pid ?? "") && boot ? { pid: Number(pid), boot, born: born.join("/") } : undefined;
}
