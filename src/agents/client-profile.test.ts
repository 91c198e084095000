import { describe, expect, test } from "vitest";
import { AGENTS } from "./agents.ts";
import { knownClients } from "./registry.ts";
import { MINUTE_MS, SECOND_MS } from "../core/instant.ts";
import { isAttended, liveWindow, profileOf, withEnv, withoutProgress } from "../core/door/client-profile.ts";

const { profiles } = knownClients(AGENTS);
const client = (name: string) => profileOf({ name, version: "1.0.0" }, profiles);

describe("the live window", () => {
  test.each([
    ["claude-code", "stdio", 3 * MINUTE_MS, 3 * MINUTE_MS],
    ["claude-code", "http", 20 * MINUTE_MS, 20 * MINUTE_MS],
    ["codex-mcp-client", "stdio", 3 * MINUTE_MS, 3 * MINUTE_MS],
    ["codex-mcp-client", "http", 10 * MINUTE_MS, 5 * MINUTE_MS - 15 * SECOND_MS],
    ["gemini-cli-mcp-client", "stdio", 20 * MINUTE_MS, 10 * MINUTE_MS - 15 * SECOND_MS],
    ["opencode", "stdio", 3 * MINUTE_MS, 3 * MINUTE_MS],
    ["somebody else", "stdio", 3 * MINUTE_MS, 45 * SECOND_MS],
    ["somebody else", "http", 10 * SECOND_MS, 10 * SECOND_MS],
  ] as const)(
    "of %s over %s is what is configured and what the client bears",
    (name, transport, configured, window) => {
      expect(liveWindow(client(name), transport, configured)).toBe(window);
    },
  );

  test("ends before the client's limit where a call asks for no progress", () => {
    expect(liveWindow(withoutProgress(client("opencode")), "stdio", 3 * MINUTE_MS)).toBe(45 * SECOND_MS);
    expect(liveWindow(withoutProgress(client("claude-code")), "http", 10 * MINUTE_MS)).toBe(285 * SECOND_MS);
  });

  test("keeps to the limit that a user of Claude Code has set", () => {
    const limited = withEnv(client("claude-code"), { MCP_TOOL_TIMEOUT: "60000" });
    expect(liveWindow(limited, "stdio", 3 * MINUTE_MS)).toBe(45 * SECOND_MS);
    const ignored = withEnv(client("claude-code"), { MCP_TOOL_TIMEOUT: "500" });
    expect(liveWindow(ignored, "stdio", 3 * MINUTE_MS)).toBe(3 * MINUTE_MS);
  });

  test("ends before Claude Code moves the call into the background, where it does", () => {
    const attended = withEnv(client("claude-code"), { CLAUDE_CODE_SESSION_ATTENDED: "1" });
    expect(liveWindow(attended, "stdio", 3 * MINUTE_MS)).toBe(105 * SECOND_MS);
    const asked = withEnv(client("claude-code"), {
      CLAUDE_AUTO_BACKGROUND_TASKS: "1",
      CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: "60000",
    });
    expect(liveWindow(asked, "stdio", 3 * MINUTE_MS)).toBe(45 * SECOND_MS);
    const off = { CLAUDE_CODE_SESSION_ATTENDED: "1", CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: "0" };
    expect(liveWindow(withEnv(client("claude-code"), off), "stdio", 3 * MINUTE_MS)).toBe(3 * MINUTE_MS);
  });

  test("is never nothing, however short a client's limit is", () => {
    const limited = withEnv(client("claude-code"), { MCP_TOOL_TIMEOUT: "2000" });
    expect(liveWindow(limited, "stdio", 3 * MINUTE_MS)).toBe(SECOND_MS);
  });
});

describe("a client", () => {
  test("that nobody knows names its runs itself", () => {
    expect(profileOf({ name: "My Client/2", version: "1" }, profiles).agent).toBe("my-client-2");
    expect(profileOf(undefined, profiles).agent).toBe("mcp");
  });

  test("is attended when it says so, or when it is an editor, and never by guess", () => {
    expect(isAttended(client("claude-code"), { CLAUDE_CODE_SESSION_ATTENDED: "1" })).toBe(true);
    expect(isAttended(client("claude-code"), { CLAUDE_CODE_SESSION_ATTENDED: "0" })).toBe(false);
    expect(isAttended(client("claude-code"), {})).toBe(false);
    expect(isAttended(client("Visual Studio Code"), {})).toBe(true);
    expect(isAttended(client("codex-mcp-client"), {})).toBe(false);
  });
});
