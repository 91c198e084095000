import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";

const Part = z.looseObject({ kind: z.string(), id: z.string().optional(), text: z.string().optional() });
const Turn = z.object({ role: z.string(), parts: z.array(Part) });
const Entry = z.looseObject({
  kind: z.string(),
  conversation: z.object({ turns: z.array(Turn) }).optional(),
});
export type Turn = z.infer<typeof Turn>;

/** One request to the scripted model: the whole conversation as its agent sent it. */
export interface ModelRequest {
  turns: Turn[];
  /** The entry as it was written. */
  line: string;
}

/** Every request that the scripted model has noted, oldest first; with a mark those whose conversation holds it. */
export function readRequests(file: string, mark = ""): ModelRequest[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines
    .slice(0, -1) // what follows the last line end is still being written
    .filter((line) => line.includes(mark))
    .flatMap((line) => {
      const { kind, conversation } = Entry.parse(JSON.parse(line));
      return kind === "model" ? [{ turns: conversation?.turns ?? [], line }] : [];
    });
}

/** The messages and results in a conversation that hold this text. */
export function findTold(turns: readonly Turn[], text: string): string[] {
  const parts = turns.filter(({ role }) => role !== "assistant").flatMap((turn) => turn.parts);
  const told = parts.filter((part) => part.text?.includes(text));
  // A call has one result, also where Gemini CLI shows it twice after a resume.
  const once = told.filter(({ id }, index) => id === undefined || told.findIndex((part) => part.id === id) === index);
  return once.map((part) => part.text ?? "");
}
