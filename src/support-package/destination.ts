/** The place an archive goes to, looked at before anything is generated (contract section 4, "Pre-flight checks"). */
import {constants, createReadStream} from 'node:fs'
import {access, rm, stat, statfs} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import type {Clock} from '../base/clock.ts'
import {type FilePlace, placeToWrite} from '../base/file-place.ts'
import {pourInto} from '../base/named-file.ts'
import {temporaryFolder} from '../base/temporary-folder.ts'
import {DestinationError} from './package-errors.ts'

/** Contract section 8: "Low-disk warning". */
export const LOW_SPACE_BYTES = 1_000_000_000

export interface DestinationState {
  /** Bytes that may be written there; `undefined` where the system does not say. */
  readonly freeBytes: number | undefined
  readonly exists: boolean
}

/**
 * @param given - as typed; a folder gets the default name inside it
 * @returns absolute; a link is followed
 * @throws NotAFileError when something else stands there
 */
export async function destinationOf(cwd: string, given: string | undefined, defaultName: string): Promise<FilePlace> {
  const path = resolve(cwd, given ?? defaultName)
  const found = await stat(path).catch(() => undefined)
  return placeToWrite(found?.isDirectory() ? join(path, defaultName) : path)
}

/**
 * Makes an archive for a device or a FIFO: in a folder of its own, and written there once it is whole, for half an archive
 * could not be taken back.
 *
 * @param make - is given the path to make it at, and answers what it made and where, or no path when it made none
 */
export async function throughFolder<T extends {readonly path?: string | undefined}>(
  {path, fifo}: Extract<FilePlace, {is: 'stream'}>,
  {name, clock, signal}: {readonly name: string; readonly clock: Clock; readonly signal: AbortSignal},
  make: (target: string) => Promise<T>,
): Promise<T> {
  const folder = temporaryFolder('archive')
  try {
    const made = await make(join(folder, name))
    if (made.path !== undefined) {
      await pourInto(path, fifo, createReadStream(made.path, {highWaterMark: 256 * 1024}), clock, signal).catch(cause => {
        throw new DestinationError(path, cause instanceof Error ? cause.message : String(cause), cause)
      })
    }
    return made
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

/** @throws DestinationError when the folder cannot be written to */
export async function lookAtDestination(path: string): Promise<DestinationState> {
  const folder = dirname(path)
  const found = await stat(folder).catch(cause => {
    throw new DestinationError(path, `the folder ${folder} does not exist`, cause)
  })
  if (!found.isDirectory()) throw new DestinationError(path, `${folder} is no folder`)
  await access(folder, constants.W_OK | constants.X_OK).catch(cause => {
    throw new DestinationError(path, `the folder ${folder} is not writable`, cause)
  })
  const space = await statfs(folder).catch(() => undefined)
  const exists = await stat(path).then(
    () => true,
    () => false,
  )
  return {freeBytes: space === undefined ? undefined : space.bavail * space.bsize, exists}
}
