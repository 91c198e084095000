import { engineOn } from "../../../src/app.ts";
import { parseAsk } from "../../../src/core/question/ask-input.ts";
import { ADA, AGENT } from "../../builders.ts";
import { ROOMY, SCRIPT, said } from "../../scene.ts";
import { Place, openStore } from "../place.ts";

// Asks and answers until it is killed, and says what was acknowledged: `asked <id>`, `answered <id>`.
const place = Place.parse(JSON.parse(process.argv[2] ?? ""));
const engine = engineOn(await openStore(place, { poolSize: 2 }), { rules: ROOMY });
for (let turn = 0; ; turn += 1) {
  const input = { question: `Which one, ${process.pid} ${turn}?`, options: ["a", "b"], timeout: "2h" };
  const { question } = await engine.ask(parseAsk(input, SCRIPT, ROOMY, await engine.now()), AGENT);
  process.stdout.write(`asked ${question.id}\n`);
  if (turn % 2 === 0) continue;
  await engine.answer(question.id, said("1"), ADA);
  process.stdout.write(`answered ${question.id}\n`);
}
