/** What is said to a caller, before anything of it is written. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}
