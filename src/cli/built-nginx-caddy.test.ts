import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BIN, BuiltScene } from "../../test/built.ts";
import { ownCertificate } from "../../test/certificate.ts";
import { ensureProgram } from "../../test/debian.ts";
import { until } from "../../test/run-dir.ts";

const NAME = "askd.example.com";
const PAGE = readFileSync(join(import.meta.dirname, "../../docs/server.md"), "utf8");

/** The configuration that the page shows, with these words replaced; each must be in it. */
function documented(language: string, words: Readonly<Record<string, string>>): string {
  const text = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(PAGE)?.[1] ?? "";
  return Object.entries(words).reduce((config, [from, to]) => {
    expect(config).toContain(from);
    return config.replace(from, to);
  }, text);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function start(program: string, args: readonly string[], env: Record<string, string>): ChildProcess {
  const child = spawn(program, args, { env: { PATH: process.env["PATH"], ...env }, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGTERM"));
  return child;
}

/** Sends a request through the proxy as a browser would; `until` ends a reply that does not end by itself. */
function call(
  port: number,
  path: string,
  {
    method = "GET",
    headers = {},
    body = "",
    ends,
  }: { method?: string; headers?: object; body?: string; ends?: RegExp } = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const to = { host: "127.0.0.1", port, path, method, servername: NAME, rejectUnauthorized: false };
    const sent = request({ ...to, headers: { host: `${NAME}:${port}`, ...headers } }, (reply) => {
      let text = "";
      const done = () => resolve({ status: reply.statusCode ?? 0, text });
      reply.setEncoding("utf8").on("end", done).on("error", done);
      reply.on("data", (more: string) => {
        text += more;
        if (ends?.test(text)) sent.destroy();
      });
      reply.on("close", done);
    });
    sent.on("error", reject).end(body);
  });
}

const PROXIES = {
  nginx: (dir: string, port: number, server: number) => {
    const { key, cert } = ownCertificate();
    writeFileSync(join(dir, "askd.key"), key);
    writeFileSync(join(dir, "askd.pem"), cert);
    const block = documented("nginx", {
      "listen 443 ssl;": `listen 127.0.0.1:${port} ssl;`,
      "/etc/ssl/askd.pem": join(dir, "askd.pem"),
      "/etc/ssl/askd.key": join(dir, "askd.key"),
      "127.0.0.1:4319": `127.0.0.1:${server}`,
    });
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${dir}/${name};`,
    );
    const around = `pid ${dir}/nginx.pid; error_log ${dir}/error.log; events {}`;
    writeFileSync(join(dir, "nginx.conf"), `${around} http { access_log off; ${paths.join(" ")} ${block} }`);
    return start("nginx", ["-p", dir, "-c", join(dir, "nginx.conf"), "-g", "daemon off;"], {});
  },
  caddy: (dir: string, port: number, server: number) => {
    const block = documented("caddy", {
      "askd.example.com {": `askd.example.com:${port} {`,
      "127.0.0.1:4319": `127.0.0.1:${server}`,
    });
    // Certificates of its own: the name is nobody's.
    const around = "{\n admin off\n local_certs\n skip_install_trust\n auto_https disable_redirects\n}\n";
    writeFileSync(join(dir, "Caddyfile"), `${around}${block}`);
    return start("caddy", ["run", "--config", join(dir, "Caddyfile"), "--adapter", "caddyfile"], { HOME: dir });
  },
} as const;

test.each(["nginx", "caddy"] as const)(
  "%s as documented passes pages, forms and live events on, also on another port than 443",
  async (name) => {
    ensureProgram(name);
    const scene = new BuiltScene();
    const [port, server] = [await freePort(), await freePort()];
    const dir = join(scene.home, "proxy");
    mkdirSync(dir);
    const config = documented("toml", { '"askd.example.com"': `"askd.example.com:${port}"` });
    mkdirSync(join(scene.home, "config"), { recursive: true });
    writeFileSync(join(scene.home, "config/config.toml"), config, { mode: 0o600 });
    const env = { HOME: scene.home, ASKD_HOME: scene.home };
    start(process.execPath, [BIN, "serve", "--port", String(server)], env);
    PROXIES[name](dir, port, server);
    const isUp = () =>
      call(port, "/health").then(
        ({ status }) => status === 200 || undefined,
        () => undefined,
      );
    await until(`${name} passes requests on`, isUp);
    const token = (await scene.type("token", "create", "--scope", "human", "--subject", "ada")).stdout
      .toString()
      .trim();
    const headers = { authorization: `Bearer ${token}` };
    const events = call(port, "/api/v1/events", {
      headers: { ...headers, accept: "text/event-stream" },
      ends: /question\.asked/,
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const json = { ...headers, "content-type": "application/json", origin: `https://${NAME}:${port}` };
    const asked = await call(port, "/api/v1/questions", {
      method: "POST",
      headers: json,
      body: JSON.stringify({ question: "Through the proxy?" }),
    });
    expect(asked.status).toBe(201);
    // A proxy that buffers would hold the stream back until the bound of this test.
    expect((await events).text).toContain("question.asked");
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const signIn = (origin: string) =>
      call(port, "/login", { method: "POST", headers: { ...form, origin }, body: "code=none" });
    expect((await signIn(`https://${NAME}:${port}`)).text).not.toContain("does not answer pages of that origin");
    expect((await signIn("https://evil.example")).status).toBe(403);
    expect((await call(port, "/", { headers: { ...headers, accept: "text/html" } })).status).toBeLessThan(400);
  },
  60_000,
);
