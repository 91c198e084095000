import type { Rules } from "../../core/rules.ts";
import { Command } from "../parts/command.tsx";
import { sayShare } from "../parts/number-format.ts";
import { type PageReader, tell, tellDays } from "../parts/page-reader.ts";
import { SettingsTabs } from "../parts/settings-tabs.tsx";
import type { MessageKey } from "../words/words.ts";

/** The policies that the server was started with; read-only. */
export function PoliciesPage({ reader, rules }: { reader: PageReader; rules: Rules }) {
  return (
    <main id="main" class="page">
      <h1>{tell(reader, "pol.title")}</h1>
      <SettingsTabs reader={reader} tab="policies" />
      <p class="quiet">{tell(reader, "pol.about")}</p>
      <Command reader={reader} id="change" text="askd config set questions.timeout 12h" />
      <p class="quiet">{tell(reader, "pol.then")}</p>
      <dl class="facts broad">
        {policiesOf(reader, rules).map(([about, setting, value]) => (
          <div>
            <dt>
              {tell(reader, about)} <span class="quiet mono">{setting}</span>
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </main>
  );
}

function policiesOf(reader: PageReader, rules: Rules): ReadonlyArray<readonly [MessageKey, string, string]> {
  const { undoMs, alerts, confidence } = rules;
  const span = (ms: number) => tellDays(reader, ms);
  const undo = (ms: number) => (ms === 0 ? tell(reader, "pol.undo.none") : span(ms));
  const part = (value: number) => sayShare(reader, value);
  return [
    ["pol.live", "questions.live_window", span(rules.liveWindowMs)],
    ["pol.timeout", "questions.timeout", span(rules.timeoutMs)],
    ["pol.onTimeout", "questions.on_timeout", tell(reader, `policy.${rules.onTimeout}`)],
    ["pol.remind", "questions.remind_at", rules.remindAt.map(part).join(", ") || tell(reader, "pol.remind.none")],
    [
      "pol.act",
      "questions.confidence.act",
      confidence.act === undefined ? tell(reader, "pol.act.off") : part(confidence.act),
    ],
    ...(confidence.below !== "ask"
      ? [
          ["pol.ask", "questions.confidence.ask", part(confidence.ask)] as const,
          ["pol.below", "questions.confidence.below", tell(reader, `pol.below.${confidence.below}`)] as const,
        ]
      : []),
    ["pol.perRun", "questions.max_per_run", String(rules.limits.asksPerRun)],
    ["pol.undo.web", "answers.undo_window.web", undo(undoMs.web)],
    ["pol.undo.slack", "answers.undo_window.slack", undo(undoMs.slack)],
    ["pol.undo.cli", "answers.undo_window.cli", undo(undoMs.cli)],
    ["pol.undo.api", "answers.undo_window.api", undo(undoMs.api)],
    ["pol.alert.pending", "alerts.pending_questions_threshold", String(alerts.pendingQuestions)],
    ["pol.alert.rate", "alerts.timeout_rate_threshold", part(alerts.timeoutRate)],
  ];
}
