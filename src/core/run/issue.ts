import { z } from "zod";
import { Refusal } from "../refusal.ts";

/** The issue or pull request that work belongs to; without a repository, one of the run's own. */
export const Issue = z.object({ repo: z.string().max(200).optional(), number: z.int().positive().max(999_999_999) });
export type Issue = z.infer<typeof Issue>;

const NAME = /^(?:([\w.-]{1,100}\/[\w.-]{1,100})?#)?(\d{1,9})$/;
const ADDRESS = /^https?:\/\/[^/\s]+\/([\w.-]{1,100}\/[\w.-]{1,100})\/(?:issues|pull)\/(\d{1,9})(?:[/?#]\S*)?$/;

/** Reads `acme/api#12`, `#12`, `12`, or the address of an issue or pull request. */
export function parseIssue(text: string): Issue {
  const [, repo, number] = NAME.exec(text.trim()) ?? ADDRESS.exec(text.trim()) ?? [];
  if (Number(number) > 0) return { repo, number: Number(number) };
  throw new Refusal("bad_input", "This names no issue", { hint: "Write it like: --issue acme/api#12" });
}
