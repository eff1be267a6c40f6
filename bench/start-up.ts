/** What every call pays before its own work, beside Node itself; and how it is called: by its path, installed globally, by npx. */
import {chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {type Started, type StartTime, startTimes} from './child.ts'
import {oclifProgram} from './oclif-program.ts'

export const PROGRAM = fileURLToPath(new URL('../dist/bin/svcctl.js', import.meta.url))
const PACKAGE = fileURLToPath(new URL('..', import.meta.url))

export interface StartUp extends StartTime {
  readonly what: string
  /** The least of ours less the least of what calls it: Node, or npx with a program that does nothing. */
  readonly aboveNodeMs: number
  readonly cpuAboveNodeMs: number
}

/** Whole commands in an empty folder; one whose line does not parse has everything that a command needs before its work. */
const LINES = [
  ['--version'],
  ['--help'],
  ['plan'],
  ['plan', '--nope'],
  ['apply', '--nope'],
  ['validate', '--nope'],
  ['api', '--nope'],
  ['api', 'cloud', 'get', '/subscriptions'],
  ['profile', 'list'],
  ['runs', 'list'],
]

interface Row extends Started {
  readonly what: string
  /** Compared with this row, absent: with Node. */
  readonly base?: string
}

export function measureStartUp(): StartUp[] {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-bench-start-'))
  try {
    return measureRows(rowsIn(folder))
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

function rowsIn(folder: string): readonly Row[] {
  const project = projectIn(folder)
  const empty = join(folder, 'empty')
  mkdirSync(empty)
  const node = process.execPath
  const env = {PATH: process.env.PATH, HOME: folder}
  const row = (what: string, ...command: Row['command']): Row => ({what, command, cwd: empty, env})
  const npx = (name: string): Row => ({...row(`npx ${name}`, 'npx', '--no-install', ...name.split(' ')), cwd: project})
  const unkept = (...line: string[]): Row => ({
    ...row(`svcctl ${line.join(' ')}, no code kept`, node, PROGRAM, ...line),
    env: {...env, NODE_DISABLE_COMPILE_CACHE: '1'},
  })
  return [
    row('node -e 0', node, '-e', '0'),
    row('one command, run by oclif', node, oclifProgram(), 'hello'),
    ...LINES.map(line => row(`svcctl ${line.join(' ')}`, node, PROGRAM, ...line)),
    unkept('plan', '--nope'),
    unkept('profile', 'list'),
    row('global install: svcctl plan --nope', join(folder, 'global', 'bin', 'svcctl'), 'plan', '--nope'),
    npx('nothing'),
    {...npx('svcctl plan --nope'), base: 'npx nothing'},
  ]
}

/** As npm leaves it: links in `node_modules/.bin`, and in `bin` of a global install. */
function projectIn(folder: string): string {
  const project = join(folder, 'project')
  const bin = join(project, 'node_modules', '.bin')
  const globals = join(folder, 'global', 'bin')
  for (const it of [bin, globals]) mkdirSync(it, {recursive: true})
  writeFileSync(join(project, 'package.json'), '{}')
  writeFileSync(join(project, 'nothing.js'), '#!/usr/bin/env node\n')
  chmodSync(join(project, 'nothing.js'), 0o755)
  symlinkSync(PACKAGE, join(project, 'node_modules', 'svcctl'))
  symlinkSync('../svcctl/dist/bin/svcctl.js', join(bin, 'svcctl'))
  symlinkSync('../../nothing.js', join(bin, 'nothing'))
  symlinkSync(PROGRAM, join(globals, 'svcctl'))
  return project
}

function measureRows(rows: readonly Row[]): StartUp[] {
  const times = new Map(startTimes(rows).map((it, i) => [rows[i]?.what ?? '', it]))
  return rows.flatMap(({what, base = 'node -e 0'}) => {
    const [own, under] = [times.get(what), times.get(base)]
    if (own === undefined || under === undefined) return []
    return [{what, ...own, aboveNodeMs: own.leastMs - under.leastMs, cpuAboveNodeMs: own.leastCpuMs - under.leastCpuMs}]
  })
}
