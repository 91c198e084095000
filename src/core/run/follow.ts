import type { Changes, DecisionContext } from "../changes.ts";
import { requireAccess } from "../people/access.ts";
import { actorName } from "../people/actor.ts";
import { Refusal } from "../refusal.ts";
import { unchangedRunEvent } from "../trail/event.ts";
import type { Run } from "./run.ts";

/** People who hear how a run ends. */
export const MOST_FOLLOWERS = 50;

/** Tells the caller how the run ends from now on, or no longer. */
export function followRun(run: Run, isFollowing: boolean, at: DecisionContext): Changes {
  requireAccess("see_all", at.by);
  const name = actorName(at.by);
  const { followers = [] } = run;
  if (followers.includes(name) === isFollowing) return {};
  if (isFollowing && followers.length >= MOST_FOLLOWERS) {
    throw new Refusal("bad_input", `Run #${run.number} has ${MOST_FOLLOWERS} followers already`, {
      hint: "Ask one of them to stop: askd runs unfollow",
    });
  }
  const after = isFollowing ? [...followers, name] : followers.filter((each) => each !== name);
  return {
    runs: [{ ...run, followers: after }],
    events: [unchangedRunEvent("followed", { ...run, version: run.version + 1 }, at, { follow: isFollowing })],
  };
}
