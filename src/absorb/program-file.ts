/** Which files an absorb edits, and may have edited. */
import {existsSync, realpathSync} from 'node:fs'
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

/** How `tsc` and other compilers say so in what they write, and where they write beside what they read. */
const COMPILED = /^\/\/[#@] sourceMappingURL=|^Object\.defineProperty\(exports, ['"]__esModule['"]/m

/** Whether a file is made from another one: the next build would write over an edit of it. */
export function isCompiled(path: string, text: string): boolean {
  const source = path.replace(/\.([cm]?)js(x?)$/, '.$1ts$2')
  return source !== path && (COMPILED.test(text) || existsSync(source) || existsSync(`${source}x`))
}
