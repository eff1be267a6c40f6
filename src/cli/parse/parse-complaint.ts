/** The parser's complaint in our words: what is wrong with which option, and the next step. None of them quotes a value, which may be a secret. */
import {AppError} from '../../base/errors.ts'
import {nearest} from '../../base/nearest.ts'
import {UsageError} from '../../base/usage-error.ts'
import {CLIError} from './oclif.ts'
import {MissingArgumentError, UnknownOptionError} from './usage-error.ts'

/** What is to be known of an option, as oclif defines it. */
export interface KnownFlag {
  readonly type: 'boolean' | 'option'
  readonly char?: string
  readonly aliases?: readonly string[]
  readonly options?: readonly unknown[]
  readonly multiple?: boolean
  readonly required?: boolean
  readonly exclusive?: readonly unknown[]
}

export interface KnownArg {
  readonly options?: readonly unknown[]
}

export interface Parsed {
  /** The words of the command: `profile set`. */
  readonly command: string
  readonly argv: readonly string[]
  readonly flags: Readonly<Record<string, KnownFlag>>
  readonly args: Readonly<Record<string, KnownArg>>
}

/** @returns what is to be thrown instead of `error` */
export function asUsageError(error: unknown, parsed: Parsed): unknown {
  const {command, flags, args} = parsed
  const help = `See how it is used: svcctl ${command} --help`
  if (error instanceof AppError) {
    // The parser puts words of its own around what a flag's parse function throws.
    const wrapped = /^Parsing (--\S+) \n\t([\s\S]*)\nSee more help with --help$/.exec(error.message)
    if (wrapped) error.message = `${wrapped[1]}: ${wrapped[2]}`
    return error instanceof UsageError && error.suggestions.length === 0 ? new UsageError(error.message, [help], error) : error
  }
  if (!(error instanceof CLIError)) return error
  if ('flags' in error && isTexts(error.flags)) {
    const known = Object.entries(flags).flatMap(([name, {char}]) => [`--${name}`, ...(char === undefined ? [] : [`-${char}`])])
    return new UnknownOptionError(error.flags, known, command)
  }
  if ('args' in error && isTexts(error.args)) {
    const takes = Object.keys(args).length || 'none'
    return new UsageError(`${error.args.length} argument${error.args.length === 1 ? '' : 's'} too many: "${command}" takes ${takes}`, [
      help,
    ])
  }
  if ('args' in error && Array.isArray(error.args)) {
    const names = error.args.map(arg => String(arg.name).toUpperCase())
    return new MissingArgumentError('argument', names, command)
  }
  return complaintAbout(parsed, help) ?? new UsageError(error.message.replace(/\nSee more help with --help$/, ''), [help], error)
}

/** The parser says these in a text alone: the command line is looked at again. */
function complaintAbout({command, argv, flags, args}: Parsed, help: string): AppError | undefined {
  const {values, words, bare} = givenIn(argv, flags)
  const [empty] = bare
  if (empty !== undefined)
    return new UsageError(`--${empty} needs a value${flags[empty]?.options === undefined ? '' : ','}${choiceOf(flags[empty])}`, [help])
  for (const [name, {options, multiple}] of Object.entries(flags)) {
    const given = values.get(name) ?? []
    const known = options?.map(String)
    const wrong = known && given.find(value => !known.includes(value))
    if (wrong !== undefined) return new UsageError(`--${name} takes${choiceOf(flags[name])}`, [...close(`--${name} `, wrong, known), help])
    if (given.length > 1 && flags[name]?.type === 'option' && !multiple) {
      return new UsageError(`--${name} is given ${given.length} times`, ['Give it once.', help])
    }
  }
  for (const [at, [name, {options}]] of Object.entries(args).entries()) {
    const known = options?.map(String)
    const wrong = words[at]
    if (known === undefined || wrong === undefined || known.includes(wrong)) continue
    return new UsageError(`${name.toUpperCase()} is${choiceOf({options: known})}`, [...close('', wrong, known), help])
  }
  for (const [name, {exclusive = []}] of Object.entries(flags)) {
    const other = exclusive.find(it => typeof it === 'string' && values.has(it))
    if (other !== undefined && values.has(name)) return new ExcludingOptionsError(name, String(other))
  }
  const missing = Object.entries(flags).flatMap(([name, {required}]) => (required && !values.has(name) ? [`--${name}`] : []))
  return missing.length > 0 ? new MissingArgumentError('option', missing, command) : undefined
}

/** Two options of which only one can be meant. */
export class ExcludingOptionsError extends UsageError {
  constructor(one: string, other: string) {
    super(`--${one} and --${other} exclude each other`, ['Leave one of them away.'])
  }
}

const choiceOf = (flag: KnownFlag | KnownArg | undefined): string =>
  flag?.options === undefined ? '' : ` one of: ${flag.options.map(String).join(', ')}`

function close(prefix: string, wrong: string, known: readonly string[] = []): string[] {
  const meant = nearest(wrong, known)
  return meant === undefined ? [] : [`Did you mean ${prefix}${meant}?`]
}

interface Given {
  /** By the option's own name, in the order given; a switch has empty text. */
  readonly values: ReadonlyMap<string, readonly string[]>
  /** What belongs to no option. */
  readonly words: readonly string[]
  /** Options that need a value, and none follows. */
  readonly bare: readonly string[]
}

/** As the parser reads a command line: `--name value`, `--name=value`, `-c value`, `-cvalue`, switches alone. */
function givenIn(argv: readonly string[], flags: Parsed['flags']): Given {
  const nameOf = (word: string): string | undefined => {
    if (/^-[^-]/.test(word)) return Object.entries(flags).find(([, {char}]) => char === word[1])?.[0]
    const long = word.startsWith('--') ? word.slice(2).split('=')[0] : undefined
    if (long === undefined || long === '') return undefined
    const own = (name: string) => Object.entries(flags).find(([key, {aliases}]) => key === name || aliases?.includes(name))?.[0]
    return own(long) ?? own(long.replace(/^no-/, ''))
  }
  const values = new Map<string, string[]>()
  const words: string[] = []
  const bare: string[] = []
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? ''
    if (word === '--') {
      words.push(...argv.slice(at + 1))
      break
    }
    const name = nameOf(word)
    if (name === undefined) {
      words.push(word)
      continue
    }
    const given = values.get(name) ?? []
    values.set(name, given)
    if (flags[name]?.type === 'boolean') given.push('')
    else {
      const attached = /^-[^-]=?(.+)$/s.exec(word)?.[1] ?? /^--[^=]+=(.*)$/s.exec(word)?.[1]
      const value = attached ?? argv[++at]
      if (value === undefined || nameOf(value) !== undefined) bare.push(name)
      else given.push(value)
    }
  }
  return {values, words, bare}
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every(item => typeof item === 'string')
