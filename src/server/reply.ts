/** A complete reply, before any of it is written. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}
