/** Errors of constructs, thrown in the user's program: whoever runs it by hand reads one line and what to do, and no dumped object. */
import {AppError, EXIT} from '../../base/errors.ts'
import {callerLine} from './source-line.ts'

export interface ConstructFault {
  readonly code: `E_${string}`
  readonly problem: string
  readonly suggestion: string
  /** JSON pointer in the spec. */
  readonly pointer?: string
  /** Where the construct was made; without it, where the program is now. */
  readonly place?: string | undefined
  readonly cause?: unknown
}

export abstract class ConstructError extends AppError {
  /** @param path - of the construct */
  constructor(path: string, {code, problem, suggestion, pointer, place = callerLine(), cause}: ConstructFault) {
    const message = `${path}: ${pointer === undefined ? '' : `${pointer || 'the spec'} `}${problem}`
    super(message, {
      code,
      exit: EXIT.usage,
      suggestions: [suggestion],
      problems: [
        {message: problem, ...(pointer === undefined ? {} : {path: pointer}), source: place === undefined ? path : `${place} (${path})`},
      ],
      cause,
    })
    // What Node prints of an error that nobody catches is its stack and its fields; `app-failure.ts` reads this again.
    const text = `${place === undefined ? '' : `${place}: `}${message} (${code})\n  > ${suggestion}\n    at ${place ?? path}`
    Object.defineProperty(this, 'stack', {value: text, configurable: true, writable: true})
    for (const field of Object.keys(this)) Object.defineProperty(this, field, {enumerable: false})
  }
}
