/**
 * Room in Node's pool of threads: one for each processor that makes digests, and two for what goes by threads beside
 * them (files, names of servers). To be called before anything uses the pool: it is as large as it is then for good.
 */
import {processorsAtWork} from '../base/processors.ts'

/** Node's own. */
const USUAL = 4
const OTHERS = 2

/** @returns the variable that says so; a size that somebody chose stays */
export function makeThreadsFor(processors = processorsAtWork()): string {
  const chosen = process.env.UV_THREADPOOL_SIZE
  if (chosen) return chosen
  const threads = String(Math.max(USUAL, processors + OTHERS))
  process.env.UV_THREADPOOL_SIZE = threads
  return threads
}
