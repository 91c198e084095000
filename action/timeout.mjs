// The traces that a question leaves on its issue when nobody answered. All of them bear being repeated.
import { escaped } from "./runner.mjs";

const LABELS = { skip: "auto-fix-skip", fail: "auto-fix-failed" };
const LABEL_CHARS = 50;

/** Labels, assigns and comments the issue: a job that died half-way is followed by one that does it again. */
export async function leaveTraces({ github, repo }, state) {
  const { status, policy, issue, effects = {} } = state;
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
  if (effects.comment) await commentOnce(github, path, state);
}

async function commentOnce(github, path, { id, askedAt, effects }) {
  const mark = `<!-- askd v1 timeout=${id} -->`;
  const since = encodeURIComponent(askedAt);
  for await (const { user, body } of github.each(`${path}/comments?per_page=100&since=${since}`))
    if (user?.type === "Bot" && body?.includes(mark)) return;
  const body = `${escaped(effects.comment)}\n\n${mark}`;
  await github.send("POST", `${path}/comments`, { body: { body }, expected: [201] });
}
