import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const Package = z.looseObject({ name: z.string(), version: z.string(), mcpName: z.string() });
const own = Package.parse(readJson("package.json"));
const PINNED = `${own.name}@${own.version}`;

const Server = z.looseObject({ command: z.string(), args: z.array(z.string()) });
const Manifest = z.looseObject({
  name: z.string(),
  version: z.string().optional(),
  mcpServers: z.record(z.string(), Server).optional(),
});

function readText(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

function readJson(file: string): unknown {
  const value: unknown = JSON.parse(readText(file));
  return value;
}

/** What a JSON schema of the fixtures has against a file; nothing when it fits. */
function problemsOf(file: string, schema: string): string | undefined {
  const text = readText(join("test", "fixtures", "schemas", schema));
  const { error } = z.fromJSONSchema(z.record(z.string(), z.json()).parse(JSON.parse(text))).safeParse(readJson(file));
  return error && z.prettifyError(error);
}

describe("the plugin", () => {
  test.each([
    ["plugin/plugin.json", "agent-plugins-1.0.0-plugin.json"],
    ["plugin/mcp.json", "agent-plugins-1.0.0-mcp.json"],
    ["server.json", "mcp-registry-2025-12-11-server.json"],
  ])("has a %s that its schema takes", (file, schema) => {
    expect(problemsOf(file, schema)).toBeUndefined();
  });

  test("is refused by those schemas where it has a field too many", () => {
    expect(problemsOf("plugin/gemini-extension.json", "agent-plugins-1.0.0-plugin.json")).toContain("mcpServers");
  });

  test.each(["plugin/plugin.json", "plugin/.claude-plugin/plugin.json", "plugin/gemini-extension.json"])(
    "has the name and the version of the package in %s",
    (file) => {
      expect(Manifest.parse(readJson(file))).toMatchObject({ name: own.name, version: own.version });
    },
  );

  test.each(["plugin/mcp.json", "plugin/.claude-plugin/plugin.json", "plugin/gemini-extension.json"])(
    "starts exactly this version as its server in %s",
    (file) => {
      const { mcpServers } = Manifest.partial().loose().parse(readJson(file));
      expect(mcpServers?.["askd"]).toMatchObject({ command: "npx", args: ["-y", PINNED, "mcp"] });
    },
  );

  test("starts exactly this version in its hooks, and no other anywhere", () => {
    const files = ["mcp.json", ".claude-plugin/plugin.json", "gemini-extension.json", "README.md"];
    const named = files.flatMap((file) => [...readText(join("plugin", file)).matchAll(/\baskd@\d[\w.-]*/g)]);
    expect(named.length).toBeGreaterThanOrEqual(4);
    expect([...new Set(named.map(([found]) => found))]).toEqual([PINNED]);
  });

  test.each([
    ["skills/ask-human/SKILL.md", "plugin/skills/ask-human/SKILL.md"],
    ["LICENSE", "plugin/LICENSE"],
  ])("carries %s as it is", (file, copy) => {
    expect(readText(copy)).toBe(readText(file));
  });

  test("explains itself in at least 40 words", () => {
    expect(readText("plugin/README.md").split(/\s+/).length).toBeGreaterThanOrEqual(40);
  });

  test("has a square picture of 512 pixels", () => {
    const bytes = readFileSync(join(ROOT, "plugin", "icon.png"));
    expect(bytes.subarray(1, 4).toString("latin1")).toBe("PNG");
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([512, 512]);
  });

  test("is what the marketplace of this repository offers", () => {
    const Market = z.looseObject({ plugins: z.array(z.object({ name: z.string(), source: z.string() }).loose()) });
    const { plugins } = Market.parse(readJson(".claude-plugin/marketplace.json"));
    expect(plugins.map(({ name, source }) => ({ name, source }))).toEqual([{ name: own.name, source: "./plugin" }]);
  });
});

test("the registry knows the server by the name that the package says, at its version", () => {
  expect(readJson("server.json")).toMatchObject({
    name: own.mcpName,
    version: own.version,
    packages: [{ identifier: own.name, version: own.version, transport: { type: "stdio" } }],
  });
});
