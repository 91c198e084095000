import { lookAtAll } from "./look.ts";
import { EMPTY_PAGES, PAGES } from "./page-states.ts";
import { WebStage } from "./stage.ts";

lookAtAll("pages", new WebStage(), [...EMPTY_PAGES, ...PAGES]);
