import { expect, onTestFinished, test } from "vitest";
import { githubTracker } from "../../src/channels/github/issue-tracker.ts";
import { GithubServer } from "./github-server.ts";
import { REPO } from "./github-view.ts";
import { OUTBOUND } from "./loopback-server.ts";

const PLACE = { repo: REPO, number: 31 };

async function aTracker() {
  const service = await GithubServer.start();
  onTestFinished(async () => {
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  return { service, tracker: githubTracker(service.settings(), OUTBOUND) };
}

test("a label is found in any case, as GitHub and triggers compare it", async () => {
  const { service, tracker } = await aTracker();
  service.issues.addLabel(31, "Auto-Fix", "mika");
  expect((await tracker.listLabelled(REPO, "auto-fix")).map(({ number }) => number)).toEqual([31]);
  expect(await tracker.findLabelAdded(PLACE, "auto-fix")).toMatchObject({ by: "mika" });
});

test("the newest time that a label was put there is found after thousands of older events", async () => {
  const { service, tracker } = await aTracker();
  service.issues.addLabel(31, "auto-fix", "lena");
  for (let count = 0; count < 2_050; count += 1) service.issues.addLabel(31, `other ${count}`, "lena");
  service.issues.labels.set(31, []);
  service.issues.addLabel(31, "auto-fix", "mika");
  expect(await tracker.findLabelAdded(PLACE, "auto-fix")).toMatchObject({ by: "mika" });
  expect(await tracker.findLabelAdded(PLACE, "none")).toBeUndefined();
});

test("a step comments once in an issue with as many comments as GitHub takes", async () => {
  const { service, tracker } = await aTracker();
  for (let count = 0; count < 2_400; count += 1) service.add(`me too ${count}`, "stranger", 31);
  const first = await tracker.comment(PLACE, "step-1", "Done");
  expect(await tracker.comment(PLACE, "step-1", "Done")).toEqual(first);
  expect(service.comments.filter(({ body }) => body.startsWith("Done"))).toHaveLength(1);
});
