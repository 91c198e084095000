import { lookAtAll } from "./look.ts";
import { WebStage } from "./stage.ts";
import { OUTSIDE, STATES } from "./states.ts";

lookAtAll("inbox", new WebStage(), [...OUTSIDE, ...STATES]);
