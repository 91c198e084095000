/** The methods of an object as functions of their own, so that several objects can be put together as one. */
export function methodsOf<Methods extends object>(part: Methods): Methods {
  const names = Object.getOwnPropertyNames(Reflect.getPrototypeOf(part)).filter((name) => name !== "constructor");
  const methods = names.map((name): [string, unknown] => {
    const method: unknown = Reflect.get(part, name);
    const bound: unknown = typeof method === "function" ? method.bind(part) : method;
    return [name, bound];
  });
  return Object.fromEntries(methods) as Methods; // every method of the part by its own name
}
