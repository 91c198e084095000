// Who edited a comment: GitHub's REST API does not say it.
const EDITS = `query($id: ID!) {
  node(id: $id) {
    ... on IssueComment {
      body
      lastEditedAt
      userContentEdits(first: 20) { nodes { editedAt diff editor { login kind: __typename } } }
    }
  }
}`;

/**
 * The person whose edit brought what is read in a comment now: others changed something else afterwards. Without a login
 * if GitHub names no person, "changed" if the comment is another one by now, "unedited" if nobody edited it, and
 * "unknown" if GitHub cannot say it at the moment.
 */
export async function findEdit({ github }, comment, read) {
  const { node } = await github.query(EDITS, { id: comment.node_id });
  if (node === undefined) return "unknown";
  if (node === null) return {}; // the token may not see it
  if (node.body !== comment.body) return "changed";
  if (node.lastEditedAt === null && !node.userContentEdits?.nodes?.length) return "unedited";
  const edit = findLastEdit(node, read);
  return edit?.editor?.kind === "User" ? { login: edit.editor.login, at: edit.editedAt } : {};
}

function findLastEdit({ body, userContentEdits }, read) {
  const edits = (userContentEdits?.nodes ?? []).filter(Boolean);
  const newestFirst = edits.toSorted((one, other) => other.editedAt.localeCompare(one.editedAt));
  // Edits of the same second are told apart by what they left behind.
  const last = Math.max(
    0,
    newestFirst.findIndex(({ diff }) => diff === body),
  );
  const before = newestFirst.slice(last + 1);
  const other = before.findIndex(({ diff }) => typeof diff !== "string" || read(diff) !== read(body));
  return newestFirst[last + (other < 0 ? before.length : other)];
}
