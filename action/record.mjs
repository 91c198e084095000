// What must happen once for a question, kept under a ref `refs/askd/<question>/<name>`. GitHub makes a ref once: of
// several jobs at the same time one makes it, and all others read what it says. The ref leads to a commit with the signed
// record, so a comment whose older state somebody puts back changes nothing.
import { readRecord, writeRecord } from "./state.mjs";

/** Keeps a record unless there is one; returns the one that is kept. */
export async function keepRecord(desk, id, name, record) {
  const { github, repo, key } = desk;
  const message = writeRecord({ ...record, id, name, repo }, key);
  const commit = { message, tree: await findTree(desk), parents: [] };
  const { sha } = (await github.send("POST", `/repos/${repo}/git/commits`, { body: commit, expected: [201] })).body;
  const body = { ref: `refs/${pathOf(id, name)}`, sha };
  const { status } = await github.send("POST", `/repos/${repo}/git/refs`, { body, expected: [201, 422] });
  const kept = status === 201 ? record : await findRecord(desk, id, name);
  if (!kept) throw new Error(`GitHub makes no refs/${pathOf(id, name)}; do rules of the repository forbid it?`);
  return kept;
}

/** The record of that name; undefined if there is none. */
export async function findRecord({ github, repo, key }, id, name) {
  const path = pathOf(id, name);
  const { status, body } = await github.send("GET", `/repos/${repo}/git/ref/${path}`, { expected: [200, 404] });
  if (status === 404) return undefined;
  const commit = `/repos/${repo}/git/commits/${body.object.sha}`;
  const found = await github.send("GET", commit, { expected: [200, 404] });
  const record = readRecord(found.body?.message, key);
  if (record?.id === id && record.name === name && record.repo === repo) return record;
  throw new Error(`refs/${path} was not made by this action with this ASKD_KEY; delete it to go on with ${id}`);
}

/** The names of all records, by question. */
export async function listRecords({ github, repo }) {
  const known = new Map();
  for await (const { ref } of github.each(`/repos/${repo}/git/matching-refs/askd/`)) {
    const [, id, name] = /^refs\/askd\/(q-[0-9a-f]+)\/([\w-]+)$/.exec(ref) ?? [];
    if (id !== undefined) known.set(id, (known.get(id) ?? new Set()).add(name));
  }
  return known;
}

/** Deletes a record, or whatever else is kept of a question under that name. */
export async function deleteRecord({ github, repo }, id, name) {
  await github.send("DELETE", `/repos/${repo}/git/refs/${pathOf(id, name)}`, { expected: [204, 404, 422] });
}

/** A commit needs a tree: that of the commit that the workflow runs for is there already. */
async function findTree(desk) {
  const { github, repo, env } = desk;
  if (!env.GITHUB_SHA) throw new Error("GITHUB_SHA is not set; this action belongs into a workflow");
  const { body } = await github.send("GET", `/repos/${repo}/git/commits/${env.GITHUB_SHA}`);
  return body.tree.sha;
}

function pathOf(id, name) {
  return `askd/${id}/${name}`;
}
