import { dirname, join, resolve } from "node:path";

const MOST_FOLDERS = 40;

/** The name and branch of the Git repository around a folder, read from its files. */
export async function findRepository(
  dir: string,
  readFile: (path: string) => Promise<string>,
): Promise<{ repo?: string; branch?: string }> {
  const read = (path: string) => readFile(path).catch(() => undefined); // not there
  for (let folder = dir, count = 0; count < MOST_FOLDERS; folder = dirname(folder), count += 1) {
    const git = await findGitDirs(join(folder, ".git"), read);
    if (git) {
      const branch = /^ref: refs\/heads\/(\S+)/.exec(git.head)?.[1];
      const url = /\[remote "origin"\][^[]*?\burl\s*=\s*(\S+)/.exec(
        (await read(join(git.common, "config"))) ?? "",
      )?.[1];
      const repo = url === undefined ? undefined : nameOf(url);
      return { ...(repo && { repo }), ...(branch && { branch }) };
    }
    if (dirname(folder) === folder) break;
  }
  return {};
}

/** The HEAD of a checkout, and the directory with its config: another one in a linked working tree. */
async function findGitDirs(dotGit: string, read: (path: string) => Promise<string | undefined>) {
  const head = await read(join(dotGit, "HEAD"));
  if (head !== undefined) return { head, common: dotGit };
  const linked = /^gitdir: (.+)/.exec((await read(dotGit)) ?? "")?.[1];
  if (linked === undefined) return undefined;
  const own = resolve(dirname(dotGit), linked);
  const shared = (await read(join(own, "commondir")))?.trim() ?? ".";
  return { head: (await read(join(own, "HEAD"))) ?? "", common: resolve(own, shared) };
}

/** `owner/name` of `https://token@host/owner/name.git` and `git@host:owner/name`, without credentials. */
function nameOf(url: string) {
  return /([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url)?.[1];
}
