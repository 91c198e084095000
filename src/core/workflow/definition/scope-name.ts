/**
 * The names that every expression of a workflow can use, besides the outputs of earlier steps and the names that
 * `on_resume` injects.
 */
export const SCOPE_NAMES = {
  inputs: "the inputs of the run",
  issueNumber: "the number of the issue that the run is about",
  issue: "that issue: number, repo, title, body, author, labels, url",
  repo: "the repository, such as acme/shop",
  run: "the run: id, number, name",
  trigger: "what started the run: type, and label, schedule or body",
  secrets: "values of environment variables that [workflows] allows; only for http, shell and MCP tools",
} as const;

/** Names that exist in some places only. */
export const LOCAL_NAMES = {
  /** In `on_resume`, `on_timeout` and after a question: question, questionId, answer, answeredBy, answeredAt, status. */
  question: "pendingQuestion",
  /** After a question: its answer. */
  answer: "answer",
  /** In `on_failure`: step, code, message, output. */
  error: "error",
  /** In a step with `for_each`: the number of the item, from 0. */
  index: "index",
} as const;

/** The tools that askd has itself; every other one is a tool of an MCP server. */
export const OWN_TOOLS: readonly string[] = [
  "post_question",
  "agent",
  "shell",
  "http",
  "github_comment",
  "github_create_pr",
  "update_github_issue",
];

/** Tools whose input reaches people or agents, so that no secret may be in it. */
export const TELLING_TOOLS: readonly string[] = [
  "post_question",
  "agent",
  "github_comment",
  "github_create_pr",
  "update_github_issue",
];
