/**
 * Commands that svcctl suggests, as they work where this one worked: with the options that say where that was. What the
 * environment or a profile says holds for the next command too; keys and values of variables may be secret, and are left out.
 */
import {shellWord} from '../../base/shell-word.ts'

const STACKS = ['synth-dir', 'synth-env', 'var-file']
const LEDGER = [...STACKS, 'state']
const CONNECTION = ['profile', 'api-url', 'url', 'ca-file', 'insecure']
const ALL = [...LEDGER, ...CONNECTION]

/** Which of them the commands about stacks take; a test compares them with the commands. */
export const PLACE_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  ...of(ALL, ['absorb', 'apply', 'compare', 'destroy', 'drift', 'drift accept', 'explain', 'graph', 'import', 'plan', 'rehearse']),
  ...of(LEDGER, ['audit verify', 'force-unlock', 'forget', 'history', 'hold', 'hold lift', 'hold list', 'output', 'validate']),
  ...of(LEDGER, ['state list', 'state mv', 'state rm', 'state show', 'transfer']),
  ...of([...LEDGER, 'profile'], ['freeze', 'freeze lift', 'freeze list']),
  ...of(STACKS, ['secrets']),
  ...of(['state', ...CONNECTION], ['undo']),
}

function of(options: readonly string[], commands: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(commands.map(it => [it, options]))
}

/** Options that take a value, which may be a word like any other. */
const VALUED = 'stack|from|to|target|exclude|accept|adopt|allow-destroy|approve|out|dir|file|patch|baseline'
/** What no prose is made of: a quoted word, or one that has more than small letters; the full stop of a sentence is not its own. */
const WORD = `(?:'[^'\\n]{0,500}'(?:\\\\''[^'\\n]{0,500}')*|(?=[^\\s,;"'()]{0,500}?(?:[^a-z\\s,;:."'()]|[.:][^\\s,;:."'()]))[^\\s,;"'()]{0,500}[^\\s,;:."'()])`
const VALUE = `(?:${WORD}|[^\\s,;"'()-][^\\s,;"'()]{0,500}(?<![:.]))`
const ARGUMENTS = `(?: --(?:${VALUED})[ =]${VALUE}| --[a-z][a-z-]*| [a-z]+(?=$| --)| (?!-)${WORD})*`

/**
 * The longest name wins; what only says who holds a lock, `(svcctl apply)`, and other commands of these words are no advice; no more
 * of the line is looked at than a command is long. What is added stands behind the arguments: a command is known by how it begins.
 */
const COMMAND = new RegExp(
  `(?<![\\w./-])svcctl (${Object.keys(PLACE_OPTIONS).sort().reverse().join('|')})(?![\\w)-]| diff )(?=([^\\n]{0,2000}))${ARGUMENTS}`,
  'g',
)

/** A saved plan knows its stacks and its ledgers, a run its stacks: they are not read for it, and may be gone by then. */
const OF_FILE = /^ (?!--).* --approve |^ .*\.residual\.json/
const OF_RUN = /^ --(?:resume|attach)\b/
const KNOWN: readonly (readonly [RegExp, readonly string[]])[] = [
  [OF_FILE, ['synth-dir', 'synth-env', 'state']],
  [OF_RUN, ['synth-dir', 'synth-env']],
]

/** An address with a `@` or a `?` in it may hold a password. */
const isAddress = (name: string): boolean => name === 'url' || name === 'api-url'

/** No advice is so long: what is comes from elsewhere. */
const LONGEST = 100_000

export class CommandsHere {
  #options: ReadonlyMap<string, string> = new Map()

  /** @param flags - as the command line gave them */
  learn(flags: Readonly<Record<string, unknown>>): void {
    const given = ALL.flatMap(name => {
      const values = [flags[name] ?? []].flat().filter(it => !isAddress(name) || !/[@?]/.test(String(it)))
      const words = values.flatMap(value =>
        typeof value === 'string' ? [`--${name} ${shellWord(value)}`] : value === true ? [`--${name}`] : [],
      )
      return words.length === 0 ? [] : [[name, words.join(' ')] as const]
    })
    this.#options = new Map(given)
  }

  /** The same text, its commands with the options of this place that they do not name themselves. */
  readonly text = (text: string): string => {
    if (this.#options.size === 0 || text.length > LONGEST) return text
    return text.replace(COMMAND, (said: string, command: string, rest: string) => {
      const known = command === 'apply' ? (KNOWN.find(([form]) => form.test(rest))?.[1] ?? []) : []
      const words = (PLACE_OPTIONS[command] ?? []).flatMap(name =>
        known.includes(name) || rest.includes(` --${name} `) ? [] : (this.#options.get(name) ?? []),
      )
      return [said, ...words].join(' ')
    })
  }
}
