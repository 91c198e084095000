import type { Flags } from "./flags.ts";

/** Flags that every command takes, before or after its name. */
export const GLOBAL_FLAGS = {
  json: {
    type: "string",
    optional: /^$/,
    value: "fields",
    about: "Print JSON; =id,title selects, =? lists the fields",
  },
  jq: { type: "string", value: "expression", about: "Filter the JSON with a jq expression; implies --json" },
  "no-input": { type: "boolean", about: "Never ask anything on the terminal" },
  quiet: { type: "boolean", short: "q", about: "Print only data and errors" },
  verbose: { type: "boolean", about: "Print more on stderr" },
  "no-color": { type: "boolean", about: "Disable colour" },
  "ax-screen-reader": { type: "boolean", about: "Plain text with words instead of icons (or ASKD_ACCESSIBLE=1)" },
  store: { type: "string", value: "store", about: "Use sqlite:<path> or postgres://…" },
  "read-only": { type: "boolean", about: "Open the store without writing a byte; changes are refused" },
  url: { type: "string", value: "url", about: "Use the server at this address" },
  profile: { type: "string", value: "name", about: "Use the server or store of a profile" },
  dir: { type: "string", short: "C", value: "dir", about: "Run as if started in this folder" },
  help: { type: "boolean", short: "h", about: "Show help" },
  version: { type: "boolean", about: "Show the version" },
} as const satisfies Flags;
