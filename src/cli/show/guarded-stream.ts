/** A stream of the process through which no secret leaves as text, whoever writes it and in how many pieces of the program. */
import type {Redactor} from '../../base/redact.ts'
import type {OutputStream} from '../shell/context.ts'

/**
 * The same stream, but text that is written has every known secret hidden. Bytes are what somebody asked for as they
 * are (`--raw`). Documents do not go through here: in JSON a secret that is an ordinary word must not replace a switch
 * or a number, so that they are redacted value by value, and written to `documents` of the context.
 */
export function guardedStream(stream: OutputStream, redactor: Redactor): OutputStream {
  const write = (chunk: string | Uint8Array, ...rest: [BufferEncoding?, (() => void)?]): boolean =>
    Reflect.apply(stream.write, stream, [typeof chunk === 'string' ? redactor.text(chunk) : chunk, ...rest]) as boolean
  return new Proxy(stream, {
    get(target, name) {
      if (name === 'write') return write
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
