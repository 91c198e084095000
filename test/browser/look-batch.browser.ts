import { lookAtAll } from "./look.ts";
import { BATCH_BAR_STATES } from "./batch-bar-states.ts";
import { WebStage } from "./stage.ts";

lookAtAll("batch", new WebStage(), BATCH_BAR_STATES);
