import { AUTOFIX } from "./autofix.ts";
import { DEPENDENCY_UPDATES } from "./dependency-updates.ts";
import { INCIDENT_TRIAGE } from "./incident-triage.ts";
import { NIGHTLY_REFACTORING } from "./nightly-refactoring.ts";
import { RELEASE_APPROVAL } from "./release-approval.ts";

/** A workflow to start from. */
export interface Starter {
  about: string;
  text: string;
}

/** The library of starting points, by their names. */
export const STARTERS: Readonly<Record<string, Starter>> = {
  autofix: { about: "from a label on an issue to a pull request; asks if the analysis is unsure", text: AUTOFIX },
  "dependency-updates": {
    about: "updates dependencies every week; asks before a new major version",
    text: DEPENDENCY_UPDATES,
  },
  "release-approval": { about: "checks a release, asks people to approve it, and tags it", text: RELEASE_APPROVAL },
  "nightly-refactoring": {
    about: "improves one part of the code each night, within a budget",
    text: NIGHTLY_REFACTORING,
  },
  "incident-triage": { about: "looks for the cause of an alert, then asks what to do", text: INCIDENT_TRIAGE },
};
