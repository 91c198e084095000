import { TEMPLATE_FIELDS } from "../core/answer/template.ts";
import { EXIT_CODE, type ExitCodeName } from "../core/exit-code.ts";
import { howToAskByTool } from "../core/run/how-to-ask.ts";
import { renderGuideBlock } from "../setup/project-file.ts";

/** A page of `askd help <topic>`. */
interface Topic {
  about: string;
  text: string;
}

const EXIT_CODE_MEANING: Readonly<Record<ExitCodeName, string>> = {
  done: "done",
  error: "error; the message says what failed",
  usage: "wrong usage, an answer that does not fit, or a cancelled prompt",
  unreachable: "the server cannot be reached; try again",
  signIn: "sign in first",
  notFound: "not found: no such question, run or file",
  conflict: "conflict: already answered, not waiting, or changed meanwhile",
  notPermitted: "not permitted",
  pending: "still pending",
  timedOut: "timed out without an answer",
  cancelled: "cancelled or skipped",
  mayHaveAsked: "the run may have asked something that could not be read",
  denied: "an approval was denied",
  interrupted: "interrupted",
};

const ENVIRONMENT = `Locations
  ASKD_HOME              Keep config, data and state below this folder
  ASKD_STORE             sqlite:<path> or postgres://…
  ASKD_URL, ASKD_TOKEN   Use the server at this address, with this token
  ASKD_PROFILE           Use this profile from the settings
  ASKD_CONFIG_DIR        The folder of config.toml; ASKD_CONFIG_SYSTEM: the system's config file
  XDG_DATA_HOME, XDG_STATE_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME, XDG_RUNTIME_DIR

Output
  NO_COLOR, FORCE_COLOR, CLICOLOR, TERM=dumb
  ASKD_ACCESSIBLE=1      Plain text with words instead of icons, for screen readers
  ASKD_PAGER, PAGER      The pager (less -FRX); cat or an empty value for none
  ASKD_EDITOR, GIT_EDITOR, VISUAL, EDITOR
  ASKD_PROMPT_DISABLED   Never prompt on the terminal

Behaviour
  ASKD_LIVE_WINDOW, ASKD_TIMEOUT  How long calls are held, and questions wait, by default
  ASKD_PORT              The port of askd serve
  ASKD_NO_SERVICE, CI    Start nothing in the background; waiting commands run the worker
  ASKD_CALLBACK_SECRET   The secret that signs callbacks of askd ask --callback
  ASKD_CALLBACK_LOOPBACK=1  Allow callbacks to programs on this machine
  ASKD_CODEX=app-server, ASKD_OPENCODE=serve  Run these agents through their own servers
  ASKD_DEBUG             Print the stack of unexpected errors; =api prints every call to a server

Set for agents
  ASKD_RUN, ASKD_EPOCH   The run of the agent, and the number of its start
  ASKD_AGENT_VERSION     The version of the agent of a run, for its hooks
  ASKD_AGENT             The name of an agent that asks from a script
  ASKD_ON_TIMEOUT, ASKD_MAX_QUESTIONS  The timeout policy and question limit of the run
  ASKD_ANSWER_FILE       The file with the answer, for a command that is started again
`;

