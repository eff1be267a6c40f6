import {shellQuote} from '../../base/shell-word.ts'
import type {CompletionNode, CompletionValues} from './tree.ts'

/** For bash 3.2 and newer (no associative arrays: macOS). */
export function bashScript(nodes: readonly CompletionNode[]): string {
  const known = nodes.filter(({path}) => path !== '').map(({path}) => `    ${shellQuote(path)}) return 0 ;;`)
  const words = nodes.map(({path, words, options, argument}) => {
    const offered = [...words.map(({word}) => word), ...options.flatMap(({names}) => names.filter(name => name.startsWith('--')))]
    return `    ${shellQuote(path)}) words=${shellQuote(offered.join(' '))}${argument ? `; ${assign(argument)}` : ''} ;;`
  })
  const values = nodes.flatMap(({path, options}) =>
    options.flatMap(({names, values}) =>
      values ? [`    ${names.map(name => shellQuote(`${path} ${name}`)).join('|')}) ${assign(values)} ;;`] : [],
    ),
  )
  return `# bash completion of svcctl: eval "$(svcctl completion bash)"
_svcctl_known() {
  case "$1" in
${known.join('\n')}
  esac
  return 1
}
# $1 for double quotes: nothing in it is run there.
_svcctl_inside() {
  local at letter
  for ((at = 0; at < \${#1}; at++)); do
    letter="\${1:at:1}"
    case "$letter" in '"' | '$' | '\`' | '\\' | '!') letter="\\\\$letter" ;; esac
    printf '%s' "$letter"
  done
}
# Of the lines in $1 those that go on from what is typed, quoted as the shell needs them.
_svcctl_lines() {
  local line quote="'" escaped="'\\\\''" typed="\${cur//\\\\/}"
  typed="\${typed#[$quote\\"]}"
  while IFS= read -r line; do
    if [ -n "$line" ] && [ "\${line:0:\${#typed}}" = "$typed" ]; then
      case "$cur" in
        "$quote"*) COMPREPLY+=( "$quote\${line//$quote/"$escaped"}$quote" ) ;;
        '"'*) COMPREPLY+=( "\\"$(_svcctl_inside "$line")\\"" ) ;;
        *) COMPREPLY+=( "$(printf '%q' "$line")" ) ;;
      esac
    fi
  done <<< "$1"
}
_svcctl() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" word words="" values="" asked="" files=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if _svcctl_known "\${path:+$path }$word"; then path="\${path:+$path }$word"; fi
  done
  COMPREPLY=()
  case "$path $prev" in
${values.join('\n')}
  esac
  # Readline completes files by itself where there is nothing else, and quotes what their names hold.
  if [ -n "$files" ]; then return; fi
  if [ -n "$asked" ]; then _svcctl_lines "$asked"; return; fi
  if [ -n "$values" ]; then COMPREPLY=( $(compgen -W "$values" -- "$cur") ); return; fi
  case "$path" in
${words.join('\n')}
  esac
  COMPREPLY=( $(compgen -W "$words $values" -- "$cur") )
  _svcctl_lines "$asked"
}
complete -o default -F _svcctl svcctl
`
}

const assign = (values: CompletionValues): string => {
  if ('words' in values) return `values=${shellQuote(values.words.join(' ') || ' ')}`
  return 'ask' in values ? `asked="$(svcctl completion --values ${values.ask} 2>/dev/null)"` : 'files=1'
}
