/**
 * oclif parses the command line, and what is wrong with it is said in our words: what with which option, and the next
 * step. Nothing is read from oclif's messages. A value is judged where oclif asks for it (the `parse` of each flag and
 * argument, which is also handed the choices and told when an option comes twice), and all else by what its errors carry:
 * `flags`, `args`, and the parsed line. No error quotes a value, which may be a secret.
 */
import {AppError} from '../../base/errors.ts'
import {nearest} from '../../base/nearest.ts'
import {UsageError} from '../../base/usage-error.ts'
import {CLIError, type Interfaces, parse} from './oclif.ts'
import {ExcludingOptionsError, MissingArgumentError, UnknownOptionError} from './usage-error.ts'

type FlagValues = Interfaces.OutputFlags<Interfaces.FlagInput>
type ArgValues = Interfaces.OutputArgs<Interfaces.ArgInput>

export interface CommandLine {
  /** The words of the command: `profile set`. */
  readonly command: string
  readonly argv: readonly string[]
  readonly flags: Interfaces.FlagInput
  readonly args: Interfaces.ArgInput
  /** `false` takes any number of arguments. */
  readonly strict: boolean | undefined
}

/** @throws UsageError, UnknownOptionError, MissingArgumentError, and what the `parse` of a flag throws */
export async function parseCommandLine(line: CommandLine): Promise<Interfaces.ParserOutput<FlagValues, FlagValues, ArgValues>> {
  const {argv, flags, args, strict} = line
  const judged = {
    flags: Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, judgedFlag(name, flag)])),
    args: Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, judgedArg(name, arg)])),
  }
  try {
    const output = await parse<FlagValues, FlagValues, ArgValues>([...argv], {...judged, ...(strict !== undefined && {strict})})
    const single = Object.entries(output.flags).map(([name, value]) => [name, isOnce(flags[name]) ? firstOf(value) : value])
    return {...output, flags: Object.fromEntries(single)}
  } catch (error) {
    throw complaint(error, line)
  }
}

type Flag = Interfaces.FlagInput[string]
type Arg = Interfaces.ArgInput[string]

/** An option with a value that may be given once. */
const isOnce = (flag: Flag | undefined): boolean => flag?.type === 'option' && flag.multiple !== true

const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value)

/** Carries what is wrong with a value past oclif, which changes the message of what a flag's `parse` throws. */
class JudgedError extends Error {
  constructor(override readonly cause: unknown) {
    super('a value was refused')
  }
}

/** Takes any value any number of times, and judges each itself. */
function judgedFlag(name: string, flag: Flag): Flag {
  if (flag.type !== 'option') return flag
  let given = 0
  const {options: choices, ...rest} = flag
  const judge: typeof flag.parse = async (text, context, options) => {
    given += 1
    // All that were given are counted by then.
    await undefined
    judgeChoice(`--${name} takes`, `--${name} `, text, choices)
    if (given > 1 && isOnce(flag)) throw new JudgedError(new WrongValueError(`--${name} is given ${given} times`, ['Give it once.']))
    try {
      return await flag.parse(text, context, options)
    } catch (error) {
      if (error instanceof AppError) error.message = `--${name}: ${error.message}`
      throw new JudgedError(error)
    }
  }
  return {...rest, multiple: true, multipleNonGreedy: isOnce(flag) || flag.multipleNonGreedy === true, parse: judge}
}

function judgedArg(name: string, arg: Arg): Arg {
  const {options: choices, ...rest} = arg
  const judge: Arg['parse'] = (text, context, options) => {
    judgeChoice(`${name.toUpperCase()} is`, '', text, choices)
    return arg.parse(text, context, options)
  }
  return {...rest, parse: judge}
}

/** The command's help is the next step, whatever else is. */
class WrongValueError extends UsageError {}

/** @throws JudgedError with the nearest of them */
function judgeChoice(what: string, prefix: string, value: string, choices: readonly string[] | undefined): void {
  if (choices === undefined || choices.includes(value)) return
  const meant = nearest(value, choices)
  const close = meant === undefined ? [] : [`Did you mean ${prefix}${meant}?`]
  throw new JudgedError(new WrongValueError(`${what} one of: ${choices.join(', ')}`, close))
}

function complaint(error: unknown, {command, argv, flags, args}: CommandLine): unknown {
  const help = `See how it is used: svcctl ${command} --help`
  if (error instanceof JudgedError || error instanceof AppError) {
    const own = error instanceof JudgedError ? error.cause : error
    const helpless = own instanceof WrongValueError || (own instanceof UsageError && own.suggestions.length === 0)
    return helpless ? new UsageError(own.message, [...own.suggestions, help], own) : own
  }
  if (!(error instanceof CLIError)) return error
  if ('flags' in error && isTexts(error.flags)) {
    const known = Object.entries(flags).flatMap(([name, {char}]) => [`--${name}`, ...(char === undefined ? [] : [`-${char}`])])
    return new UnknownOptionError(error.flags, known, command)
  }
  if ('args' in error && isTexts(error.args)) {
    const {length} = error.args
    return new UsageError(
      `${length} argument${length === 1 ? '' : 's'} too many: "${command}" takes ${Object.keys(args).length || 'none'}`,
      [help],
    )
  }
  if ('args' in error && Array.isArray(error.args)) {
    return new MissingArgumentError(
      'argument',
      error.args.map(arg => String(arg.name).toUpperCase()),
      command,
    )
  }
  // What is left: rules between options, of a line that parsed, and before that an option without its value.
  if ('parse' in error && isParsed(error.parse)) return brokenRule(error.parse.output.flags, flags, command) ?? error
  const bare = withoutValue(argv, flags)
  if (bare === undefined) return error
  const choices = flags[bare]?.type === 'option' ? flags[bare].options : undefined
  return new UsageError(`--${bare} needs a value${choices === undefined ? '' : `, one of: ${choices.join(', ')}`}`, [help])
}

function brokenRule(given: FlagValues, flags: Interfaces.FlagInput, command: string): AppError | undefined {
  for (const [name, {exclusive = []}] of Object.entries(flags)) {
    const other = exclusive.find(it => typeof it === 'string' && given[it] !== undefined)
    if (other !== undefined && given[name] !== undefined) return new ExcludingOptionsError(name, String(other))
  }
  const missing = Object.entries(flags).flatMap(([name, {required}]) =>
    required === true && given[name] === undefined ? [`--${name}`] : [],
  )
  return missing.length > 0 ? new MissingArgumentError('option', missing, command) : undefined
}

/** The first option that nothing follows, or another option: there oclif stops, and its error does not carry the name. */
function withoutValue(argv: readonly string[], flags: Interfaces.FlagInput): string | undefined {
  // As oclif looks one up; `--name=value` is none to it.
  const optionOf = (word = ''): string | undefined =>
    Object.entries(flags).find(
      ([name, {char, aliases = []}]) =>
        [name, ...aliases].some(it => word === `--${it}`) || (char !== undefined && word.startsWith(`-${char}`)),
    )?.[0]
  for (let at = 0; at < argv.length && argv[at] !== '--'; at++) {
    const name = optionOf(argv[at])
    const attached = !argv[at]?.startsWith('--') && (argv[at] ?? '').length > 2
    if (name === undefined || attached || flags[name]?.type !== 'option') continue
    at += 1
    if (argv[at] === undefined || optionOf(argv[at]) !== undefined) return name
  }
  return undefined
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every(item => typeof item === 'string')

const isParsed = (value: unknown): value is {readonly output: {readonly flags: FlagValues}} =>
  typeof value === 'object' && value !== null && 'output' in value
