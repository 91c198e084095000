import { TEMPLATE_FIELDS } from "../core/answer/template.ts";

/** A page of `askd help <topic>`. */
interface Topic {
  about: string;
  text: string;
}

const EXIT_CODES = `0    done
1    something went wrong; the message says what
2    typed wrong, or not confirmed
3    the server cannot be reached; try again
4    sign in first
5    there is no such question, run or file
6    it is not so any more: answered already, not waiting, changed meanwhile
7    you may not do this
8    the question still waits
9    the question timed out
10   the question was cancelled, or the run skipped
130  interrupted
`;

const ENVIRONMENT = `Where things are
  ASKD_HOME              Everything below this folder
  ASKD_STORE             sqlite:<path> or postgres://…
  ASKD_URL, ASKD_TOKEN   Use the server there, with this token
  ASKD_PROFILE           Use this profile of the settings
  ASKD_CONFIG_DIR        The folder of config.toml; ASKD_CONFIG_SYSTEM the system's file
  XDG_DATA_HOME, XDG_STATE_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME, XDG_RUNTIME_DIR

How it looks
  NO_COLOR, FORCE_COLOR, CLICOLOR, TERM=dumb
  ASKD_ACCESSIBLE=1      Flat text with words for icons, for screen readers
  ASKD_PAGER, PAGER      What shows long pages (less -FRX); cat or nothing for none
  ASKD_EDITOR, GIT_EDITOR, VISUAL, EDITOR
  ASKD_PROMPT_DISABLED   Never ask anything on the terminal

How it works
  ASKD_LIVE_WINDOW, ASKD_TIMEOUT  How long calls are held, and questions wait, unless they say otherwise
  ASKD_PORT              Where askd serve listens
  ASKD_NO_SERVICE, CI    Start nothing in the background; who waits does the work
  ASKD_CALLBACK_SECRET   Signs the callbacks of askd ask --callback
  ASKD_CALLBACK_LOOPBACK=1  Callbacks may go to programs on this machine
  ASKD_CODEX=app-server, ASKD_OPENCODE=serve  Run these agents by their own servers
  ASKD_DEBUG             Show where an unexpected error comes from

What agents find in theirs
  ASKD_RUN, ASKD_EPOCH   The run they belong to, and which start of it
  ASKD_AGENT             What an agent is called that asks from a script
  ASKD_ON_TIMEOUT, ASKD_MAX_QUESTIONS  What the starter of the run wanted
  ASKD_ANSWER_FILE       Where a command that is run again finds the answer
`;

/** What can be read about besides the commands. A test compares these pages with the program. */
export const TOPICS: Readonly<Record<string, Topic>> = {
  answering: {
    about: "How to answer",
    text: `askd status                  what waits
askd show 42                 one run with its question, the deadline and similar past answers
askd answer 42 1             by number, letter, value or label
askd answer 42 "Use Redis"   in your own words
askd answer 42 1 -m "note"   with a remark; -e opens your editor
askd answer 42 -t tests      a canned answer: askd template
askd answer 42 --decide      the agent may choose; --clarify "…" asks back
askd answer 42 --dry-run     shows what the agent would get

Of many who answer one wins; the others are told who. After the deadline: --force.
Fields of templates: ${TEMPLATE_FIELDS.map((name) => `{{${name}}}`).join(" ")}
`,
  },
  asking: {
    about: "How to ask from a script",
    text: `askd ask "Redis or Memcached?" -o redis:Redis -o memcached:Memcached --wait 10m

Prints the value that was chosen, one a line. Without --wait: the id, at once; look later with askd check.
  --recommend redis --default redis --on-timeout default --timeout 4h
  --context "…", --input - (the whole question as JSON), --key k (the same key is the same question)
Exit codes: 0 answered, 8 still waiting, 9 timed out, 10 cancelled. See: askd help timeouts
`,
  },
  "exit-codes": { about: "What exit codes mean", text: EXIT_CODES },
  environment: { about: "Variables that askd reads", text: ENVIRONMENT },
  json: {
    about: "Output for programs",
    text: `--json            everything, with snake_case names; what is not there is null
--json=id,title   only these fields
--json=?          the names of all fields
--jq '.[].title'  filters the JSON, with no jq installed; strings come as they are

Programs read stdout; people read stderr. On a pipe JSON is one line.
  askd list --awaiting --jq '.[] | [.short_id, .title] | @tsv'
  askd stats --jq .median_ms
`,
  },
  ids: {
    about: "How to name a question or a run",
    text: `42, #42          the number of a run (in a shell # starts a comment: use 42)
add-caching      the name of a run
tm-abc           the external id that a task manager gave it
q-7k3f           a question, by any beginning of its id that is unambiguous
q_01k…           the whole id
http://…/q/7k3f  a pasted address
-                the only question that waits

A run stands for the question it waits for. A short id never lets anybody in.
`,
  },
  timeouts: {
    about: "What happens when nobody answers",
    text: `A question has 24 hours (--timeout 4h). Then, by --on-timeout:
  fail      the run fails; answer --force can still take it up (this is the default)
  default   the declared or recommended answer is given, labelled as a policy's
  proceed   the agent goes on by its own judgment
  skip      the run ends as skipped
  defer     the run is set aside until somebody answers
  escalate  the next people are told
  wait      nothing; it waits for ever

Silence never approves anything. The clock runs from the ask; extending moves it, claiming and snoozing do not.
`,
  },
  agents: { about: "A block that teaches agents to ask", text: "" },
};

/** The page of a topic, if there is one of that name. */
export async function renderTopic(name: string): Promise<string | undefined> {
  if (name === "agents") return (await import("./view/agent-guide.ts")).renderAgentsHelp();
  return Object.hasOwn(TOPICS, name) ? TOPICS[name]?.text : undefined;
}
