// The traces that a question leaves on its issue when nobody answered. All of them bear being repeated.
import { noteOnce } from "./own.mjs";
import { escaped } from "./runner.mjs";

const LABELS = { skip: "auto-fix-skip", fail: "auto-fix-failed" };
const LABEL_CHARS = 50;

/** Labels, assigns and comments the issue: a job that died half-way is followed by one that does it again. */
export async function leaveTraces(desk, { comment, state }) {
  const { github, repo } = desk;
  const { id, status, policy, issue, effects = {} } = state;
  if (status !== "timeout") return;
  const path = `/repos/${repo}/issues/${issue}`;
  const label = (effects.label ?? LABELS[policy] ?? "").slice(0, LABEL_CHARS);
  if (label) await github.send("POST", `${path}/labels`, { body: { labels: [label] } });
  // An account that cannot be assigned must not keep the question open.
  if (effects.assign)
    await github.send("POST", `${path}/assignees`, {
      body: { assignees: [effects.assign] },
      expected: [201, 404, 422],
    });
  if (effects.comment)
    await noteOnce(desk, { issue, name: `timeout=${id}`, text: escaped(effects.comment), since: comment.created_at });
}
