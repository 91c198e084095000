/** Checks a release, asks two people, and tags it. */
export const RELEASE_APPROVAL = `name: release-approval
description: Checks a version, asks people to approve it, and tags it

inputs:
  version: { description: "The version, such as 1.4.0", required: true }
  remote: { description: The remote that the tag is pushed to, default: origin }

# Two releases of one version never run at the same time.
concurrency:
  key: "{{ inputs.version }}"
  when_busy: skip

steps:
  - id: verify
    parallel:
      - id: tests
        tool: shell
        timeout: 30m
        retry: 1
        input:
          argv: [npm, test]
      - id: audit
        tool: shell
        timeout: 5m
        input:
          argv: [npm, audit, --omit=dev, --audit-level=high]

  - id: changes
    tool: shell
    input:
      argv: [git, log, --oneline, -n, "30"]
    output: changes

  - id: approve
    tool: post_question
    input:
      question: "Release {{ inputs.version }}?"
      context: "The last changes:\\n\\n{{ changes.stdout }}"
      options:
        - { value: release, label: Release it }
        - { value: stop, label: Do not release it }
      timeoutHours: 24
      timeoutAction: skip
    suspend: true
    output: approval

  - id: tag
    condition: approval.answer == "release"
    tool: shell
    idempotent: true  # With --force, tagging the same commit again changes nothing
    input:
      argv: [git, tag, --force, "v{{ inputs.version }}"]

  - id: push
    condition: approval.answer == "release"
    tool: shell
    idempotent: true
    retry: { times: 3, delay: 30s }
    input:
      argv: [git, push, "{{ inputs.remote }}", "v{{ inputs.version }}"]
`;
