import { z } from "zod";
import type { IssuePlace, IssueTracker } from "../../core/workflow/issue-tracker.ts";
import { parseInput } from "./step-input.ts";
import { type StepContext, StepError, type StepTool } from "./tool.ts";

const MOST_TITLE_CHARS = 200;

const Place = { issueNumber: z.int().positive().optional(), repo: z.string().optional() };
const Names = z.union([z.string().transform((name) => [name]), z.array(z.string())]);

const CommentInput = z.strictObject({ ...Place, body: z.string().optional(), comment: z.string().optional() });
const IssueInput = z.strictObject({
  ...Place,
  addLabels: Names.optional(),
  removeLabels: Names.optional(),
  addComment: z.string().optional(),
  assign: Names.optional(),
  close: z.boolean().optional(),
});
const PullInput = z.strictObject({
  ...Place,
  title: z.string().optional(),
  body: z.string().optional(),
  base: z.string().optional(),
  message: z.string().optional(),
  draft: z.boolean().optional(),
});

/** Comments the issue of the run. */
export const githubComment: StepTool = {
  isRepeatable: true,
  keys: Object.keys(CommentInput.shape),
  async run(input, context) {
    const { body, comment, ...place } = parseInput(CommentInput, input, "github_comment");
    const text = body ?? comment;
    if (text === undefined) throw new StepError("bad_input", "Write the comment in body");
    return (await getTracker(context)).comment(getIssue(context, place), context.key, text);
  },
};

/** Labels, assigns, comments or closes the issue of the run. */
export const updateGithubIssue: StepTool = {
  isRepeatable: true,
  keys: Object.keys(IssueInput.shape),
  async run(input, context) {
    const { issueNumber, repo, ...change } = parseInput(IssueInput, input, "update_github_issue");
    const issue = getIssue(context, { issueNumber, repo });
    await (await getTracker(context)).changeIssue(issue, context.key, change);
    return { issueNumber: issue.number, ...change };
  },
};

/** Commits what changed in the run's working tree, pushes the run's branch, and opens a pull request for it. */
export const githubCreatePr: StepTool = {
  isRepeatable: true,
  keys: Object.keys(PullInput.shape),
  async run(input, context) {
    const { title, body, base, message, draft, ...place } = parseInput(PullInput, input, "github_create_pr");
    const { run, outside } = context;
    const tree = await context.openTree();
    if (tree.branch === undefined) throw new StepError("no_repository", "The project is not in a git repository");
    const tracker = await getTracker(context);
    const issue = findIssue(context, place);
    const repo = issue?.repo ?? place.repo ?? run.repo ?? tracker.repos[0];
    if (repo === undefined) throw new StepError("no_repository", "The repository of the pull request is not known");
    const about = issue && (await tracker.readIssue(issue));
    const shown = oneLine(title ?? (about ? `Fix #${about.number}: ${about.title}` : run.name));
    const isChanged = await outside.publishTree(tree, message ?? shown);
    if (!isChanged) throw new StepError("nothing_changed", "Nothing was changed, so there is no pull request");
    const text = body ?? `Made by run #${run.number} of the workflow ${run.name}`;
    const closes = about?.number;
    const asked = { repo, head: tree.branch, base, title: shown, body: text, closes, isDraft: draft };
    const pull = await tracker.openPull(asked);
    return { ...pull, branch: tree.branch };
  },
};

/** GitHub's service; a step that needs it fails without one. */
export async function getTracker({ outside }: Pick<StepContext, "outside">): Promise<IssueTracker> {
  const tracker = await outside.openTracker();
  if (tracker) return tracker;
  throw new StepError("not_configured", "GitHub is not configured here; set it up with: askd setup github");
}

interface GivenPlace {
  issueNumber?: number | undefined;
  repo?: string | undefined;
}

function findIssue({ issue, run }: StepContext, { issueNumber, repo }: GivenPlace): IssuePlace | undefined {
  const number = issueNumber ?? issue?.number;
  const name = repo ?? issue?.repo ?? run.repo;
  return number === undefined || name === undefined ? undefined : { repo: name, number };
}

function getIssue(context: StepContext, given: GivenPlace): IssuePlace {
  const issue = findIssue(context, given);
  if (issue) return issue;
  throw new StepError("no_issue", "The run belongs to no issue; start it with --issue, or write issueNumber and repo");
}

function oneLine(text: string) {
  return text.replace(/\s+/g, " ").trim().slice(0, MOST_TITLE_CHARS);
}
