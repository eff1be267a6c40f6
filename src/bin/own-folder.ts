/** Folders in which nobody but this user (and root) can put, change or replace anything: code that lies there may be run. */
import {existsSync, fstatSync, lstatSync, realpathSync, type Stats} from 'node:fs'
import {dirname, join} from 'node:path'

const OTHERS_WRITE = 0o022
const STICKY = 0o1000

/**
 * @returns whether the folder is this user's, and each it lies in this user's or root's, with nobody else to write there: neither
 *   by the rights of files nor by a commit, where a home is the checkout of a repository
 */
export function isOwnFolder(path: string, user = process.getuid?.()): boolean {
  if (user === undefined) return false
  try {
    if (!isOwn(lstatSync(path), user)) return false
    for (let at = dirname(realpathSync(path)), below = ''; at !== below; below = at, at = dirname(at)) {
      const {uid, mode} = lstatSync(at)
      if (uid !== user && uid !== 0) return false
      // In a sticky folder (/tmp) nobody moves or removes what is another's.
      if ((mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0) return false
      if (existsSync(join(at, '.git'))) return false
    }
    return true
  } catch {
    return false
  }
}

/** @returns whether an open file is one that nobody but this user can have written */
export function isOwnFile(file: number, user = process.getuid?.()): boolean {
  const stats = fstatSync(file)
  return user !== undefined && stats.isFile() && stats.nlink === 1 && isOwn(stats, user)
}

const isOwn = ({uid, mode}: Stats, user: number): boolean => uid === user && (mode & OTHERS_WRITE) === 0
