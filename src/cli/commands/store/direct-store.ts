import { Refusal } from "../../../core/refusal.ts";
import type { Store } from "../../../store/store.ts";
import type { Context } from "../../context.ts";

/** Opens the store itself for `work` and closes it; refuses if the store belongs to a server. */
export async function withDirectStore<Result>(
  context: Context,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const { store: place } = context.place;
  if (place.kind === "server") {
    throw new Refusal("bad_input", "The store belongs to the server; this command needs direct access", {
      hint: "Run this on the server's machine, without ASKD_URL",
    });
  }
  const store = await context.openStore(place);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
