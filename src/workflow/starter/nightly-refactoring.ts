/** Improves one file each night, within a budget. */
export const NIGHTLY_REFACTORING = `name: nightly-refactoring
description: Improves one part of the code each night, within a budget

triggers:
  - schedule: "0 2 * * *"
    timezone: Europe/Berlin
    missed: skip

max_running: 1
budget:  # US dollars, for all agents together
  per_run: 3
  per_day: 3

steps:
  - id: choose
    tool: agent
    timeout: 20m
    input:
      agent: claude
      prompt: |
        Choose one file of this project that is hard to read and well covered by tests. Change nothing.
        Say how you would improve it, and how sure you are that its behaviour stays the same, from 0 to 100.
      schema:
        type: object
        required: [file, plan, confidence]
        properties:
          file: { type: string }
          plan: { type: string }
          confidence: { type: number }
    output: chosen

  - id: ask
    condition: chosen.confidence < 70
    tool: post_question
    input:
      question: "Refactor {{ chosen.file }}?"
      context: "{{ chosen.plan }}"
      options:
        - { value: go, label: Go on }
        - { value: stop, label: Leave it }
      timeoutHours: 20
      timeoutAction: skip
    suspend: true
    output: asked

  - id: refactor
    condition: chosen.confidence >= 70 || asked.answer == "go"
    tool: agent
    timeout: 2h
    input:
      agent: claude
      prompt: |
        Refactor {{ chosen.file }} by this plan: {{ chosen.plan }}
        Behaviour and public names stay the same. Run the tests.
    output: refactored

  - id: check
    condition: refactored != null
    tool: shell
    timeout: 30m
    input:
      argv: [npm, test]

  - id: create_pr
    condition: refactored != null
    tool: github_create_pr
    input:
      title: "Refactor {{ chosen.file }}"
      draft: true
`;
