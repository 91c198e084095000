import { z } from "zod";
import type { GithubCall } from "./api.ts";
import type { Comment } from "./comment.ts";
import { tickedKeys } from "./issue-comment.ts";

/** REST does not say who edited a comment. */
export const EDITOR_QUERY = `query($id: ID!) {
  node(id: $id) {
    ... on IssueComment {
      body
      userContentEdits(first: 20) { nodes { editedAt diff editor { login kind: __typename } } }
    }
  }
}`;

const Edit = z.object({
  editedAt: z.string(),
  diff: z.string().nullish(),
  editor: z.object({ login: z.string(), kind: z.string() }).nullish(),
});
const Edited = z.object({
  data: z.object({
    node: z
      .object({ body: z.string(), userContentEdits: z.object({ nodes: z.array(Edit.nullable()) }).nullable() })
      .nullable(),
  }),
});

/**
 * The person who ticked the boxes of a comment as it is now: the one of its last edits that brought them. Undefined if
 * GitHub does not say, or if it was no person; `changed` if the comment is another one by now.
 */
export async function findEditor(
  call: GithubCall,
  comment: Comment,
  signal: AbortSignal | undefined,
): Promise<{ login: string | undefined } | "changed"> {
  const json = { query: EDITOR_QUERY, variables: { id: comment.node_id } };
  const reply = await call("/graphql", { method: "POST", json, signal });
  if (reply.status !== 200) throw new Error(`who edited a comment cannot be read: status ${reply.status}`);
  const parsed = Edited.safeParse(reply.body);
  if (!parsed.success) return { login: undefined };
  const { node } = parsed.data.data;
  if (!node || node.body !== (comment.body ?? "")) return "changed";
  const edits = (node.userContentEdits?.nodes ?? []).filter((edit) => edit !== null);
  const ticks = tickedKeys(comment.body ?? "").join();
  const newestFirst = edits.toSorted((one, other) => other.editedAt.localeCompare(one.editedAt));
  // Edits of the same second are told apart by what they left behind.
  const last = Math.max(
    0,
    newestFirst.findIndex(({ diff }) => diff === comment.body),
  );
  let found = newestFirst[last];
  for (const edit of newestFirst.slice(last + 1)) {
    if (typeof edit.diff !== "string" || tickedKeys(edit.diff).join() !== ticks) break;
    found = edit;
  }
  return { login: found?.editor?.kind === "User" ? found.editor.login : undefined };
}
