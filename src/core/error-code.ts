/** Says whether the system refused with this code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** The code that the system refused with, or whatever else is known. */
export function sayCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
