/** Where a server listens unless it is told otherwise. */
export const PORT = 4319;
