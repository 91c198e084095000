import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";

// Each script passes the typed words to `askd complete` and shows its output: a value, a tab, a description.
// The output is only data in an array: nothing in it is executed or expanded.

const BASH = String.raw`# askd completion for bash: source <(askd completion bash)
_askd() {
  local line value about lines=() values=() abouts=() i
  COMPREPLY=()
  while IFS= read -r line; do lines+=("$line"); done < <(command askd complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  for line in "\${lines[@]}"; do
    value=\${line%%$'\t'*}
    about=\${line#*$'\t'}
    if [[ $value == :files ]]; then compopt -o default; return; fi
    values+=("$value"); abouts+=("$about")
  done
  if (( \${#values[@]} == 1 )); then COMPREPLY=("\${values[0]}"); return; fi
  for (( i = 0; i < \${#values[@]}; i++ )); do
    if [[ -n \${abouts[i]} && \${COMP_TYPE:-9} != 37 ]]; then COMPREPLY+=("\${values[i]}  (\${abouts[i]})"); else COMPREPLY+=("\${values[i]}"); fi
  done
}
complete -o nosort -F _askd askd 2>/dev/null || complete -F _askd askd
`.replaceAll("\\$", "$");

const ZSH = String.raw`#compdef askd
# askd completion for zsh: source <(askd completion zsh), or a file _askd in a folder of $fpath
_askd() {
  local -a lines shown
  local line value about tab=$'\t'
  lines=("\${(@f)$(command askd complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${lines[@]}"; do
    [[ -z $line ]] && continue
    value=\${line%%$tab*}
    about=\${line#*$tab}
    if [[ $value == :files ]]; then _files; return; fi
    shown+=("\${value//:/\\:}:$about")
  done
  (( \${#shown} )) && _describe -V askd shown
}
if [[ $funcstack[1] == _askd ]]; then _askd "$@"; else compdef _askd askd; fi
`.replaceAll("\\$", "$");

const FISH = String.raw`# askd completion for fish: askd completion fish | source
function __askd_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (command askd complete -- $words[2..-1] 2>/dev/null)
    if string match -q ':files*' -- $lines[1]
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $lines
    end
end
complete -c askd -f -k -a '(__askd_complete)'
`;

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
const flags = {};

export const command: Command<typeof flags> = {
  usage: "completion bash|zsh|fish",
  isLooking: () => true,
  flags,
  examples: [
    "source <(askd completion bash)        # in ~/.bashrc",
    "source <(askd completion zsh)         # in ~/.zshrc, after compinit",
    "askd completion fish | source         # in ~/.config/fish/config.fish",
  ],
  async run(args, context) {
    const [shell, more] = args.positionals;
    if (shell === undefined) throw wrongUsage("The name of a shell is missing", command.usage);
    if (more !== undefined) throw wrongUsage(`Unexpected argument "${more}"`, command.usage);
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (script === undefined) throw wrongUsage(`There is no completion for "${shell}"`, command.usage);
    context.stdout.write(script);
    return 0;
  },
};
