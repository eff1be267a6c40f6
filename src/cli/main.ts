/** One call of the program: from its arguments to its exit code. The process itself is `bin`'s, and so are its streams (`process-streams.ts`). */
import {steadyClock, systemClock} from '../base/clock.ts'
import {type AppError, EXIT, type ExitCode} from '../base/errors.ts'
import {systemRandom} from '../base/random.ts'
import {Redactor} from '../base/redact.ts'
import {lockNamed} from '../base/standing-locks.ts'
import {processEnvironment} from '../config/environment.ts'
import {systemKeyring} from '../config/keyring.ts'
import {isDocumentFormat, renderOutput} from '../report/output-format.ts'
import {visible} from '../report/terminal-text.ts'
import {asksForHelp, normalizeArgv, outputFormatIn, secretsInArgv, strayOption} from './parse/argv.ts'
import {StrayOptionError} from './parse/usage-error.ts'
import {resolveCommand, resolveTopic} from './shell/command-table.ts'
import {CommandsHere} from './shell/commands-here.ts'
import {
  type Command,
  type CommandTable,
  type Context,
  folded,
  type OutputStream,
  paintFor,
  profilesOnce,
  terminalWidth,
} from './shell/context.ts'
import {createLog} from './shell/log.ts'
import {type CrashSite, onCrash} from './show/crash.ts'
import {guardedStream} from './show/guarded-stream.ts'
import {withInputOf} from './show/process-streams.ts'
import {asAppError, errorDocument, errorText} from './show/render-error.ts'
import {commandsOfLocks} from './show/standing-locks.ts'

export interface MainInput {
  readonly argv: readonly string[]
  readonly table: CommandTable
  readonly version: string
  /** What the process has, where a test gives its own. */
  readonly overrides?: Partial<Pick<Context, 'environment' | 'clock' | 'random' | 'streams' | 'cwd' | 'keyring'>>
  /** Where what nobody catches is heard of: the process, where there is one to end. */
  readonly site?: CrashSite
}

/** @returns the exit code; nothing is thrown, and everything printed is handed to the streams */
export async function main({argv, table, version, overrides = {}, site}: MainInput): Promise<ExitCode> {
  const words = normalizeArgv(argv)
  const redactor = new Redactor()
  for (const secret of secretsInArgv(words)) redactor.register(secret)
  const given = overrides.streams ?? process
  const {stdout, stderr} = given
  const streams = withInputOf(given, guardedStream(stdout, redactor), guardedStream(stderr, redactor))
  const here = new CommandsHere()
  commandsOfLocks(here.text)
  let command: Command | undefined
  let environment = overrides.environment
  const failed = (error: AppError, verbose = false) =>
    visible(redactor.text(errorText(error, paintFor(stderr, environment ?? PLAIN), verbose, here.text)))
  if (site !== undefined) onCrash(site, error => streams.stderr.write(failed(error)))
  try {
    environment ??= processEnvironment()
    for (const secret of environment.secrets) redactor.register(secret)
    const log = createLog(
      text => streams.stderr.write(text),
      redactor,
      environment.logLevel,
      paintFor(streams.stderr, environment).yellow('warning:'),
      line => folded(line, streams.stderr),
      here.text,
    )
    const context: Context = {
      environment,
      clock: steadyClock(systemClock),
      wallClock: overrides.clock ?? systemClock,
      random: systemRandom,
      cwd: process.cwd(),
      keyring: systemKeyring,
      ...overrides,
      streams,
      documents: stdout,
      redactor,
      table,
      version,
      log,
      here,
      profiles: profilesOnce(environment, log),
    }
    const helped = helpWords(words)
    if (helped !== undefined) return await showHelp(context, helped)
    const resolved = resolveCommand(table, words)
    if (resolved === undefined) {
      const stray = strayOption(words)
      if (stray !== undefined) throw new StrayOptionError(stray)
      return await showHelp(context, words)
    }
    const {default: Loaded} = await resolved.load()
    command = new Loaded(resolved.rest, context, resolved.id)
    return (await command.run()) ?? EXIT.ok
  } catch (thrown) {
    const error = asAppError(thrown)
    lockNamed(error)
    // One document for programs, unless the command's own is out already; text for people in any case.
    const format = outputFormatIn(words) ?? 'text'
    if (isDocumentFormat(format) && command?.printed !== true) {
      stdout.write(await renderOutput(redactor.value(errorDocument(error, here.text)), format))
    }
    const verbose = command?.context.log.shows('debug') === true || words.includes('-vv')
    streams.stderr.write(folded(failed(error, verbose), stderr))
    return error.exit
  }
}

/** When the environment itself is what is wrong. */
const PLAIN = {forceColor: false, noColor: true, all: {}}

/** The words help is asked about, or `undefined` when it is not: `help plan`, `plan --help`, `-h`, nothing at all. */
function helpWords(words: readonly string[]): readonly string[] | undefined {
  if (words.length === 0 || words[0] === 'help') return words.slice(1)
  return asksForHelp(words) ? words : undefined
}

async function showHelp(context: Context, words: readonly string[]): Promise<ExitCode> {
  const {streams, table, environment} = context
  const [{commandInfos}, {commandHelp, programHelp, topicHelp}] = await Promise.all([
    import('./shell/manifest.ts'),
    import('./show/help.ts'),
  ])
  const resolved = resolveCommand(table, words)
  const infos = await commandInfos(table)
  const paint = paintFor(streams.stdout, environment)
  const width = Math.min(120, terminalWidth(streams.stdout) ?? 100)
  const info = infos.find(({id}) => id === resolved?.id)
  const topic = resolveTopic(table, words)
  if (info !== undefined) streams.stdout.write(commandHelp(info, paint, width))
  else if (topic !== undefined) streams.stdout.write(topicHelp(topic, infos, table, paint, width))
  else streams.stdout.write(programHelp(infos, table, paint, width))
  return EXIT.ok
}

/** Resolves when everything written so far has left the process. */
export const flushed = (stream: OutputStream): Promise<void> => new Promise(resolve => void stream.write('', () => resolve()))
