const LOOK_MS = 250;
/** How often a command that nothing can wake any more is given another moment: half a minute. */
const MOST_LOOKS = 120;

type OwnProcess = Pick<NodeJS.Process, "on" | "off" | "exitCode">;

/**
 * Keeps the process until the command is done; returns the function that ends this. Node ends a process that nothing
 * can wake, with exit code 0: a command that still waits would seem to have done all that it was asked to.
 */
export function stayUntilDone(process: OwnProcess, stderr: { write(text: string): unknown }): () => void {
  let looks = 0;
  const stay = () => {
    looks += 1;
    if (looks <= MOST_LOOKS) {
      setTimeout(() => undefined, LOOK_MS); // what runs beside, such as the look at the store, may still wake it
      return;
    }
    process.exitCode = 1;
    stderr.write("error: The command waited for something that cannot come any more; nothing was lost\n");
    stderr.write("  See what is waiting: askd status\n");
  };
  process.on("beforeExit", stay);
  return () => process.off("beforeExit", stay);
}
