/** Looks for the cause of an alert from several sides, then asks what to do. */
export const INCIDENT_TRIAGE = `name: incident-triage
description: Looks for the cause of an alert from two sides, then asks what to do

inputs:
  service: { description: The service that the alert is about, required: true }
  alert: { description: The text of the alert, required: true }

triggers:
  - webhook: alert
    condition: trigger.body.status == "firing"
    inputs:
      service: "{{ trigger.body.service }}"
      alert: "{{ trigger.body.message }}"

# One run at a time for each service; later alerts of it start nothing.
concurrency:
  key: "{{ inputs.service }}"
  when_busy: skip
max_running: 5

steps:
  - id: investigate
    parallel:
      - id: code
        tool: agent
        timeout: 20m
        input:
          agent: claude
          prompt: |
            The service {{ inputs.service }} raised this alert: {{ inputs.alert }}
            Find the place in the code that can cause it. Change nothing.
          schema:
            type: object
            required: [cause, confidence]
            properties: { cause: { type: string }, confidence: { type: number } }
      - id: history
        tool: shell
        timeout: 1m
        input:
          argv: [git, log, --stat, --since=3.days, -n, "20"]
    output: findings

  - id: decide
    tool: post_question
    input:
      question: "Alert of {{ inputs.service }}: what should happen?"
      context: |
        {{ inputs.alert }}

        Possible cause ({{ findings.code.confidence }} %): {{ findings.code.cause }}

        The last changes:
        {{ findings.history.stdout }}
      options:
        - { value: fix, label: Prepare a fix }
        - { value: revert, label: Prepare a revert of the last change }
        - { value: ignore, label: Do nothing }
      timeoutHours: 4
      timeoutAction: skip
    suspend: true
    output: decision

  - id: prepare
    condition: decision.answer == "fix" || decision.answer == "revert"
    tool: agent
    timeout: 1h
    input:
      agent: claude
      prompt: |
        Alert: {{ inputs.alert }}
        Possible cause: {{ findings.code.cause }}
        Prepare this: {{ decision.answer }}. Run the tests.
    output: prepared

  - id: create_pr
    condition: prepared != null
    tool: github_create_pr
    input:
      title: "{{ inputs.service }}: {{ decision.answer }} after an alert"
`;
