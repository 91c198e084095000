import { lookAtAll } from "./look.ts";
import { WebStage } from "./stage.ts";
import { WORKFLOWS } from "./workflow-states.ts";

lookAtAll("workflows", new WebStage(), WORKFLOWS, { wide: 1440 });
