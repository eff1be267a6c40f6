/**
 * Where a file of an audit is: machine and path, as a hash. Several working folders may have one ledger, and each of them
 * has a file of its own; a file that is gone is missed only where it was.
 */
import {createHash} from 'node:crypto'
import {realpathSync} from 'node:fs'
import {basename, dirname, join, resolve} from 'node:path'
import {isAbsent} from '../base/system-code.ts'

const DIGITS = 12

/** @param path - there need not be a file */
export const placeDigest = (host: string, path: string): string =>
  createHash('sha256')
    .update(`${host}\0${realOf(resolve(path))}`)
    .digest('hex')
    .slice(0, DIGITS)

/** Without the links on the way, as far as there is one. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (!isAbsent(error) || dirname(path) === path) return path
    return join(realOf(dirname(path)), basename(path))
  }
}

/** Which of the files that a ledger names are to be in one of these places, whether they are there or not. */
export const filesAt = <File extends {readonly place?: string}>(
  files: readonly File[],
  places: readonly string[],
): (Omit<File, 'place'> & {readonly isHere: boolean})[] =>
  files.map(({place, ...it}) => ({...it, isHere: place !== undefined && places.includes(place)}))
