import {shellQuote} from '../../base/shell-word.ts'
import type {CompletionNode, CompletionOption, CompletionValues} from './tree.ts'

export function zshScript(nodes: readonly CompletionNode[]): string {
  const known = nodes.map(({path}) => path).filter(path => path !== '')
  const values = nodes.flatMap(({path, options}) => options.flatMap(option => valueCase(path, option)))
  return `#compdef svcctl
# zsh completion of svcctl: eval "$(svcctl completion zsh)", after compinit
typeset -ga _svcctl_known
_svcctl_known=(${known.map(shellQuote).join(' ')})
_svcctl() {
  local at='' word previous="\${words[CURRENT-1]}"
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    (( \${_svcctl_known[(Ie)\${at:+$at }$word]} )) && at="\${at:+$at }$word"
  done
  case "$at $previous" in
${values.join('\n')}
  esac
  case "$at" in
${nodes.map(nodeCase).join('\n')}
  esac
  (( $#commands )) && _describe -t commands command commands
  [[ $PREFIX == -* ]] && _describe -t options option options
  return 0
}
if [[ "$funcstack[1]" == _svcctl ]]; then _svcctl "$@"; else compdef _svcctl svcctl; fi
`
}

function nodeCase({path, words, options, argument}: CompletionNode): string {
  const described = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([name, summary]) => shellQuote(`${name.replaceAll(':', '\\:')}:${summary}`)).join(' ')
  return `    ${shellQuote(path)})
      commands=(${described(words.map(({word, summary}) => [word, summary]))})
      options=(${described(options.flatMap(({names, summary}) => names.map(name => [name, summary] as const)))})
      ${argument ? offer(argument) : ''}
      ;;`
}

function valueCase(path: string, {names, values}: CompletionOption): string[] {
  return values === undefined ? [] : [`    ${names.map(name => shellQuote(`${path} ${name}`)).join('|')}) ${offer(values)}; return ;;`]
}

const offer = (values: CompletionValues): string => {
  if ('words' in values) return `compadd -- ${values.words.map(shellQuote).join(' ')}`
  return 'ask' in values ? `compadd -- \${(f)"$(svcctl completion --values ${values.ask} 2>/dev/null)"}` : '_files'
}
