import { afterAll, afterEach, beforeAll } from "vitest";
import { WebStage } from "./stage.ts";

/** A stage for all tests of a file, without questions and open pages when each begins. */
export function useStage(settings?: string): WebStage {
  const stage = new WebStage(settings);
  beforeAll(() => stage.serve());
  afterEach(async () => {
    await stage.clear();
    await stage.cancelAll();
  });
  afterAll(() => stage.close());
  return stage;
}
