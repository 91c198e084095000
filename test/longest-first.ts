import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest, longest first; everything else takes less. */
const LONGEST = [
  "built-run.test.ts",
  "built-demo.test.ts",
  "hostile.test.ts",
  "email.e2e.ts",
  "crash-runs.test.ts",
  "built-stopped.test.ts",
  "crash.test.ts",
  "walk.test.ts",
  "tamper.test.ts",
  "postgres.test.ts",
  "built-restart.test.ts",
  "access.test.ts",
  "built-next.test.ts",
  "desktop.e2e.ts",
  "everywhere.e2e.ts",
  "action.test.ts",
  "keeping.test.ts",
  "inbound.test.ts",
  "slack.test.ts",
  "attack.browser.ts",
  "look-pages.browser.ts",
  "inbox.browser.ts",
  "look-inbox.browser.ts",
  "look-card.browser.ts",
  "look-link.browser.ts",
  "pages.browser.ts",
  "look-pick.browser.ts",
  "run.e2e.ts",
  "proxy.e2e.ts",
  "planted-walk.e2e.ts",
  "permission.e2e.ts",
  "second-question.e2e.ts",
  "api-failure.e2e.ts",
  "older-claude.e2e.ts",
  "by-hand.e2e.ts",
  "init.e2e.ts",
  "opencode-serve.e2e.ts",
  "ask.e2e.ts",
  "codex-app.e2e.ts",
  "doctor.e2e.ts",
];

/** Begins with the files that take longest, so that at the end nobody waits for one of them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.indexOf(basename(moduleId));
      return place < 0 ? LONGEST.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
