/** Which files an absorb edits, and may have edited. */
import {realpathSync} from 'node:fs'
import {relative} from 'node:path'
import {isWithin, repositoryOf} from '../base/repository.ts'

export const isCode = (path: string): boolean => /\.[cm]?[jt]sx?$/.test(path)

/** Packages are somebody else's program. */
export const isProgramFile = (path: string): boolean => isCode(path) && !path.split('/').includes('node_modules')

/**
 * Where a path leads, which may be a link: what is edited lies in the repository of the working folder, as the packages of a
 * monorepo do, or in that folder where there is no repository. Nobody would look for an edit anywhere else.
 *
 * @returns `undefined` for what is nowhere, or lies outside, or is no file of a program
 */
export function programFileAt(path: string, cwd: string): string | undefined {
  try {
    const folder = realpathSync(cwd)
    const root = repositoryOf(folder) ?? folder
    const real = realpathSync(path)
    return isWithin(real, root) && isProgramFile(relative(root, real)) ? real : undefined
  } catch {
    return undefined
  }
}
