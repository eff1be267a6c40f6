/** What every call pays before its own work, beside Node itself. */
import {tmpdir} from 'node:os'
import {fileURLToPath} from 'node:url'
import {medianStartMs} from './child.ts'

export const PROGRAM = fileURLToPath(new URL('../dist/bin/svcctl.js', import.meta.url))

export interface StartUp {
  readonly what: string
  readonly medianMs: number
  readonly aboveNodeMs: number
}

/** A command line that does not parse is refused when everything a command needs before its work is there. */
const LINES = [
  ['--version'],
  ['plan', '--nope'],
  ['apply', '--nope'],
  ['validate', '--nope'],
  ['api', '--nope'],
  ['profile', 'list'],
  ['help'],
]

export function measureStartUp(): StartUp[] {
  const options = {cwd: tmpdir(), env: {PATH: process.env.PATH, HOME: tmpdir()}}
  const node = medianStartMs([process.execPath, '-e', '0'], options)
  const rows = LINES.map(line => ({
    what: `svcctl ${line.join(' ')}`,
    medianMs: medianStartMs([process.execPath, PROGRAM, ...line], options),
  }))
  return [{what: 'node -e 0', medianMs: node}, ...rows].map(it => ({...it, aboveNodeMs: it.medianMs - node}))
}
