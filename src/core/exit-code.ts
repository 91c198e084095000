/** Every exit code of the command line, by its meaning. `askd help exit-codes` explains them. */
export const EXIT_CODE = {
  done: 0,
  error: 1,
  usage: 2,
  unreachable: 3,
  signIn: 4,
  notFound: 5,
  conflict: 6,
  notPermitted: 7,
  pending: 8,
  timedOut: 9,
  cancelled: 10,
  mayHaveAsked: 11,
  denied: 12,
  interrupted: 130,
} as const;

export type ExitCodeName = keyof typeof EXIT_CODE;
