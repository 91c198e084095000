import { readSecret } from "./secret.ts";
import type { Values } from "./schema.ts";

/** Where the settings say that seals are written outside the store. */
export interface AnchorSettings {
  file: string | undefined;
  /** Commit the file in its git repository. */
  isCommitted: boolean;
  url: string | undefined;
  /** Reads the secret that posts are signed with. */
  readSecret(): string;
}

/** What the settings say about anchors; undefined where none is wanted. */
export function findAnchorSettings(
  { audit = {} }: Values,
  env: Readonly<Record<string, string | undefined>>,
): AnchorSettings | undefined {
  const { anchor_file: file, anchor_url: url } = audit;
  if (file === undefined && url === undefined) return undefined;
  const variable = audit.anchor_secret_env;
  const place = {
    variable,
    file: audit.anchor_secret_file,
    key: variable === undefined ? "audit.anchor_secret_file" : "audit.anchor_secret_env",
  };
  return {
    file,
    isCommitted: audit.anchor_git ?? false,
    url,
    // The schema asks for a secret wherever there is an address.
    readSecret: () => readSecret(place, env) ?? "",
  };
}
