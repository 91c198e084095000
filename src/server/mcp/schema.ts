import type { Tool } from "@modelcontextprotocol/server";

/** A JSON schema as tools publish it. They teach the good shape and let every other one through. */
export type InputSchema = Tool["inputSchema"];
type Json = string | number | boolean | Json[] | { [name: string]: Json };

const OPTION: Json = {
  anyOf: [
    { type: "string" },
    {
      type: "object",
      properties: {
        label: { type: "string", description: "A few words" },
        description: { type: "string", description: "What follows from this choice" },
        value: { type: "string", description: "What the answer holds; the label if left out" },
        recommended: { type: "boolean", description: "The one you would take" },
      },
    },
  ],
};

const QUESTION: Json = {
  type: "object",
  properties: {
    question: { type: "string", description: "One sentence that ends in a question mark" },
    header: { type: "string", description: "One or two words that name it" },
    options: { type: "array", items: OPTION },
    multiSelect: { type: "boolean", description: "Several options may be chosen" },
  },
};

const TIMES = {
  timeout_seconds: { type: "number", description: "How long to wait here; the question stays afterwards" },
};

export const ASK_HUMAN: InputSchema = {
  type: "object",
  properties: {
    question: { type: "string", description: "One sentence that ends in a question mark" },
    options: { type: "array", items: OPTION, description: "What can be chosen, with what follows from each" },
    context: { type: "string", description: "What a person needs to know to decide, as Markdown" },
    questions: { type: "array", items: QUESTION, description: "Instead of question: several that belong together" },
    risk: { type: "string", enum: ["low", "medium", "high"], description: "What a wrong answer could do" },
    confidence: { type: "number", description: "How sure you are of the recommended option, 0 to 1" },
    ...TIMES,
  },
};

export const CHECK_ANSWER: InputSchema = {
  type: "object",
  properties: {
    question_id: { type: "string", description: "As ask_human returned it; your last question if left out" },
    ...TIMES,
  },
};

export const CANCEL_QUESTION: InputSchema = {
  type: "object",
  properties: {
    question_id: { type: "string", description: "As ask_human returned it; your last question if left out" },
    reason: { type: "string", description: "Why no answer is needed any more" },
  },
};

export const POST_QUESTION: InputSchema = {
  type: "object",
  properties: {
    issueNumber: { type: "number" },
    question: { type: "string" },
    options: {
      type: "array",
      items: {
        type: "object",
        properties: {
          value: { type: "string" },
          label: { type: "string" },
          description: { type: "string" },
          isDefault: { type: "boolean" },
        },
      },
    },
    context: { type: "string" },
    notifyVia: { type: "array", items: { type: "string" }, description: "github, slack, email" },
    timeoutHours: { type: "number" },
    timeoutAction: { type: "string", description: "skip, default, escalate or fail" },
    defaultAnswer: { type: "string" },
    slackChannel: { type: "string" },
    slackMention: { type: "array", items: { type: "string" } },
    emailRecipients: { type: "array", items: { type: "string" } },
  },
  required: ["question"],
};

export const ASK_USER: InputSchema = {
  type: "object",
  properties: { question: { type: "string", description: "What you need to know" } },
  required: ["question"],
};

export const ASK_USER_QUESTION: InputSchema = {
  type: "object",
  properties: { questions: { type: "array", items: QUESTION } },
  required: ["questions"],
};

/** The input with which Claude Code calls its permission prompt tool. */
export const APPROVE: InputSchema = {
  type: "object",
  properties: {
    tool_name: { type: "string" },
    input: { type: "object", additionalProperties: true },
    tool_use_id: { type: "string" },
  },
  required: ["tool_name", "input", "tool_use_id"],
};
