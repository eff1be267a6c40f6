/** What every call pays before its own work, beside Node itself. */
import {tmpdir} from 'node:os'
import {fileURLToPath} from 'node:url'
import {type StartTime, startTimes} from './child.ts'
import {oclifProgram} from './oclif-program.ts'

export const PROGRAM = fileURLToPath(new URL('../dist/bin/svcctl.js', import.meta.url))

export interface StartUp extends StartTime {
  readonly what: string
  /** The least of ours less the least of Node's own. */
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
  const node = process.execPath
  const [own, theirs, ...ours] = startTimes(
    [[node, '-e', '0'], [node, oclifProgram(), 'hello'], ...LINES.map((line): [string, ...string[]] => [node, PROGRAM, ...line])],
    options,
  )
  if (own === undefined || theirs === undefined) throw new TypeError('nothing was started')
  return [
    {what: 'node -e 0', ...own, aboveNodeMs: 0},
    {what: 'one command, run by oclif', ...theirs, aboveNodeMs: theirs.leastMs - own.leastMs},
    ...ours.map((it, i) => ({what: `svcctl ${LINES[i]?.join(' ') ?? ''}`, ...it, aboveNodeMs: it.leastMs - own.leastMs})),
  ]
}
