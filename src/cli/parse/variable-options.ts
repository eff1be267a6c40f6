import type {VariableOption} from '../../declaration/read/variable-files.ts'

/** `--var` and `--var-file` in the order of the command line, which decides between them. */
export function variableOptions(argv: readonly string[]): VariableOption[] {
  const options: VariableOption[] = []
  for (const [at, word] of argv.entries()) {
    if (word === '--') break
    const match = /^--(var|var-file)(?:=([\s\S]*))?$/.exec(word)
    const value = match?.[2] ?? argv[at + 1]
    if (match === null || value === undefined) continue
    options.push(match[1] === 'var' ? {type: 'var', text: value} : {type: 'file', path: value})
  }
  return options
}
