/** The place an archive goes to, looked at before anything is generated (contract section 4, "Pre-flight checks"). */
import {constants} from 'node:fs'
import {access, stat, statfs} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
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
 * @returns absolute
 */
export async function destinationOf(cwd: string, given: string | undefined, defaultName: string): Promise<string> {
  const path = resolve(cwd, given ?? defaultName)
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() ? join(path, defaultName) : path
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
