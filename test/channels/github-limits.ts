/** A reply of GitHub that a test plans for a request; `lost`: the request is done, and its reply does not arrive. */
export type PlannedReply =
  | { lost: true }
  | { status: number; message: string; headers?: Record<string, string> }
  /** The usual reply, with these headers. */
  | { headers: Record<string, string> };

interface AskedRequest {
  /** Method and path, such as `GET /user`. */
  name: string;
  atMs: number;
}

/** The requests that came to GitHub, and the limits that it set them. */
export class GithubLimits {
  readonly asked: AskedRequest[] = [];
  readonly #planned: Array<{ shape: RegExp; reply: PlannedReply }> = [];

  /** Plans the reply to the next request of that name. */
  plan(shape: RegExp, reply: PlannedReply): void {
    this.#planned.push({ shape, reply });
  }

  /** Notes a request, and finds the reply that is planned for it. */
  take(name: string): PlannedReply | undefined {
    this.asked.push({ name, atMs: Date.now() });
    const index = this.#planned.findIndex(({ shape }) => shape.test(name));
    return index < 0 ? undefined : this.#planned.splice(index, 1)[0]?.reply;
  }

  /** The requests whose name has this form. */
  of(shape: RegExp): AskedRequest[] {
    return this.asked.filter(({ name }) => shape.test(name));
  }
}
