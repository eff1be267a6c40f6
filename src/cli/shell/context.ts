/** What commands get from outside, all of it as parameters: a test gives its own. */
import {Ansis} from 'ansis'
import type {ExitCode} from '../../base/errors.ts'
import {wideModes} from '../../config/config-file.ts'
import type {Environment} from '../../config/environment.ts'
import type {Keyring} from '../../config/keyring.ts'
import {Profiles} from '../../config/profiles.ts'
import {roughWidth, wrapText} from '../../report/wrap-text.ts'
import type {Host} from '../../run/host/host.ts'
import type {CommandsHere} from './commands-here.ts'
import type {Log} from './log.ts'

export interface InputStream extends NodeJS.ReadableStream {
  readonly isTTY?: boolean
  setRawMode?(raw: boolean): unknown
}

export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export interface Streams {
  readonly stdin: InputStream
  readonly stdout: OutputStream
  readonly stderr: OutputStream
}

/** A command as the shell calls it; `cli/base-command.ts` is what all of them extend. */
export interface Command {
  readonly context: Context
  /** A result is out already. */
  readonly printed: boolean
  /** @returns the exit code when it is not 0 */
  run(): Promise<ExitCode | undefined>
}

/** What is read of oclif's definitions of options and arguments. */
export interface Definition {
  readonly type?: string
  readonly char?: string
  readonly summary?: string
  readonly description?: string
  readonly helpGroup?: string
  readonly helpValue?: string | string[]
  readonly options?: readonly unknown[]
  readonly multiple?: boolean
  readonly required?: boolean
  readonly allowNo?: boolean
  readonly hidden?: boolean
}

type Definitions = Readonly<Record<string, Definition>>

export interface CommandClass {
  new (argv: string[], context: Context, id: string): Command
  readonly summary: string
  readonly description: string | undefined
  readonly examples: readonly string[]
  readonly args: Definitions
  readonly flags: Definitions
  readonly baseFlags: Definitions
  readonly strict: boolean
  readonly hidden: boolean
}

export type LoadCommand = () => Promise<{readonly default: CommandClass}>

export interface CommandTable {
  /** `'profile set'` and how to load it. */
  readonly commands: Readonly<Record<string, LoadCommand>>
  /** `'profile'` and what its commands are about. */
  readonly topics: Readonly<Record<string, string>>
}

export interface Context extends Host {
  /** Text that is written to them is redacted on its way. */
  readonly streams: Streams
  /** Standard output for what is redacted value by value already: documents. */
  readonly documents: OutputStream
  readonly log: Log
  /** What suggested commands need to work here. */
  readonly here: CommandsHere
  readonly keyring: Keyring
  readonly table: CommandTable
  /** Read at the first call, and not again. @throws ConfigSyntaxError, ConfigAccessError, ProfileValueError */
  profiles(): Profiles
}

/** Reads the configuration at the first call, and says so when others of this machine can read it too. */
export function profilesOnce(environment: Environment, log: Log): () => Profiles {
  let loaded: Profiles | undefined
  return () => {
    if (loaded === undefined) {
      loaded = Profiles.load(environment.configFile, environment.all)
      for (const {path, mode, wanted} of wideModes(environment.configFile)) {
        log.warn(`${path} has mode ${mode}, wider than ${wanted}: close it with "svcctl profile validate --fix"`)
      }
    }
    return loaded
  }
}

/** Somebody is there to answer a question. */
export const isInteractive = ({streams, environment}: Pick<Context, 'streams' | 'environment'>): boolean =>
  streams.stdin.isTTY === true && streams.stderr.isTTY === true && !environment.ci

/** How wide text for people may be: a terminal's width; `undefined` where a program may read it. */
export const terminalWidth = ({isTTY, columns}: OutputStream): number | undefined =>
  isTTY === true && columns !== undefined && columns > 0 ? columns : undefined

/** For a terminal, in lines of its width. */
export function folded(text: string, stream: OutputStream): string {
  const width = terminalWidth(stream)
  return width === undefined ? text : wrapText(text, width, roughWidth)
}

/** Colours for one of the streams: none unless it is a terminal; NO_COLOR and FORCE_COLOR decide. */
export function paintFor(stream: OutputStream, environment: Pick<Environment, 'forceColor' | 'noColor' | 'all'>): Ansis {
  const colours = environment.forceColor || (!environment.noColor && stream.isTTY === true && environment.all.TERM !== 'dumb')
  return new Ansis(colours ? 1 : 0)
}
