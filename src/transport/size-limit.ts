/** A bound on bodies that flow somewhere and are never held: what a person allows (`--max-size`), beside what a disk has room for. */
import {AppError} from '../base/errors.ts'
import {formatSizeBytes} from '../base/units.ts'

/** More came than was allowed, or was announced. */
export class BodyTooLargeError extends AppError {
  constructor(what: string, maxBytes: number, announcedBytes?: number) {
    const size = announcedBytes === undefined ? 'is larger' : `has ${formatSizeBytes(announcedBytes)}, which is more`
    super(`${what} ${size} than --max-size ${formatSizeBytes(maxBytes)} allows`, {
      code: 'E_BODY_TOO_LARGE',
      suggestions: ['If the server is right to send so much, allow it with a larger --max-size, or leave the option out.'],
    })
  }
}

export interface SizeLimit {
  /** Absent: no bound. */
  readonly maxBytes: number | undefined
  /** Names the body in errors: `the support package`. */
  readonly what: string
}

/**
 * The same bytes; no more than allowed are ever handed on, and none where the server announces more.
 * @param headers - of the answer
 * @throws BodyTooLargeError
 */
export async function* atMost(
  body: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>>,
  {maxBytes = Number.POSITIVE_INFINITY, what}: SizeLimit,
): AsyncGenerator<Uint8Array> {
  const announced = Number(headers['content-length'])
  if (announced > maxBytes) throw new BodyTooLargeError(what, maxBytes, announced)
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > maxBytes) throw new BodyTooLargeError(what, maxBytes)
    yield part
  }
}
