/** From a label on an issue to a pull request; people are asked if the analysis is unsure. */
export const AUTOFIX = `# Fixes an issue that gets the label auto-fix.
# analyze_issue, apply_code_fix and run_checks are tools of your MCP servers: see [mcp_servers] in your settings.
name: autofix
triggers:
  - label_added: "auto-fix"
  - schedule: "0 */6 * * *"  # Every 6 hours

steps:
  - id: analyze
    tool: analyze_issue
    output: analysis

  - id: check_confidence
    condition: analysis.confidence < 80
    tool: post_question
    input:
      question: "{{ analysis.uncertainQuestion }}"
      options: "{{ analysis.suggestedOptions }}"
      notifyVia: [github, slack]
      timeoutHours: 24
      timeoutAction: skip
    suspend: true  # Workflow pauses here

  - id: apply_fix
    tool: apply_code_fix
    input:
      approach: "{{ answer || analysis.defaultApproach }}"

  - id: run_checks
    tool: run_checks

  - id: create_pr
    tool: github_create_pr

on_resume:
  # Called when answer is received
  inject:
    answer: "{{ pendingQuestion.answer }}"
  goto: apply_fix

on_timeout:
  # Called when timeout action is 'skip'
  tool: update_github_issue
  input:
    addLabels: ["auto-fix-skip"]
    addComment: "Skipped due to no response within timeout period."
`;
