/** What does not parse: exit 64, before anything else is looked at. */
import {AppError, EXIT} from '../../base/errors.ts'
import {nearest} from '../../base/nearest.ts'
import {UsageError} from '../../base/usage-error.ts'

export class UnknownOptionError extends AppError {
  /** @param options - as typed; a value behind `=` is cut off, for it may be a secret */
  constructor(options: readonly string[], known: readonly string[], command: string) {
    const names = options.map(option => option.split('=')[0] ?? '')
    const close = names.flatMap(name => nearest(name, known) ?? [])
    super(`unknown option${names.length === 1 ? '' : 's'}: ${names.join(', ')}`, {
      code: 'E_UNKNOWN_OPTION',
      exit: EXIT.usage,
      suggestions: [...close.map(name => `Did you mean ${name}?`), `See the options: svcctl ${command} --help`],
    })
  }
}

/** An option where the command should be. */
export class StrayOptionError extends UsageError {
  constructor(option: string) {
    super(`${option} stands where the command should be`, [
      `Put it behind the command: svcctl <command> ${option} …`,
      'See all commands: svcctl --help',
    ])
  }
}

export class MissingArgumentError extends AppError {
  constructor(what: 'argument' | 'option', names: readonly string[], command: string) {
    super(`missing required ${what}${names.length === 1 ? '' : 's'}: ${names.join(', ')}`, {
      code: 'E_MISSING_ARGUMENT',
      exit: EXIT.usage,
      suggestions: [`See how it is used: svcctl ${command} --help`],
    })
  }
}

export class UnknownCommandError extends AppError {
  /**
   * @param typed - the words that name no command
   * @param known - commands it may have meant; they differ in the last word
   * @param below - commands that end in these words
   */
  constructor(typed: string, known: readonly string[], below: readonly string[], topic?: string) {
    // By the last word alone: those before it are right, and would make anything look close.
    const lastOf = (words: string) => words.slice(words.lastIndexOf(' ') + 1)
    const inTopic = topic === undefined ? known : known.filter(id => id.startsWith(`${topic} `))
    const word = below.length > 0 ? undefined : nearest(lastOf(typed), inTopic.map(lastOf))
    const close = below.length > 0 ? below : inTopic.filter(id => lastOf(id) === word).slice(0, 1)
    super(`unknown command: ${typed}`, {
      code: 'E_UNKNOWN_COMMAND',
      exit: EXIT.usage,
      suggestions: [
        ...close.map(id => `Did you mean: svcctl ${id}`),
        `See all commands: svcctl ${topic === undefined ? '' : `${topic} `}--help`,
      ],
    })
  }
}

/** Two options of which only one can be meant. */
export class ExcludingOptionsError extends UsageError {
  constructor(one: string, other: string) {
    super(`--${one} and --${other} exclude each other`, ['Leave one of them out.'])
  }
}
