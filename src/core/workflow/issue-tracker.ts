/** An issue or pull request. */
export interface IssuePlace {
  repo: string;
  number: number;
}

/** An issue as a workflow sees it; all of its text comes from strangers. */
export interface TrackedIssue extends IssuePlace {
  title: string;
  body: string;
  author: string;
  labels: readonly string[];
  url: string;
  updatedAt: string;
}

/** The account that put a label on an issue, and when. */
export interface LabelAdded {
  by: string;
  at: string;
}

export interface IssueChange {
  addLabels?: readonly string[] | undefined;
  removeLabels?: readonly string[] | undefined;
  addComment?: string | undefined;
  assign?: readonly string[] | undefined;
  close?: boolean | undefined;
}

export interface PullInput {
  repo: string;
  /** The branch with the changes, and the one they are for; the default branch unless given. */
  head: string;
  base?: string | undefined;
  title: string;
  /** Text of agents and strangers may be in it: nothing in it is live. */
  body: string;
  /** The issue that merging it closes. */
  closes?: number | undefined;
  isDraft?: boolean | undefined;
}

/**
 * Issues and pull requests of a service. `key` names the step that acts: what a step did is found by it, so that doing it
 * again changes nothing.
 */
export interface IssueTracker {
  readIssue(place: IssuePlace): Promise<TrackedIssue>;
  comment(place: IssuePlace, key: string, text: string): Promise<{ url: string }>;
  changeIssue(place: IssuePlace, key: string, change: IssueChange): Promise<void>;
  openPull(input: PullInput): Promise<{ number: number; url: string }>;
  /** Open issues with this label. */
  listLabelled(repo: string, label: string): Promise<TrackedIssue[]>;
  /** The last time that somebody put the label on the issue; undefined if that is not known. */
  findLabelAdded(place: IssuePlace, label: string): Promise<LabelAdded | undefined>;
  /** Says whether an account may write to the repository. */
  mayWrite(repo: string, login: string): Promise<boolean>;
  /** The repositories that the settings name. */
  readonly repos: readonly string[];
}
