import { VARIABLES } from "../../../config/env.ts";
import type { Context } from "../../context.ts";

/** The environment that tells an agent's hooks and servers where the store is and how to ask. */
export function launchEnv(context: Context): Record<string, string> {
  const { store } = context.place;
  return {
    ...(store.kind === "sqlite" && { ASKD_STORE: `sqlite:${store.file}` }),
    ...(store.kind === "postgres" && { ASKD_STORE: store.url }),
    ...ofProject(context),
  };
}

/** The project's question settings. The worker serves all projects and does not read them itself. */
function ofProject({ config, env }: Context) {
  const { questions = {} } = config.values;
  return Object.fromEntries(
    (["timeout", "on_timeout", "max_per_run"] as const).flatMap((name) => {
      const value = questions[name];
      const variable = VARIABLES[`questions.${name}`];
      const isOfProject = config.origins.get(`questions.${name}`)?.layer === "project" && !env[variable];
      return isOfProject && value !== undefined ? [[variable, String(value)]] : [];
    }),
  );
}
