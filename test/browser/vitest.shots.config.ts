import { mergeConfig } from "vitest/config";
import browser from "./vitest.config.ts";

/** Pictures of every page in every state, theme, width and language, each of them looked at. */
export default mergeConfig(browser, { test: { env: { ASKD_SHOTS: "all" } } });
