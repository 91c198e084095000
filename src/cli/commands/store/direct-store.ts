import { Refusal } from "../../../core/refusal.ts";
import type { Store } from "../../../store/store.ts";
import type { Context } from "../../context.ts";

/** Does something with the store itself, which only those can who have it; a server's is with the server. */
export async function withStore<Result>(context: Context, work: (store: Store) => Promise<Result>): Promise<Result> {
  const { store: place } = context.place;
  if (place.kind === "server") {
    throw new Refusal("bad_input", "The store is with the server; this works only where the store is", {
      hint: "Do it on that machine, without ASKD_URL",
    });
  }
  const store = await context.openStore(place);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
