import { CHANNEL_SETTINGS, CHANNEL_STATES } from "./channel-states.ts";
import { BATCH_STATES, INSIGHTS_STATES } from "./insights-states.ts";
import { LINK_STATES } from "./link-states.ts";
import { lookAtAll } from "./look.ts";
import { WebStage } from "./stage.ts";

lookAtAll("link", new WebStage(CHANNEL_SETTINGS), [
  ...LINK_STATES,
  ...INSIGHTS_STATES,
  ...BATCH_STATES,
  ...CHANNEL_STATES,
]);
