import { lookAtAll } from "./look.ts";
import { PICKS } from "./batch-bar-states.ts";
import { WebStage } from "./stage.ts";

lookAtAll("pick", new WebStage(), PICKS);
