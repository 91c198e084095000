import { engineOn } from "../../app.ts";
import { parseAsk } from "../../core/question/ask-input.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { Place, openStore } from "../../../test/proof/place.ts";
import { ROOMY, SCRIPT, said } from "../../../test/scene.ts";

// A process that writes as fast as it can until it is told to stop, and then says how much it wrote.
const AT_ONCE = 4;
const [given = ""] = process.argv.slice(2);
const store = await openStore(Place.parse(JSON.parse(given)));
const engine = engineOn(store, { rules: ROOMY });
let isDone = false;
let answered = 0;
process.stdin.once("data", () => (isDone = true));

async function writeOn(): Promise<void> {
  while (!isDone) {
    const raw = { question: `Redis or Memcached for cache ${answered}?`, options: ["Redis", "Memcached"] };
    const { question } = await engine.ask(parseAsk(raw, SCRIPT, ROOMY, await engine.now()), AGENT);
    await engine.answer(question.id, said("1"), ADA);
    answered += 1;
    if (answered === 1) console.log("writes");
    if (answered % 50 === 0) await engine.seal();
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, writeOn));
await engine.stop();
console.log(answered);
process.stdin.pause();
