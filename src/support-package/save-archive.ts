/** From a flow of bytes to a whole archive under its name, checked on the way and optimised when asked. */
import {createReadStream} from 'node:fs'
import {dirname} from 'node:path'
import {ArchiveLimitError} from './archive-errors.ts'
import {type OptimizeResult, optimizeArchive} from './optimize-archive.ts'
import {ArchiveChangedError} from './package-errors.ts'
import {PartFile} from './part-file.ts'
import {verifyArchive} from './verify-archive.ts'

export interface SaveOptions {
  /** Absent: the archive is saved as it came. */
  readonly optimize?: {readonly logLines: number}
  /** What stands at the destination may go. Otherwise an archive for whose name somebody was faster stands beside it. */
  readonly replace: boolean
  /** Names the archive in errors. */
  readonly what: string
  /** Ends the flow at once: who stops reading would otherwise wait for the next bytes of a server that may have none. */
  readonly abandon?: () => void
}

export interface SavedArchive {
  readonly path: string
  readonly sizeBytes: number
  readonly optimization?: Optimization
}

export type Optimization =
  | {readonly applied: true; readonly result: OptimizeResult}
  /** The original was kept: it was no larger, or it could not be opened any further. */
  | {readonly applied: false; readonly reason: string; readonly result?: OptimizeResult}

/**
 * Writes `<target>.part` and gives it its name when the archive is proven whole; whatever fails leaves nothing behind.
 * @throws NotAnArchiveError, ArchiveCutShortError, ArchiveDamagedError, what `bytes` throws, and the system's errors
 */
export async function saveArchive(bytes: AsyncIterable<Uint8Array>, target: string, options: SaveOptions): Promise<SavedArchive> {
  const original = await PartFile.create(`${target}.part`)
  let sizeBytes = 0
  const flow = (async function* () {
    for await (const chunk of bytes) {
      await original.write(chunk)
      sizeBytes += chunk.length
      yield chunk
    }
  })()
  try {
    const {optimize, what, replace} = options
    if (optimize === undefined) {
      await verifyArchive(flow, what)
      return {path: await original.commit(target, {replace}), sizeBytes}
    }
    const optimized = await PartFile.create(`${target}.optimized.part`)
    try {
      const outcome = await optimizeOrKeep(flow, optimized, original, {...optimize, what, folder: dirname(target)})
      if (!outcome.applied) {
        return {path: await original.commit(target, {replace}), sizeBytes, optimization: outcome}
      }
      return {path: await optimized.commit(target, {replace}), sizeBytes: outcome.result.sizeAfter, optimization: outcome}
    } finally {
      await optimized.discard()
    }
  } catch (error) {
    // It has ended by itself, and the connection is needed for the next one.
    if (!(error instanceof ArchiveChangedError)) options.abandon?.()
    throw error
  } finally {
    await flow.return().catch(() => {})
    await original.discard()
  }
}

async function optimizeOrKeep(
  flow: AsyncGenerator<Uint8Array>,
  optimized: PartFile,
  original: PartFile,
  options: Parameters<typeof optimizeArchive>[2],
): Promise<Optimization> {
  // Lent: who stops reading must not stop the download.
  const lent: AsyncIterable<Uint8Array> = {[Symbol.asyncIterator]: () => ({next: () => flow.next()})}
  try {
    const result = await optimizeArchive(lent, optimized.write, options)
    return result.sizeAfter < result.sizeBefore ? {applied: true, result} : {applied: false, reason: 'it would not be smaller', result}
  } catch (error) {
    if (!(error instanceof ArchiveLimitError)) throw error
    for await (const _ of flow);
    await verifyArchive(createReadStream(original.path, {highWaterMark: 256 * 1024}), options.what)
    return {applied: false, reason: error.message}
  }
}
