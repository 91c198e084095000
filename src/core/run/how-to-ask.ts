/** When to ask a person, and when not to; every door uses the same text. */
const WHEN = `Ask a person only when you are really stuck, or when a wrong guess would be costly or hard to undo.
For small doubts choose what fits best, go on, and write down what you assumed.
Say what you need to decide, what follows from each option, and which one you would take.`;

const GOOD = `Worth asking:
- "The migration drops users_v1, which was written to 3 days ago. Drop it, rename it, or leave it?"
- "Two payment providers are configured. Which one should the new checkout use?"
- "The spec says 'secure login' and nothing else. Sessions or signed tokens? Mobile clients need tokens."`;

const BAD = `Not worth asking:
- "Should I start now?" (start)
- "Is this variable name fine?" (choose one)
- "What is the password of the database?" (never ask for secrets; ask for them to be put into the environment)`;

export const MARKER_OPEN = "<<ASK_HUMAN>>";
export const MARKER_CLOSE = "<</ASK_HUMAN>>";

/** The status of a result that asks. */
export const NEEDS_INPUT = "needs_input";

/** Instructions to ask with a text marker, for agents without a tool. */
export function howToAskByMarker(): string {
  const sample =
    '{"question": "Your question", "context": "What helps to decide", "options": ["First (recommended)", "Second"]}';
  return [
    "## Asking a person",
    "To ask, write exactly this, with your own JSON between the two lines, and then stop:",
    `${MARKER_OPEN}\n${sample}\n${MARKER_CLOSE}`,
    "You will be started again with the answer. Ask one question at a time; `question` is required, the rest is optional.",
    WHEN,
    GOOD,
    BAD,
  ].join("\n\n");
}

/** Instructions to ask through the result, for agents that end with a JSON object. */
export function howToAskByResult(): string {
  const sample =
    '{"status": "needs_input", "summary": "…", "question": "Your question", "questionContext": "What helps to decide", "details": "What is done so far"}';
  return [
    "## Asking a person",
    `End with a JSON object. Its status is "completed", "failed", "blocked", or, to ask: ${sample}`,
    "What you did so far stays as it is. You will be started again with the answer.",
    WHEN,
    GOOD,
    BAD,
  ].join("\n\n");
}

/** Instructions to ask with the MCP tool, for the server and the skill. */
export function howToAskByTool(): string {
  return [
    "Call ask_human to ask a person. Pass one question, or several that belong together, with options where there are any.",
    "If the result says that the question is kept and that you should stop, end your turn at once: the question is not lost.",
    WHEN,
    GOOD,
    BAD,
  ].join("\n\n");
}
