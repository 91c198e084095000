import type { Store } from "../../src/store/store.ts";

/** The same store with some of its methods replaced. */
export function overriding(store: Store, over: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(over, name) ?? Reflect.get(target, name);
      const method: unknown = typeof found === "function" ? found.bind(name in over ? over : target) : found;
      return method;
    },
  });
}
