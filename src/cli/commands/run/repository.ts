import { dirname, join } from "node:path";

const MOST_FOLDERS = 40;

/** The name and branch of the Git repository around a folder, read from its files. */
export async function findRepository(
  dir: string,
  readFile: (path: string) => Promise<string>,
): Promise<{ repo?: string; branch?: string }> {
  const read = (path: string) => readFile(path).catch(() => undefined); // not there
  for (let folder = dir, count = 0; count < MOST_FOLDERS; folder = dirname(folder), count += 1) {
    const head = await read(join(folder, ".git", "HEAD"));
    if (head !== undefined) {
      const branch = /^ref: refs\/heads\/(\S+)/.exec(head)?.[1];
      const url = /\[remote "origin"\][^[]*?\burl\s*=\s*(\S+)/.exec(
        (await read(join(folder, ".git", "config"))) ?? "",
      )?.[1];
      const repo = url === undefined ? undefined : nameOf(url);
      return { ...(repo && { repo }), ...(branch && { branch }) };
    }
    if (dirname(folder) === folder) break;
  }
  return {};
}

/** `owner/name` of `https://token@host/owner/name.git` and `git@host:owner/name`, without credentials. */
function nameOf(url: string) {
  return /([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url)?.[1];
}
