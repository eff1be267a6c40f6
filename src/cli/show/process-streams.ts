/**
 * The streams of the process. None of them stops what is under way: a reader that went away (`| head`, EPIPE) or a closed
 * terminal (EIO) is no error, and a full disk is one that is told in a line once everything is done.
 */
import {writeSync} from 'node:fs'
import {AppError, EXIT, type ExitCode} from '../../base/errors.ts'
import {systemCode} from '../../base/system-code.ts'
import type {OutputStream, Streams} from '../shell/context.ts'

/** What was printed is not all there. What was done is done, and on record. */
export class OutputError extends AppError {
  constructor(stream: 'output' | 'error', cause: Error) {
    super(`standard ${stream} could not be written (${systemCode(cause) ?? cause.message}): its content is incomplete`, {
      code: 'E_OUTPUT',
      suggestions: ['Free some space where it goes, and look at what was done: svcctl runs list'],
      cause,
    })
  }
}

export interface ProcessStreams {
  readonly streams: Streams
  /** The last thing to ask before the process ends. @returns its exit code: output that broke off is no success */
  exitCode(code: ExitCode): ExitCode
}

export function processStreams(all: Streams = process): ProcessStreams {
  const {stdout, stderr} = all
  let failure: OutputError | undefined
  const watch = (stream: NodeJS.WritableStream, name: 'output' | 'error') =>
    stream.on('error', (error: Error) => {
      const code = systemCode(error)
      if (code !== 'EPIPE' && code !== 'EIO') failure ??= new OutputError(name, error)
    })
  watch(stdout, 'output')
  watch(stderr, 'error')
  return {
    streams: withInputOf(all, stdout, stderr),
    exitCode: code => {
      if (failure === undefined) return code
      sayAtOnce(`error: ${failure.message} (${failure.code})\n  > ${failure.suggestions[0]}\n`)
      return code === EXIT.ok || code === EXIT.changes ? failure.exit : code
    },
  }
}

/** The input is opened when it is asked for: most commands read nothing. */
export const withInputOf = (all: Pick<Streams, 'stdin'>, stdout: OutputStream, stderr: OutputStream): Streams => ({
  get stdin() {
    return all.stdin
  },
  stdout,
  stderr,
})

function sayAtOnce(text: string): void {
  try {
    writeSync(2, text)
  } catch {
    // Standard error is what is full: there is nowhere left to say it, and the exit code does.
  }
}
