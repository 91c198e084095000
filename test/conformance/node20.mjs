// The suite asks node:fs for a function that Node 20 does not have and that these scenarios never call.
import { register } from "node:module";

const shim = 'export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];';
const hooks = `
const shim = ${JSON.stringify(`data:text/javascript,${encodeURIComponent(shim)}`)};
export async function resolve(specifier, context, next) {
  const isSuite = context.parentURL?.includes("/@modelcontextprotocol/conformance/");
  return isSuite && specifier === "fs" ? { url: shim, shortCircuit: true } : next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
