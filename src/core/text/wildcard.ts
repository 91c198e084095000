/** Matches a name such as a repository's, in any case; `*` stands for any text. */
export function wildcard(pattern: string): (name: string) => boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const regex = new RegExp(`^${parts.join(".*")}$`, "i");
  return (name) => regex.test(name);
}
