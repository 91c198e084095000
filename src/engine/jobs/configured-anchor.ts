import { anchorOf } from "../../core/trail/anchor.ts";
import { signWebhook } from "../../core/question/callback.ts";
import type { Seal } from "../../core/changes.ts";
import type { Instant } from "../../core/instant.ts";
import { digestOf } from "../../core/trail/row-digest.ts";
import { errorCodeOf } from "../../core/error-code.ts";
import { appendAnchors } from "./anchor-file.ts";
import type { AnchorTarget } from "./anchor-target.ts";
import { post } from "../outbound/post.ts";
import type { AddressOptions } from "../outbound/public-address.ts";

/** The places outside the store that the settings name for seals. */
export interface AnchorPlaces {
  file?: FilePlace | undefined;
  url?: UrlPlace | undefined;
}

interface FilePlace {
  path: string;
  /** Commits the file in the git repository that it lies in. */
  commit?: ((path: string, message: string) => Promise<void>) | undefined;
}

interface UrlPlace {
  address: string;
  /** Reads the secret that every post is signed with. */
  readSecret(): string;
}

/** The targets at those places. */
export function anchorTargets({ file, url }: AnchorPlaces, options: AddressOptions): AnchorTarget[] {
  const targets: AnchorTarget[] = [];
  if (file) targets.push({ id: "file", digest: digestOf(file.path), write: (seals) => writeAll(seals, file) });
  if (url) {
    const write: AnchorTarget["write"] = (seals, now) => postAll(seals, url, { now, options });
    targets.push({ id: "url", digest: digestOf(url.address), write });
  }
  return targets;
}

async function writeAll(seals: readonly Seal[], { path, commit }: FilePlace) {
  const last = seals.at(-1)?.n;
  try {
    await appendAnchors(path, seals.map(anchorOf));
  } catch (cause) {
    throw new Error(`seal ${last} was not written to ${path}: ${errorCodeOf(cause)}`, { cause });
  }
  try {
    await commit?.(path, `Seal ${last} of the askd trail`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`seal ${last} is in ${path}, but git did not commit it: ${why}`, { cause });
  }
}

/** Posts each seal as a signed webhook. The id of a message stays the same when it is sent again. */
async function postAll(
  seals: readonly Seal[],
  { address, readSecret }: UrlPlace,
  { now, options }: { now: Instant; options: AddressOptions },
) {
  const secret = readSecret();
  for (const seal of seals) {
    const body = JSON.stringify(anchorOf(seal));
    const signature = signWebhook(secret, { id: `msg_seal_${seal.n}_${seal.hash.slice(0, 16)}`, body, now });
    const posted = await post(
      address,
      { body, headers: { "content-type": "application/json", ...signature } },
      options,
    );
    // The path of such an address may be a secret of its own.
    if (!posted.ok) throw new Error(`${new URL(address).origin} did not accept seal ${seal.n}: ${posted.why}`);
  }
}
