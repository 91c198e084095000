/** Updates dependencies once a week; people decide about major versions. */
export const DEPENDENCY_UPDATES = `name: dependency-updates
description: Updates dependencies every Monday and asks before it takes a new major version

triggers:
  - schedule: "0 6 * * mon"
    timezone: Europe/Berlin
    missed: skip  # If nothing ran on Monday, wait for the next one

max_running: 1
budget:
  per_run: 5  # US dollars

steps:
  - id: look
    tool: agent
    timeout: 30m
    input:
      agent: claude
      prompt: |
        Find the direct dependencies of this project that have a newer version. Change nothing.
        Put those with a new major version in "major" and all others in "minor".
      schema:
        type: object
        required: [minor, major]
        properties:
          minor: { type: array, items: { type: string } }
          major: { type: array, items: { type: string } }
    output: found

  - id: ask_major
    condition: length(found.major) > 0
    tool: post_question
    input:
      question: "Which new major versions do you want?"
      context: "New major versions: {{ json(found.major) }}"
      options:
        - { value: all, label: All of them }
        - { value: none, label: None, isDefault: true }
      timeoutHours: 48
      timeoutAction: default
      defaultAnswer: none
    suspend: true
    output: wanted

  - id: update
    condition: length(found.minor) > 0 || wanted.answer == "all"
    tool: agent
    timeout: 2h
    input:
      agent: claude
      prompt: |
        Update these dependencies: {{ found.minor }}
        New major versions: {{ found.major }}. Take them only if this says all: {{ wanted.answer || "none" }}
        Change the code where a new version needs it, and run the tests.
    output: updated

  - id: check
    condition: updated != null
    tool: shell
    timeout: 30m
    input:
      argv: [npm, test]

  - id: create_pr
    condition: updated != null
    tool: github_create_pr
    input:
      title: Update dependencies
`;
