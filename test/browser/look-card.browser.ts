import { CARD_STATES } from "./card-states.ts";
import { lookAtAll } from "./look.ts";
import { WebStage } from "./stage.ts";

lookAtAll("card", new WebStage(), CARD_STATES);
