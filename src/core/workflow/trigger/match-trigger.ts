import type { WorkflowDefinition, WorkflowTrigger } from "../definition/definition.ts";
import { isMet } from "../definition/template.ts";
import type { ScheduleTrigger } from "./schedule.ts";

/** An issue got a label. */
export interface LabelEvent {
  is: "label_added";
  label: string;
  issueNumber: number;
  repo: string;
  by: string;
  /** The account that added it may write to the repository. */
  mayWrite: boolean;
}

/** A verified request came in for the webhook of that name. */
export interface WebhookEvent {
  is: "webhook";
  name: string;
  body: unknown;
}

/** The trigger that an event starts a run by; a reason if the event matches but may not start one. */
export type TriggerMatch =
  | { starts: true; trigger: WorkflowTrigger; /** Its place in the list. */ index: number }
  | { starts: false; reason: "not_permitted" };

/**
 * The first trigger of a workflow that an event matches. One event starts at most one run of a workflow. Anybody can put
 * a label on some repositories, so a label counts only if its author may write.
 */
export function findTrigger(
  definition: WorkflowDefinition,
  event: LabelEvent | WebhookEvent,
): TriggerMatch | undefined {
  const triggers = definition.triggers ?? [];
  const index = triggers.findIndex((trigger) => matches(trigger, event));
  const trigger = triggers[index];
  if (!trigger) return undefined;
  if (event.is === "label_added" && !event.mayWrite) return { starts: false, reason: "not_permitted" };
  return { starts: true, trigger, index };
}

/** The schedules of a workflow, with their places in the list. */
export function schedulesOf({ triggers }: WorkflowDefinition): Array<{ trigger: ScheduleTrigger; index: number }> {
  return (triggers ?? []).flatMap((trigger, index) => ("schedule" in trigger ? [{ trigger, index }] : []));
}

/**
 * The labels beside a schedule: the schedule then starts one run for each open issue that has one of them and no live
 * run. Without any, it starts one run without an issue.
 */
export function labelsOf({ triggers }: WorkflowDefinition): string[] {
  return (triggers ?? []).flatMap((trigger) => ("label_added" in trigger ? [trigger.label_added] : []));
}

function matches(trigger: WorkflowTrigger, event: LabelEvent | WebhookEvent): boolean {
  if (event.is === "label_added") return "label_added" in trigger && isSameLabel(trigger.label_added, event.label);
  if (!("webhook" in trigger) || trigger.webhook !== event.name) return false;
  return isMet(trigger.condition, { trigger: { type: "webhook", name: event.name, body: event.body } });
}

/** GitHub does not tell labels apart by case. */
export function isSameLabel(one: string, other: string) {
  return one.toLowerCase() === other.toLowerCase();
}
