import { readSecret } from "./secret.ts";
import type { Values } from "./schema.ts";

/** The anchor settings: where seals are written outside the store. */
export interface AnchorSettings {
  file: string | undefined;
  /** Commits the file in its git repository. */
  isCommitted: boolean;
  url: string | undefined;
  /** Reads the secret that signs posts. */
  readSecret(): string;
}

/** Finds the anchor settings; undefined if none are configured. */
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
    // The schema requires a secret for every address.
    readSecret: () => readSecret(place, env) ?? "",
  };
}

/** The variable that holds the secret of anchors, if one does. */
export function anchorVariables({ audit = {} }: Values): string[] {
  return audit.anchor_secret_env === undefined ? [] : [audit.anchor_secret_env];
}
