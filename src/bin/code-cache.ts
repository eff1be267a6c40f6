/**
 * What V8 made of the program's files, kept from one call to the next: reading and compiling them is half of a start.
 *
 * V8 runs what it is given here without a look at it, so nothing is believed that somebody else can have written (`own-folder.ts`),
 * and each piece carries a digest over itself and the source it was made of: one that is old, cut off or altered is as if it
 * were not there. A file also says which file of this disk it is: one that came from elsewhere (an archive that was unpacked over a
 * home, a backup, a checkout) is this user's and whole, and made by nobody knows whom. V8 itself refuses what another version of it made, or one with other flags.
 */
import {createHash, hash} from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import {dirname, join} from 'node:path'
import {makeFolder} from '../base/make-folder.ts'
import {isOwnFile, isOwnFolder} from './own-folder.ts'

/** Of one file of the program. */
export interface Compiled {
  readonly digest: string
  readonly bytes: Buffer
}

/** Raised when the layout of the files changes. */
const LAYOUT = 'svcctl code 2'

export const digestOf = (name: string, source: Uint8Array, bytes: Uint8Array): string =>
  hash('sha256', Buffer.concat([Buffer.from(`${LAYOUT}\n${name}\n${source.length}\n`), source, bytes]))

/**
 * The folder for one installation and one Node, below that of the cache.
 * @param program - the folder of the program's files
 */
export const folderFor = (cache: string, program: string): string =>
  join(cache, createHash('sha256').update(`${program}\n${process.version}\n${process.arch}`).digest('hex').slice(0, 16))

/** @returns what is kept under a name, by the name of the program's file: not yet compared with its digest; empty when there is nothing to be believed */
export function readCompiled(folder: string, name: string): ReadonlyMap<string, Compiled> {
  const found = new Map<string, Compiled>()
  try {
    if (!isOwnFolder(folder)) return found
    const {bytes, place} = contentOf(join(folder, name))
    const end = bytes.indexOf('\n\n')
    const [layout, made, ...lines] = bytes.toString('latin1', 0, end).split('\n')
    if (layout !== LAYOUT || made !== place) return found
    let at = end + 2
    for (const line of lines) {
      const [file = '', digest = '', length = ''] = line.split(' ')
      found.set(file, {digest, bytes: bytes.subarray(at, at + Number(length))})
      at += Number(length)
    }
  } catch {
    // Nothing is kept there, or nobody may read it.
  }
  return found
}

function contentOf(path: string): {readonly bytes: Buffer; readonly place: string} {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return {bytes: isOwnFile(file) ? readFileSync(file) : Buffer.of(), place: placeOf(file)}
  } finally {
    closeSync(file)
  }
}

/** The number that a disk gave a file when it was made: nobody chooses it, and a copy has another one. */
const placeOf = (file: number): string => `file ${fstatSync(file, {bigint: true}).ino}`

/** @returns whether it was: where nothing can be kept (a full disk, a home that is read only), nothing is */
export function writeCompiled(folder: string, name: string, compiled: ReadonlyMap<string, Compiled>): boolean {
  const temporary = join(folder, `${name}.${process.pid}.new`)
  try {
    const cache = dirname(folder)
    // `~/.cache/svcctl/code/…`: the home is there, or there is none.
    if (!existsSync(join(cache, '../../..'))) return false
    if (!existsSync(folder)) {
      makeFolder(cache, 0o700)
      if (isOwnFolder(cache)) makeRoom(cache)
      makeFolder(folder, 0o700)
    }
    if (!isOwnFolder(folder)) return false
    const lines = [...compiled].map(([file, {digest, bytes}]) => `${file} ${digest} ${bytes.length}`)
    const file = openSync(temporary, 'wx', 0o600)
    try {
      const text = `${[LAYOUT, placeOf(file), ...lines].join('\n')}\n\n`
      writeFileSync(file, Buffer.concat([Buffer.from(text), ...[...compiled.values()].map(it => it.bytes)]))
    } finally {
      closeSync(file)
    }
    renameSync(temporary, join(folder, name))
    return true
  } catch {
    removeQuietly(temporary)
    return false
  }
}

/** Drops what was kept for files that a newer build no longer has, and what a process left that was stopped while it wrote. */
export function dropOthers(folder: string, isThere: (name: string) => boolean): void {
  try {
    if (!isOwnFolder(folder)) return
    for (const name of readdirSync(folder)) if (!isThere(name)) rmSync(join(folder, name), {force: true})
  } catch {
    // It is tried again with the next file that is written.
  }
}

/** A folder that is a file (ENOTDIR) has nothing in it to remove. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, {force: true})
  } catch {
    // What it was to be written for is not kept either.
  }
}

/** Versions of the program and of Node of which compiled code is kept. */
const MOST_KEPT = 6

function makeRoom(cache: string): void {
  const folders = readdirSync(cache)
    .filter(name => /^[0-9a-f]{16}$/.test(name))
    .map(name => ({path: join(cache, name), used: statSync(join(cache, name)).mtimeMs}))
  for (const {path} of folders.toSorted((a, b) => b.used - a.used).slice(MOST_KEPT - 1)) rmSync(path, {recursive: true, force: true})
}
