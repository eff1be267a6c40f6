import type {CompletionNode, CompletionValues} from './tree.ts'

export function fishScript(nodes: readonly CompletionNode[]): string {
  const known = nodes.map(({path}) => path).filter(path => path !== '')
  return `# fish completion of svcctl: svcctl completion fish | source
function __svcctl_at
    set -l known ${known.map(quote).join(' ')}
    set -l at ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$at $word")
        contains -- $next $known; and set at $next
    end
    test "$at" = "$argv[1]"
end
complete -c svcctl -e
${nodes.flatMap(linesFor).join('\n')}
`
}

function linesFor({path, words, options, argument}: CompletionNode): string[] {
  const here = `complete -c svcctl -n ${quote(`__svcctl_at ${quote(path)}`)}`
  return [
    ...words.map(({word, summary}) => `${here} -f -a ${quote(word)} -d ${quote(summary)}`),
    ...(argument ? [`${here} -f ${offer(argument)}`] : []),
    ...options.map(({names, summary, values}) => {
      const spelled = names.map(name => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ')
      const takes = values === undefined ? '' : 'files' in values ? ' -r' : ` -x ${offer(values)}`
      return `${here} ${spelled} -d ${quote(summary)}${takes}`
    }),
  ]
}

const offer = (values: CompletionValues): string => {
  if ('words' in values) return `-a ${quote(values.words.join(' '))}`
  return 'ask' in values ? `-a ${quote(`(svcctl completion --values ${values.ask} 2>/dev/null)`)}` : ''
}

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
