import type { FileProblem } from "../../core/text/file-problem.ts";
import { type KnownTools, checkDefinition } from "../../core/workflow/definition/check-definition.ts";
import { WorkflowDefinition } from "../../core/workflow/definition/definition.ts";
import { hashDefinition } from "../../core/workflow/definition/definition-hash.ts";
import type { DefinitionProblem } from "../../core/workflow/definition/definition-problem.ts";
import { shapeProblems, withKnownKeys } from "./shape-problem.ts";
import { type YamlSource, readYaml } from "./yaml-source.ts";

/** A workflow that was read from a file. It has a definition only if no problem is an error. */
export interface ReadWorkflow {
  definition: WorkflowDefinition | undefined;
  /** The hash that a person approves. */
  hash: string | undefined;
  problems: FileProblem[];
}

/** Reads the YAML of a workflow and checks all of it. It executes nothing and never throws because of the text. */
export function readWorkflow(text: string, source: string, tools?: KnownTools): ReadWorkflow {
  const read = readYaml(text);
  if ("problems" in read) {
    return failed(read.problems.map((problem) => ({ level: "error", source, ...problem })));
  }
  const parsed = WorkflowDefinition.safeParse(read.source.value);
  if (!parsed.success) {
    const { value } = read.source;
    const problems = shapeProblems(value, parsed.error.issues);
    // With unknown keys alone, the other mistakes can be found as well.
    const mended = WorkflowDefinition.safeParse(withKnownKeys(value, problems));
    const others = mended.success ? checkDefinition(mended.data, tools) : [];
    return failed(place([...problems, ...others], read.source, source));
  }
  const definition = parsed.data;
  const problems = place(checkDefinition(definition, tools), read.source, source);
  if (problems.some(({ level }) => level === "error")) return failed(problems);
  return { definition, hash: hashDefinition(definition), problems };
}

function failed(problems: FileProblem[]): ReadWorkflow {
  return { definition: undefined, hash: undefined, problems };
}

function place(problems: readonly DefinitionProblem[], { findPlace }: YamlSource, source: string): FileProblem[] {
  return problems
    .map(({ level, path, isKey, offset, message, hint }) => ({
      level,
      source,
      ...findPlace(path, { isKey, offset }),
      message,
      ...(hint !== undefined && { hint }),
    }))
    .sort((one, other) => one.line - other.line || one.column - other.column);
}
