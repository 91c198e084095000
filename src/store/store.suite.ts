import { describe } from "vitest";
import { adoptSuite } from "./suite/adopt.suite.ts";
import { commitSuite } from "./suite/commit.suite.ts";
import { feedSuite } from "./suite/feed.suite.ts";
import { jobSuite } from "./suite/job.suite.ts";
import { leaseSuite } from "./suite/lease.suite.ts";
import type { Open } from "./suite/opened.ts";
import { readSuite } from "./suite/read.suite.ts";
import { uniqueSuite } from "./suite/unique.suite.ts";
import { wordSuite } from "./suite/word.suite.ts";

/** Everything that every store promises, whatever it is made of. */
export function storeSuite(name: string, open: Open): void {
  describe(`the ${name} store`, () => {
    commitSuite(open);
    adoptSuite(open);
    uniqueSuite(open);
    jobSuite(open);
    leaseSuite(open);
    feedSuite(open);
    readSuite(open);
    wordSuite(open);
  });
}
