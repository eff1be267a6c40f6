/** The one way to make a folder and what is missing above it. */
import {existsSync, mkdirSync} from 'node:fs'
import {dirname} from 'node:path'
import {assertStaysInCheckout} from './file-place.ts'
import {isAbsent, systemCode} from './system-code.ts'

/**
 * Folder by folder: where the system says of a folder it refuses to make that its parent is missing (/proc), Node's own
 * `recursive` never ends.
 *
 * @param mode - of the folders made; the umask's unless told
 * @throws NotAFileError where a link of a checkout leads elsewhere; the system's error, in words that name the folder
 */
export function makeFolder(folder: string, mode?: number): void {
  assertStaysInCheckout(folder)
  make(folder, mode)
}

function make(folder: string, mode: number | undefined): void {
  if (existsSync(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) make(parent, mode)
  try {
    mkdirSync(folder, mode === undefined ? undefined : {mode})
  } catch (error) {
    const code = systemCode(error)
    // Somebody else makes it at the same time.
    if (code === 'EEXIST') return
    if (!isAbsent(error)) throw error
    throw Object.assign(new Error(`${folder} cannot be made: ${parent} takes no folders`, {cause: error}), {
      code,
      syscall: 'mkdir',
      path: folder,
    })
  }
}
