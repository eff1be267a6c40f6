/**
 * How long whoever sends a change waits: both of the repository's checks, each in a clone of the last commit, as a machine
 * finds it that has only git, Node and npm. Minutes each.
 */
import {spawnSync} from 'node:child_process'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {type Measured, measureChild} from './child.ts'

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url))
const LONGEST_MS = 30 * 60_000

const CHECKS = [
  {what: 'npm test, nothing installed', command: ['npm', 'test'], barSeconds: 240},
  {what: '.ci/run, nothing installed', command: ['bash', '.ci/run'], barSeconds: 300},
] as const

export interface CheckTime {
  readonly what: string
  /** `undefined` when it did not end in half an hour. */
  readonly measured: Measured | undefined
  readonly barSeconds: number
}

/** @throws Error when one fails */
export async function measureChecks(): Promise<CheckTime[]> {
  const times: CheckTime[] = []
  for (const {what, command, barSeconds} of CHECKS) {
    const folder = mkdtempSync(join(tmpdir(), 'svcctl-bench-'))
    try {
      const clone = join(folder, 'clone')
      const {status, stderr} = spawnSync('git', ['clone', '--quiet', REPOSITORY, clone], {encoding: 'utf8'})
      if (status !== 0) throw new Error(`git clone failed (${status}):\n${stderr}`)
      times.push({what, measured: await measureChild(command, {cwd: clone, env: process.env, timeoutMs: LONGEST_MS}), barSeconds})
    } finally {
      rmSync(folder, {recursive: true, force: true})
    }
  }
  return times
}
