import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import type { Actor } from "../../core/people/actor.ts";
import type { Entry } from "../../core/changes.ts";
import { keyName } from "../../core/trail/export-signature.ts";
import { changeEntry } from "../../core/trail/store-event.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Store } from "../../store/store.ts";

const KIND = "key";
const ID = "export";
const RAW_KEY_BYTES = 32;

/** The key that a store signs its exports with. */
export interface StoreKey {
  /** Its public half, as people pass it on. */
  name: string;
  sign(text: string): string;
}

/** Finds the key of a store; undefined if it never signed anything. */
export async function findStoreKey(store: Pick<Store, "findEntry">): Promise<StoreKey | undefined> {
  const entry = await store.findEntry(KIND, ID);
  return entry && toKey(entry);
}

/** The key of a store, made on first use; it is in the store, so that every machine of a shared one has it. */
export async function ensureStoreKey(store: Store, by: Actor): Promise<StoreKey> {
  const found = await findStoreKey(store);
  if (found) return found;
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const name = keyName(publicKey.export({ format: "der", type: "spki" }).subarray(-RAW_KEY_BYTES));
  const secret = privateKey.export({ format: "der", type: "pkcs8" }).toString("base64url");
  const entry: Entry = { kind: KIND, id: ID, version: 0, body: { name, secret } };
  const change = { type: "key.made", entry, from: undefined, to: "made", detail: { name } } as const;
  // Another process may have made one meanwhile.
  await store.commit(changeEntry(change, { now: await store.now(), by }));
  const made = await findStoreKey(store);
  if (!made) throw new Refusal("store_unusable", "The key of the store could not be made", { hint: "Try again" });
  return made;
}

function toKey({ body: { name, secret } }: Entry): StoreKey {
  if (typeof name !== "string" || typeof secret !== "string") {
    throw new Refusal("store_unusable", "The key that signs exports cannot be read", {
      hint: "Set it aside, with a copy of it: askd doctor --fix",
    });
  }
  const key = createPrivateKey({ key: Buffer.from(secret, "base64url"), format: "der", type: "pkcs8" });
  return { name, sign: (text) => sign(null, Buffer.from(text), key).toString("base64url") };
}
