/**
 * The commands there are, by the words that call them, each behind an import that happens when it is called.
 *
 * To add a command: write `src/commands/<topic>/<name>.ts` with a class that extends `BaseCommand` as its default
 * export (a summary, at least two examples, flags from `flags.ts`, a `run`), add its line to `src/bin/command-list.ts`, and its
 * manual page to "man" of package.json (npm links what is listed there, and nothing else).
 */
import {UnknownCommandError} from '../parse/usage-error.ts'
import type {CommandTable, LoadCommand} from './context.ts'

/** These words may be left out (contract section 4: `<cli> enterprise endpoint stats` is also `<cli> endpoint stats`). */
export const OPTIONAL_TOPIC = 'enterprise'

export interface ResolvedCommand {
  readonly id: string
  readonly load: LoadCommand
  /** What follows the command's words. */
  readonly rest: string[]
}

/**
 * The longest command that the line begins with.
 * @returns `undefined` when it begins with a topic alone, or with nothing
 * @throws UnknownCommandError with the nearest known one
 */
export function resolveCommand({commands, topics}: CommandTable, argv: readonly string[]): ResolvedCommand | undefined {
  const words = leadingWords(argv)
  for (let count = words.length; count > 0; count--) {
    const typed = words.slice(0, count).join(' ')
    for (const id of [typed, `${OPTIONAL_TOPIC} ${typed}`]) {
      const load = Object.hasOwn(commands, id) ? commands[id] : undefined
      if (load !== undefined) return {id, load, rest: argv.slice(count)}
    }
  }
  if (words.length === 0 || topicOf(topics, words) === words.join(' ')) return undefined
  throw unknownCommand({commands, topics}, words)
}

/** The topic that these words name, in full (`endpoint` is `enterprise endpoint`), or the longest beginning that is one. */
export function resolveTopic({topics}: CommandTable, argv: readonly string[]): string | undefined {
  const words = leadingWords(argv)
  const typed = topicOf(topics, words)
  if (typed === undefined) return undefined
  return Object.hasOwn(topics, typed) ? typed : `${OPTIONAL_TOPIC} ${typed}`
}

function topicOf(topics: CommandTable['topics'], words: readonly string[]): string | undefined {
  for (let count = words.length; count > 0; count--) {
    const typed = words.slice(0, count).join(' ')
    if (Object.hasOwn(topics, typed) || Object.hasOwn(topics, `${OPTIONAL_TOPIC} ${typed}`)) return typed
  }
  return undefined
}

function unknownCommand({commands, topics}: CommandTable, words: readonly string[]): UnknownCommandError {
  const topic = topicOf(topics, words)
  const depth = topic === undefined ? 0 : topic.split(' ').length
  const typed = words.slice(0, depth + 1).join(' ')
  const short = (id: string) => (id.startsWith(`${OPTIONAL_TOPIC} `) ? [id, id.slice(OPTIONAL_TOPIC.length + 1)] : [id])
  const known = [...Object.keys(commands), ...Object.keys(topics)].flatMap(short).filter(id => id.split(' ').length === depth + 1)
  // `databases`, as if its topic were not needed: whose last words these are.
  const below = [...Object.keys(commands), ...Object.keys(topics)].filter(
    id => id.endsWith(` ${words.join(' ')}`) || id.endsWith(` ${typed}`),
  )
  return new UnknownCommandError(typed, known, below, topic)
}

function leadingWords(argv: readonly string[]): readonly string[] {
  const firstOption = argv.findIndex(word => word.startsWith('-'))
  return argv.slice(0, firstOption < 0 ? argv.length : firstOption).slice(0, 4)
}
