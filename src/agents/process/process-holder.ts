import { type Identity, isAlive, isInSight, readOwnIdentity } from "./process-identity.ts";

/** A process that waits for answers, named so that others on this machine can see whether it is still there. */
interface ProcessHolder {
  own: string;
  isGone(holder: string): Promise<boolean>;
}

/** Names this process, and says of others whether they have ended. */
export async function processHolder(): Promise<ProcessHolder> {
  return {
    own: nameOf(await readOwnIdentity()),
    isGone: async (holder) => {
      const identity = parseName(holder);
      // What cannot be looked for may be there.
      return identity !== undefined && !(await isAlive(identity));
    },
  };
}

/** Says whether a process that waits for answers was one of this machine and has ended. */
export async function isHolderGone(holder: string): Promise<boolean> {
  const identity = parseName(holder);
  return identity !== undefined && (await isInSight(identity)) && !(await isAlive(identity));
}

function nameOf({ pid, born, boot }: Identity): string {
  return [pid, boot, born].join("/");
}

function parseName(name: string): Identity | undefined {
  const [pid, boot, ...born] = name.split("/");
  return /^\d+$/.test(pid ?? "") && boot ? { pid: Number(pid), boot, born: born.join("/") } : undefined;
}
