/** What can follow what, for every shell alike: words and options by the words before them. */
import type {CommandTable} from '../shell/context.ts'
import type {CommandInfo, FlagInfo} from '../shell/manifest.ts'

export interface CompletionOption {
  /** `--profile`, `-o` */
  readonly names: readonly string[]
  readonly summary: string
  /** Absent for a switch. */
  readonly values?: CompletionValues
}

/** Fixed words, something asked of svcctl at the time (`svcctl completion --values profiles`), or a file. */
export type CompletionValues = {readonly words: readonly string[]} | {readonly ask: ValueKind} | {readonly files: true}

export const VALUE_KINDS = ['profiles', 'stacks', 'addresses', 'runs'] as const
export type ValueKind = (typeof VALUE_KINDS)[number]

export interface CompletionNode {
  /** `''` for the program, `profile`, `profile set`. */
  readonly path: string
  readonly words: readonly {readonly word: string; readonly summary: string}[]
  readonly options: readonly CompletionOption[]
  /** Of the next argument. */
  readonly argument?: CompletionValues
}

const BY_FLAG: Readonly<Record<string, ValueKind>> = {
  profile: 'profiles',
  stack: 'stacks',
  target: 'addresses',
  exclude: 'addresses',
  'allow-destroy': 'addresses',
  adopt: 'addresses',
  accept: 'addresses',
  attach: 'runs',
}

/** Commands whose first argument is one of these. */
const BY_COMMAND: Readonly<Record<string, ValueKind>> = {
  compare: 'stacks',
  explain: 'addresses',
  history: 'addresses',
  'profile set': 'profiles',
  'profile show': 'profiles',
  'profile default': 'profiles',
  'profile remove': 'profiles',
  'runs show': 'runs',
}

/** Commands whose first arguments are fixed words, one set after the other: offered as if they were words of the command. */
const FIXED_ARGUMENTS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  api: [
    ['cloud', 'enterprise'],
    ['get', 'post', 'put', 'patch', 'delete'],
  ],
}

export function completionTree(infos: readonly CommandInfo[], {topics}: CommandTable): readonly CompletionNode[] {
  const nodes = new Map<string, CompletionNode>()
  const shown = infos.filter(info => !info.hidden)
  const summaries = new Map<string, string>([...Object.entries(topics), ...shown.map(({id, summary}) => [id, summary] as const)])
  // "enterprise" may be left out: its words hang below the program as well.
  for (const [id, summary] of [...summaries]) {
    const short = id.startsWith('enterprise ') ? id.slice('enterprise '.length) : undefined
    if (short !== undefined && !summaries.has(short)) summaries.set(short, summary)
  }
  for (const path of ['', ...summaries.keys()]) {
    const info = shown.find(({id}) => id === path || id === `enterprise ${path}`)
    const argument = argumentOf(info)
    nodes.set(path, {
      path,
      words: [...summaries].flatMap(([id, summary]) => {
        const word = id.slice(path === '' ? 0 : path.length + 1)
        return (path === '' || id.startsWith(`${path} `)) && word !== '' && !word.includes(' ') ? [{word, summary}] : []
      }),
      options: (info?.flags ?? []).map(optionOf),
      ...(argument === undefined ? {} : {argument}),
    })
  }
  return [...nodes.values()].flatMap(node => withFixedArguments(node, FIXED_ARGUMENTS[node.path] ?? []))
}

function withFixedArguments(node: CompletionNode, [first, ...later]: readonly (readonly string[])[]): readonly CompletionNode[] {
  if (first === undefined) return [node]
  const words = first.map(word => ({word, summary: `${node.path} ${word}`}))
  return [{...node, words}, ...first.flatMap(word => withFixedArguments({...node, path: `${node.path} ${word}`, words: []}, later))]
}

function optionOf(flag: FlagInfo): CompletionOption {
  const names = [`--${flag.name}`, ...(flag.char === undefined ? [] : [`-${flag.char}`])]
  const ask = BY_FLAG[flag.name]
  const values = flag.options ? {words: flag.options} : ask === undefined ? unaskedValues(flag) : {ask}
  return {names, summary: flag.summary, ...(flag.value === undefined ? {} : {values})}
}

/** Files where a file is meant; nothing where only the person can know. */
const unaskedValues = ({value = ''}: FlagInfo): CompletionValues => (/file|folder|dir/.test(value) ? {files: true} : {words: []})

function argumentOf(info: CommandInfo | undefined): CompletionValues | undefined {
  if (info === undefined) return undefined
  const ask = BY_COMMAND[info.id]
  if (ask !== undefined) return {ask}
  const options = info.args[0]?.options
  return options === undefined ? undefined : {words: options}
}
