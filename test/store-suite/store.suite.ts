import { describe } from "vitest";
import { adoptSuite } from "./adopt.suite.ts";
import { archiveSuite } from "./archive.suite.ts";
import { commitSuite } from "./commit.suite.ts";
import { feedSuite } from "./feed.suite.ts";
import { jobSuite } from "./job.suite.ts";
import { leaseSuite } from "./lease.suite.ts";
import type { Open } from "./opened.ts";
import { readSuite } from "./read.suite.ts";
import { uniqueSuite } from "./unique.suite.ts";
import { wordSuite } from "./word.suite.ts";

/** The suite every store must pass. */
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
    archiveSuite(open, { moves: name === "memory" ? 0 : 12 });
  });
}
