// Whether `dist` is what a build would make of the files that are here now. Plain JavaScript: it is asked before anything else.
import {existsSync, readdirSync, statSync} from 'node:fs'
import {join} from 'node:path'

/** Written last, and dated when the build began: what was changed meanwhile is newer. */
export const LAST_BUILT = join('dist', 'THIRD-PARTY-NOTICES.txt')

/** Whose dates tell whether there is anything to build: folders too, which are newer once something of them has gone. */
const INPUTS = [
  'src',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.types.json',
  join('node_modules', '.package-lock.json'),
]
const OUTPUTS = [
  'bin/svcctl.js',
  'bin/program.js',
  'bin/commands.json',
  'man/man1/svcctl.1',
  'lib/index.js',
  'cdktn/index.js',
  'types/index.d.ts',
  'types-cdktn/index.d.ts',
]

export function isBuilt(root) {
  const built = changedAt(join(root, LAST_BUILT))
  if (built === undefined || !OUTPUTS.every(it => existsSync(join(root, 'dist', it)))) return false
  return INPUTS.map(it => join(root, it)).every(path => isOlder(path, built))
}

function isOlder(path, than) {
  const stat = statSync(path, {throwIfNoEntry: false})
  // What goes while it is looked at leaves a newer folder.
  if (stat === undefined) return true
  if (stat.mtimeMs > than) return false
  return !stat.isDirectory() || readdirSync(path).every(name => isOlder(join(path, name), than))
}

const changedAt = path => statSync(path, {throwIfNoEntry: false})?.mtimeMs
