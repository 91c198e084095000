/** Thrown by a command that a signal ended, such as Ctrl-C: it prints nothing more and exits with 130. */
export class Interrupted extends Error {}
