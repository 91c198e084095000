import { type Json, isJson, parseJson, textAt, valueAt } from "../json.ts";

/** The most telling arguments of a tool call, best first. */
const TELLING = ["file_path", "filePath", "path", "notebook_path", "command", "pattern", "url", "query", "description"];
const HOLDERS = [["input"], ["state", "input"], ["parameters"], ["args"], ["arguments"]] as const;
const DEEPEST = 8;

/** Finds the subject of a tool call in an agent's output line: the edited file, the command. */
export function findCallDetail(line: string, callId: string): string | undefined {
  const object = callId === "" ? undefined : parseJson(line);
  const call = object && findCall(object, callId, 0);
  if (!call) return undefined;
  const inputs = [...HOLDERS.map((path) => valueAt(call, ...path)), call].filter(isJson);
  for (const input of inputs) {
    const name = TELLING.find((each) => textAt(input, each));
    if (name !== undefined) return textAt(input, name);
  }
  return undefined;
}

/** The object with the call's id, wherever the agent puts it. */
function findCall(object: Json, callId: string, depth: number): Json | undefined {
  const values = Object.values(object);
  if (values.includes(callId)) return object;
  if (depth === DEEPEST) return undefined;
  const inner = values.flatMap((value): unknown[] => (Array.isArray(value) ? value : [value])).filter(isJson);
  for (const each of inner) {
    const found = findCall(each, callId, depth + 1);
    if (found) return found;
  }
  return undefined;
}
