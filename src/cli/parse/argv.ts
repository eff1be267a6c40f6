/** The command line before it is parsed: Terraform's spelling becomes ours, and what errors need to know is found early. */
import {isOutputFormat, type OutputFormat} from '../../report/output-format.ts'

/** Terraform's single-dash words, and what they are here (interface.md, "Synonyms"). */
const SYNONYMS: Readonly<Record<string, string>> = {
  out: '--out',
  target: '--target',
  var: '--var',
  'var-file': '--var-file',
  'auto-approve': '--auto-approve',
  state: '--state',
  'lock-timeout': '--lock-timeout',
  'detailed-exitcode': '--detailed-exitcode',
  'refresh-only': '--refresh-only',
  parallelism: '--max-inflight',
  version: '--version',
  help: '--help',
}

/** Options that may stand before the command, because people put them there. The value says whether one follows. */
const LEADING: Readonly<Record<string, boolean>> = {
  '--profile': true,
  '--output': true,
  '-o': true,
  '--query': true,
  '-q': true,
  '--rate': true,
  '--burst': true,
  '--poll-interval': true,
  '--timeout': true,
  '--request-timeout': true,
  '--max-response': true,
  '--verbose': false,
  '-v': false,
  '-vv': false,
  '-vvv': false,
  '--help': false,
  '-h': false,
}

/** Options whose value must never be shown, not even in an error about the command line. */
const SECRET_OPTIONS = ['--api-key', '--api-secret', '--password', '--files-api-key', '--key']

/**
 * `-out=x` → `--out=x`, `--json` and `-json` → `--output json`, `-parallelism` → `--max-inflight`,
 * `plan --refresh-only` → `drift`; options before the command go behind it. What follows `--` stays as it is.
 */
export function normalizeArgv(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  const own = end < 0 ? argv : argv.slice(0, end)
  const words = behindCommand(own.flatMap(rewrite))
  if (words[0] === '--version') words[0] = 'version'
  const refreshOnly = words.indexOf('--refresh-only')
  if (words[0] === 'plan' && refreshOnly > 0) {
    words[0] = 'drift'
    // The exit code of drift says it without being asked.
    return [...words.filter(word => word !== '--refresh-only' && word !== '--detailed-exitcode'), ...(end < 0 ? [] : argv.slice(end))]
  }
  return end < 0 ? words : [...words, ...argv.slice(end)]
}

function rewrite(word: string): string[] {
  if (word === '--json' || word === '-json') return ['--output', 'json']
  if (word === '--parallelism' || word.startsWith('--parallelism=')) return [word.replace('--parallelism', '--max-inflight')]
  const match = /^-([a-z][a-z-]+)(=.*)?$/s.exec(word)
  const synonym = match?.[1] === undefined ? undefined : SYNONYMS[match[1]]
  return synonym === undefined ? [word] : [`${synonym}${match?.[2] ?? ''}`]
}

function behindCommand(words: readonly string[]): string[] {
  let at = 0
  while (at < words.length) {
    const [name = '', value] = (words[at] ?? '').split('=', 2)
    const takesValue = LEADING[name]
    if (takesValue === undefined) break
    at += takesValue && value === undefined ? 2 : 1
  }
  if (at === 0 || at >= words.length || words[at]?.startsWith('-')) return [...words]
  const rest = words.slice(at)
  const firstOption = rest.findIndex(word => word.startsWith('-'))
  const command = firstOption < 0 ? rest : rest.slice(0, firstOption)
  return [...command, ...words.slice(0, at), ...rest.slice(command.length)]
}

/** The first option of a line without a command that is none of those that may stand alone. A value behind `=` is cut off. */
export const strayOption = (words: readonly string[]): string | undefined =>
  words.flatMap(word => (word.startsWith('-') && word !== '--' ? [word.split('=')[0] ?? ''] : [])).find(name => LEADING[name] === undefined)

/** The output format asked for, as far as it can be told without knowing the command's options. The last one wins. */
export function outputFormatIn(argv: readonly string[]): OutputFormat | undefined {
  let format: OutputFormat | undefined
  for (const [at, word] of argv.entries()) {
    if (word === '--') break
    const text = word === '-o' || word === '--output' ? argv[at + 1] : /^(?:-o=?|--output=)(.+)$/.exec(word)?.[1]
    if (text !== undefined && isOutputFormat(text)) format = text
  }
  return format
}

/** Longer than a misspelled command: whoever leaves `set` out has typed the key. */
const LONGEST_COMMAND = 12

/** What a profile may have in the place of a secret: the name of a variable, or of an entry of the keyring. */
const REFERENCE = /^(?:\$\{[A-Za-z_]\w*\}|keyring:.*)$/s

/** Values of options that are secrets, and keys to be stored. `-` is not one: it stands for standard input. */
export function secretsInArgv(argv: readonly string[]): string[] {
  const [topic, word = ''] = argv
  const isReference = (text: string) => topic === 'profile' && word === 'set' && REFERENCE.test(text)
  const keys = topic === 'files-key' && !word.startsWith('-') && word.length > LONGEST_COMMAND ? [word] : []
  const values = argv.flatMap((it, at) => {
    const [name = '', ...value] = it.split('=')
    if (!SECRET_OPTIONS.includes(name)) return []
    const secret = value.length > 0 ? value.join('=') : argv[at + 1]
    return secret === undefined || secret === '-' || isReference(secret) ? [] : [secret]
  })
  return [...keys, ...values]
}

/** Whether help is asked for. */
export const asksForHelp = (argv: readonly string[]): boolean => {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).some(word => word === '--help' || word === '-h')
}
