/** Names one call of one session, whichever door it comes through; the same name is the same ask. */
export function callKey(session: string, call: string): string {
  return `${session}:${call}`.slice(-LONGEST_KEY);
}

const LONGEST_KEY = 255;
