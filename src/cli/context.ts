/** What commands get from outside, all of it as parameters: a test gives its own. */
import {Ansis} from 'ansis'
import {wideModes} from '../config/config-file.ts'
import type {Environment} from '../config/environment.ts'
import type {Keyring} from '../config/keyring.ts'
import {Profiles} from '../config/profiles.ts'
import {roughWidth, wrapText} from '../report/wrap-text.ts'
import type {Host} from '../run/host.ts'
import type {CommandTable} from './command-table.ts'
import type {Log} from './show/log.ts'

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

export interface Context extends Host {
  /** Text that is written to them is redacted on its way. */
  readonly streams: Streams
  /** Standard output for what is redacted value by value already: documents. */
  readonly documents: OutputStream
  readonly log: Log
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
export const widthOf = ({isTTY, columns}: OutputStream): number | undefined =>
  isTTY === true && columns !== undefined && columns > 0 ? columns : undefined

/** For a terminal, in lines of its width. */
export function folded(text: string, stream: OutputStream): string {
  const width = widthOf(stream)
  return width === undefined ? text : wrapText(text, width, roughWidth)
}

/** Colours for one of the streams: none unless it is a terminal; NO_COLOR and FORCE_COLOR decide. */
export function paintFor(stream: OutputStream, environment: Pick<Environment, 'forceColor' | 'noColor' | 'all'>): Ansis {
  const colours = environment.forceColor || (!environment.noColor && stream.isTTY === true && environment.all.TERM !== 'dumb')
  return new Ansis(colours ? 1 : 0)
}
