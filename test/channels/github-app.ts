import { type KeyObject, createVerify, generateKeyPairSync, randomBytes } from "node:crypto";
import { z } from "zod";
import type { Send } from "./github-reply.ts";
import { now, userView } from "./github-view.ts";

const Manifest = z.strictObject({
  name: z.string().min(1).max(34),
  url: z.url(),
  redirect_url: z.url(),
  public: z.literal(false),
  default_permissions: z.strictObject({
    issues: z.literal("write"),
    pull_requests: z.literal("write"),
    metadata: z.literal("read"),
    members: z.literal("read").optional(),
  }),
  hook_attributes: z.strictObject({ url: z.url(), active: z.boolean() }).optional(),
  default_events: z.array(z.enum(["issue_comment", "issues"])).optional(),
});
const Claims = z.strictObject({ iat: z.int(), exp: z.int(), iss: z.string() });

/** Apps of GitHub: the page that makes one from a manifest, and the tokens of its installation. */
export class GithubApps {
  readonly id = 4711;
  readonly secret = "s".repeat(40);
  /** Each token belongs to an installation. */
  readonly tokens = new Map<string, number>();
  /** The installation of each owner of repositories. */
  readonly installations: Record<string, number> = { acme: 99 };
  isInstalled = false;
  manifest: z.infer<typeof Manifest> | undefined;
  readonly #codes = new Set<string>();
  #key: { publicKey: KeyObject; pem: string } | undefined;

  /** The page that a browser posts the manifest to, once the person has agreed: returns where it goes on. */
  agree(form: URLSearchParams, state: string): string {
    this.manifest = Manifest.parse(JSON.parse(form.get("manifest") ?? ""));
    const code = randomBytes(20).toString("hex");
    this.#codes.add(code);
    return `${this.manifest.redirect_url}?code=${code}&state=${encodeURIComponent(state)}`;
  }

  /** The code of the page, exchanged for the app and its key, once. */
  convert(base: string, code: string, send: Send): void {
    if (!this.#codes.delete(code)) return send(404, { message: "Not Found", documentation_url: "https://docs" });
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
    this.#key = { publicKey, pem };
    send(201, {
      id: this.id,
      slug: "askd-acme",
      node_id: "A_1",
      client_id: "Iv1.1",
      owner: userView(base, "acme"),
      name: this.manifest?.name,
      description: null,
      external_url: this.manifest?.url,
      html_url: "https://github.com/apps/askd-acme",
      created_at: now(),
      updated_at: now(),
      permissions: this.manifest?.default_permissions,
      events: this.manifest?.default_events ?? [],
      client_secret: "c".repeat(40),
      webhook_secret: this.secret,
      pem,
    });
  }

  /** Says whether a request is signed by the app, as GitHub checks it. */
  isSigned(authorization: string | undefined): boolean {
    const [head = "", claims = "", signature = ""] = (authorization ?? "").replace(/^Bearer /, "").split(".");
    if (!this.#key || signature === "") return false;
    const isTrue = createVerify("RSA-SHA256")
      .update(`${head}.${claims}`)
      .verify(this.#key.publicKey, signature, "base64url");
    const { iat, exp, iss } = Claims.parse(JSON.parse(Buffer.from(claims, "base64url").toString()));
    const seconds = Date.now() / 1000;
    return isTrue && iss === String(this.id) && iat <= seconds && exp > seconds && exp - iat <= 600;
  }

  /** Says whether a token reaches a repository or organisation; the token of a person reaches all. */
  reaches(token: string, place: string): boolean {
    const installation = this.tokens.get(token);
    return installation === undefined || this.installations[place.split("/")[0] ?? ""] === installation;
  }

  createToken(installation: number, send: Send): void {
    const token = `ghs_${randomBytes(18).toString("hex")}`;
    this.tokens.set(token, installation);
    const permissions = { issues: "write", metadata: "read" };
    send(201, { token, expires_at: new Date(Date.now() + 3_600_000).toISOString(), permissions });
  }

  installation(base: string, repo: string) {
    const id = this.installations[repo.split("/")[0] ?? ""] ?? 0;
    const url = `${base}/app/installations/${id}`;
    return {
      access_tokens_url: `${url}/access_tokens`,
      repositories_url: `${url}/repositories`,
      html_url: url,
      id,
      account: userView(base, "acme"),
      repository_selection: "selected",
      app_id: this.id,
      target_id: 1,
      target_type: "Organization",
      permissions: { issues: "write", metadata: "read" },
      events: [],
      created_at: now(),
      updated_at: now(),
      single_file_name: null,
      app_slug: "askd-acme",
      suspended_by: null,
      suspended_at: null,
    };
  }
}
