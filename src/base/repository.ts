/** The checkout that a project lies in. */
import {existsSync} from 'node:fs'
import {dirname, join, relative, resolve, sep} from 'node:path'

/** @returns the folder with the `.git` above, or `undefined` where there is none */
export function repositoryOf(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return undefined
  }
}

/** By their names alone: links are the caller's to follow. */
export const isWithin = (path: string, folder: string): boolean => {
  const way = relative(resolve(folder), path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep))
}
