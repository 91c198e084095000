import { type GraphNode, type WorkflowGraph, END_OF_RUN, graphOf } from "../../../core/workflow/definition/graph.ts";
import { getWorkflow } from "../../../workflow/definition/workflow-folder.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { readProjectWorkflows } from "./project-workflows.ts";
import type { WorkflowFlags } from "./workflow.ts";

const FIELDS = ["name", "description", "triggers", "nodes", "edges", "on_timeout", "on_failure"] as const;

/** The lines of a drawing, and words in their place for screen readers. */
interface Pens {
  start: string;
  step: string;
  line: string;
  inner: string;
  way: string;
  end: string;
}
const DRAWN: Pens = { start: "●", step: "├─", line: "│", inner: "│  ", way: "└", end: "■" };
const SPOKEN: Pens = { start: "start:", step: "step:", line: "", inner: "  ", way: "then:", end: "end:" };

/** Shows a workflow as a picture of its steps. */
export async function graph(words: readonly string[], _given: WorkflowFlags, context: Context): Promise<number> {
  const name = requireOneArgument(words, "workflow graph <name>");
  const { definition } = getWorkflow(await readProjectWorkflows(context), name);
  const picture = graphOf(definition);
  printResult(context, FIELDS, {
    page: () => `${renderGraph(picture, context.isAccessible ? SPOKEN : DRAWN).join("\n")}\n`,
    json: () => picture,
  });
  return 0;
}

function renderGraph(picture: WorkflowGraph, pens: Pens): string[] {
  const { name, description, triggers, nodes, onTimeout, onFailure } = picture;
  const title = description === undefined ? name : `${name}: ${description}`;
  const ends = picture.edges.some(({ when }) => when === "timeout") ? ["skipped after a timeout"] : [];
  return [
    oneLine(title),
    `${pens.start} ${oneLine(triggers.join(", ") || "by hand")}`,
    ...nodes.flatMap((node) => renderNode(node, picture, pens)),
    `${pens.end} ${["completed", ...ends].join("; ")}`,
    ...renderHandler("on_timeout", onTimeout, pens),
    ...renderHandler("on_failure", onFailure, pens),
  ];
}

function renderHandler(name: string, nodes: readonly GraphNode[], pens: Pens): string[] {
  if (nodes.length === 0) return [];
  return ["", name, ...nodes.flatMap((node) => renderNode(node, undefined, pens))];
}

function renderNode(node: GraphNode, picture: WorkflowGraph | undefined, pens: Pens): string[] {
  const ways = (picture?.edges ?? []).filter(({ from, when }) => from === node.id && when !== "next");
  return [
    ...(pens.line === "" ? [] : [pens.line]),
    `${pens.step} ${oneLine(describeNode(node))}`,
    ...ways.map(({ when, to }) => `${pens.inner}${pens.way} ${oneLine(`${when} → ${sayPlace(to)}`)}`),
    ...node.inner.flatMap((inner) => renderNode(inner, undefined, pens).map((line) => `${pens.inner}${line}`)),
  ];
}

function describeNode({ id, kind, tool, condition, isRepeated, output }: GraphNode): string {
  const KINDS = {
    tool: tool ?? "",
    question: `${tool}, waits for an answer`,
    parallel: "at the same time",
    group: "in order",
  };
  const parts = [
    KINDS[kind],
    ...(isRepeated ? ["for each item"] : []),
    ...(condition === undefined ? [] : [`if ${condition}`]),
  ];
  return `${id}: ${parts.join(", ")}${output === undefined ? "" : ` → ${output}`}`;
}

function sayPlace(to: string) {
  if (to === END_OF_RUN) return "the end";
  return to === "(on_timeout)" ? "on_timeout" : to;
}
