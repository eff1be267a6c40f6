/**
 * Names that become a part of a path. Whoever gives a name (a stack, a state server, a command line) must not choose a
 * folder with it, so every such name goes through here.
 */
import {beginningOfName} from './beginning.ts'
import {AppError, EXIT} from './errors.ts'
import {INVISIBLE} from './unseen-letters.ts'

/** What most file systems take as one name, less what is put before and behind it. */
const LONGEST_BYTES = 200

const UNSEEN = new RegExp(`[\\p{Cc}\\p{Cs}]|${INVISIBLE}`, 'u')

/** A name that would lead elsewhere, or that no file can have. */
export class PathPartError extends AppError {
  constructor(name: string, what: string, why: string) {
    super(`${JSON.stringify(beginningOfName(name))} cannot be the name of ${what}: ${why}`, {
      code: 'E_NAME_IN_PATH',
      exit: EXIT.usage,
      suggestions: ['Give it a name of letters, digits, dots, dashes and underscores: it becomes part of a file name.'],
    })
  }
}

/** @param what - of a sentence: `a stack` */
export function partOfPath(name: string, what: string): string {
  if (/[/\\]/.test(name)) throw new PathPartError(name, what, 'it has a slash in it')
  if (name === '' || name === '.' || name === '..') throw new PathPartError(name, what, 'it names a folder')
  if (UNSEEN.test(name)) throw new PathPartError(name, what, 'it has characters that cannot be seen')
  if (Buffer.byteLength(name) > LONGEST_BYTES) throw new PathPartError(name, what, `it is longer than ${LONGEST_BYTES} bytes`)
  return name
}

/**
 * A name that a stack may have: beside what a file may be called, it is never a pattern of names (`--stack '*'` means all),
 * an option (`--stack -x`), or an address of another stack (`shop:null_resource.cache`). Whoever writes a stack decides
 * what it is called, and must not decide what others mean.
 */
export function nameOfStack(name: string): string {
  if (/[*?]/.test(name)) throw new PathPartError(name, 'a stack', 'it is a pattern, which means other stacks')
  if (name.includes(':')) throw new PathPartError(name, 'a stack', 'a colon stands between a stack and an address')
  if (name.startsWith('-')) throw new PathPartError(name, 'a stack', 'it begins as an option does')
  return partOfPath(name, 'a stack')
}