/** Help topics besides the commands. A test compares these pages with the program. */
export const TOPICS: Readonly<Record<string, Topic>> = {
  answering: {
    about: "Answering questions",
    text: `askd status                  list waiting questions
askd show 42                 show a run with its question, deadline and similar past answers
askd answer 42 1             answer by number, letter, value or label
askd answer 42 "Use Redis"   answer in your own words
askd answer 42 1 -m "note"   add a note; -e opens your editor
askd answer 42 -t tests      use a template; see askd template
askd answer 42 --decide      let the agent decide; --clarify "…" asks back
askd answer 42 --dry-run     show what the agent would receive

If several people answer at once, the first wins; the others see who answered.
To answer after the deadline, add --force.
Fields of templates: ${TEMPLATE_FIELDS.map((name) => `{{${name}}}`).join(" ")}
`,
  },
  asking: {
    about: "Asking from a script",
    text: `askd ask "Redis or Memcached?" -o redis:Redis -o memcached:Memcached --wait 10m

Prints the chosen values, one per line. Without --wait it prints the id at once; check it later with askd check.
  -o value:Label splits at the colon if the value is a plain word and no space or slash follows; else all is the label
  --recommend redis --default redis --on-timeout default --timeout 4h
  --context "…", --input - (the whole question as JSON), --key k (the same key is the same question)
Exit codes: 0 answered, 8 still waiting, 9 timed out, 10 cancelled, 12 denied. See: askd help timeouts
`,
  },
  "exit-codes": { about: "Exit codes", text: renderExitCodes() },
  environment: { about: "Environment variables", text: ENVIRONMENT },
  json: {
    about: "Output for programs",
    text: `--json            all fields, with snake_case names; missing values are null
--json=id,title   only these fields
--json=?          the names of all fields
--jq '.[].title'  filters the JSON without jq installed; strings are printed as they are

Programs read stdout; people read stderr. In a pipe the JSON is one line.
  askd list --awaiting --jq '.[] | [.short_id, .title] | @tsv'
  askd stats --jq .median_ms
`,
  },
  ids: {
    about: "Naming a question or a run",
    text: `42, #42          the number of a run (in a shell # starts a comment: use 42)
add-caching      the name of a run
tm-abc           the external id from a task manager
q-7k3f           a question, by an unambiguous prefix of its id
q_01k…           the full id
http://…/q/7k3f  a pasted address
-                the only waiting question

A run stands for its pending question. A short id never authorises anything.
`,
  },
  timeouts: {
    about: "Timeouts and their policies",
    text: `A question times out after 24 hours, or after --timeout. Then --on-timeout decides:
  fail      the run fails; answer --force can still resume it (the default)
  default   the default or recommended answer is given, labelled as policy
  proceed   the agent proceeds using its best judgment
  skip      the run ends as skipped
  defer     the run is deferred until somebody answers
  escalate  the question goes to the next people, then to those after them; after the last the run fails, or does
            what --on-timeout says: askd ask "Deploy?" --timeout 1h --escalate lena:30m --escalate ops:2h
  wait      the question never times out

Silence never approves anything. The clock starts with the ask; extending moves the deadline, claiming and snoozing
do not.
`,
  },
  agents: { about: "Instructions for agents", text: "" },
};

/** The page of a topic; undefined if there is no such topic. */
export async function renderTopic(name: string): Promise<string | undefined> {
  if (name === "agents") return renderAgentsHelp();
  return Object.hasOwn(TOPICS, name) ? TOPICS[name]?.text : undefined;
}

function renderExitCodes() {
  // Object.keys loses the key type; the record has exactly the names of the table.
  const names = Object.keys(EXIT_CODE) as ExitCodeName[];
  return names.map((name) => `${String(EXIT_CODE[name]).padEnd(5)}${EXIT_CODE_MEANING[name]}\n`).join("");
}

/** The text of the skill file that teaches an agent to ask. */
export function renderSkill(): string {
  return `---
name: ask-human
description: Ask a person a question and get the answer back, seconds or days later. Use when you are really stuck, or when a wrong guess would be costly or hard to undo.
---

# Ask a person

${howToAskByTool()}

Without the tool, but with a shell: \`askd ask "Redis or Memcached?" -o Redis -o Memcached --wait 10m\` prints the
answer. If it prints nothing, the question still waits: stop, and look again later with \`askd check <id>\`.
`;
}

/** The output of `askd help agents`: a block for AGENTS.md or CLAUDE.md. */
function renderAgentsHelp() {
  return `Agents learn to ask from the tool itself (askd mcp), from askd run, or from the skill ask-human.
To teach it to all agents of a project, put this block into AGENTS.md or CLAUDE.md (askd init --instructions does):

${renderGuideBlock()}
`;
}
