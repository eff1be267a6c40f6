/** The system's own word for why a connection failed: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */

/** The parser of answers is WebAssembly, which reserves gigabytes of addresses: a limit on these (`ulimit -v`) has no code. */
const isOutOfMemory = (error: Error): boolean => error instanceof RangeError && /\bout of memory\b/i.test(error.message)

/** The code of an error, or of the first of several (a name with many addresses fails with one error for each). */
export function networkCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  if (isOutOfMemory(error)) return 'ENOMEM'
  return error instanceof AggregateError ? networkCode(error.errors[0]) : networkCode(error.cause)
}

/** What the system does not let this process have: no server is to blame, and no proxy. */
export const OWN_LIMITS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])
