import { type GithubAsked, type Send, notFound } from "./github-reply.ts";
import { REPO, issueView, labelView, now, userView } from "./github-view.ts";

const BOT = "askd[bot]";

/** A change of an issue that GitHub lists, such as a label. */
interface IssueEvent {
  id: number;
  issue: number;
  event: "labeled" | "unlabeled" | "assigned" | "closed" | "reopened";
  /** The label or the account. */
  name: string;
  login: string;
  at: string;
}

type Handler = (asked: GithubAsked & { issue: number }, send: Send, list: (items: unknown[]) => void) => void;

/** Issues of the repository with their labels, assignees and events. Every number is an issue that is there. */
export class GithubIssues {
  readonly labels = new Map<number, string[]>();
  readonly assignees = new Map<number, string[]>();
  readonly closed = new Set<number>();
  readonly #events: IssueEvent[] = [];
  readonly #base: () => string;
  readonly #nextId: () => number;

  constructor(base: () => string, nextId: () => number) {
    this.#base = base;
    this.#nextId = nextId;
  }

  /** Puts a label on an issue, as a person does on the page. */
  addLabel(issue: number, label: string, login: string): void {
    const labels = this.#labelsOf(issue);
    if (labels.some((each) => isSame(each, label))) return;
    this.labels.set(issue, [...labels, label]);
    this.#happened(issue, "labeled", label, login);
  }

  /** Replies to a request of this part; false if it belongs to another. */
  answer(asked: GithubAsked, send: Send, list: (items: unknown[]) => void): boolean {
    const handler = this.#handlers[asked.name];
    if (!handler) return false;
    handler({ ...asked, issue: Number(asked.parameters["issue_number"]) }, send, list);
    return true;
  }

  readonly #handlers: Record<string, Handler> = {
    "GET /issues": ({ query }, _send, list) => list(this.#listed(query).map((issue) => this.#view(issue))),
    "GET /issues/{issue_number}": ({ issue }, send) => send(200, this.#view(issue)),
    "PATCH /issues/{issue_number}": ({ issue, body }, send) => {
      const { state } = body;
      if (state === "closed" && !this.closed.has(issue)) {
        this.closed.add(issue);
        this.#happened(issue, "closed", "");
      }
      if (state === "open" && this.closed.delete(issue)) this.#happened(issue, "reopened", "");
      send(200, this.#view(issue));
    },
    "GET /issues/{issue_number}/labels": ({ issue }, _send, list) => list(this.#labelViews(issue)),
    "POST /issues/{issue_number}/labels": ({ issue, body }, send) => {
      for (const label of textsOf(body["labels"])) this.addLabel(issue, label, BOT);
      send(200, this.#labelViews(issue));
    },
    "DELETE /issues/{issue_number}/labels/{name}": ({ issue, parameters }, send) => {
      const label = decodeURIComponent(parameters["name"] ?? "");
      const labels = this.#labelsOf(issue);
      if (!labels.includes(label)) return send(404, notFound("Label does not exist"));
      const left = labels.filter((name) => name !== label);
      this.labels.set(issue, left);
      this.#happened(issue, "unlabeled", label);
      return send(200, this.#labelViews(issue));
    },
    "POST /issues/{issue_number}/assignees": ({ issue, body }, send) => {
      const known = this.assignees.get(issue) ?? [];
      const added = textsOf(body["assignees"]).filter((login) => !known.includes(login));
      this.assignees.set(issue, [...known, ...added]);
      for (const login of added) this.#happened(issue, "assigned", login);
      send(201, this.#view(issue));
    },
    "GET /issues/{issue_number}/events": ({ issue }, _send, list) =>
      list(this.#events.filter((event) => event.issue === issue).map((event) => this.#eventView(event))),
  };

  /** The issues that have all of these labels, the newest first. */
  #listed(query: URLSearchParams): number[] {
    const state = query.get("state") ?? "open";
    const wanted = (query.get("labels") ?? "").split(",").filter((name) => name !== "");
    return [...new Set([...this.labels.keys(), ...this.assignees.keys(), ...this.closed])]
      .filter((issue) => state === "all" || (state === "closed") === this.closed.has(issue))
      .filter((issue) => wanted.every((name) => this.#labelsOf(issue).some((each) => isSame(each, name))))
      .toSorted((one, other) => other - one);
  }

  #labelsOf(issue: number): string[] {
    return this.labels.get(issue) ?? [];
  }

  #happened(issue: number, event: IssueEvent["event"], name: string, login = BOT): void {
    this.#events.push({ id: this.#nextId(), issue, event, name, login, at: now() });
  }

  #view(issue: number) {
    return issueView(this.#base(), issue, {
      labels: this.#labelsOf(issue),
      assignees: this.assignees.get(issue) ?? [],
      closedAt: this.#events.findLast((event) => event.issue === issue && event.event === "closed")?.at,
      isClosed: this.closed.has(issue),
    });
  }

  #labelViews(issue: number) {
    return this.#labelsOf(issue).map((name, index) => labelView(this.#base(), name, index));
  }

  #eventView({ id, event, name, login, at }: IssueEvent) {
    const actor = userView(this.#base(), login);
    return {
      id,
      node_id: `EV_${id}`,
      url: `${this.#base()}/repos/${REPO}/issues/events/${id}`,
      actor,
      event,
      commit_id: null,
      commit_url: null,
      created_at: at,
      performed_via_github_app: null,
      ...((event === "labeled" || event === "unlabeled") && { label: { name, color: "ededed" } }),
      ...(event === "assigned" && { assignee: userView(this.#base(), name), assigner: actor }),
      ...(event === "closed" && { state_reason: "completed" }),
    };
  }
}

/** GitHub ignores the case of labels. */
function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
