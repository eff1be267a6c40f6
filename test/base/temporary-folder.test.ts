import {spawnSync} from 'node:child_process'
import {existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {basename, dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {temporaryFolder} from '../../src/base/temporary-folder.ts'

const HOUR = 3_600_000

let within: string
beforeEach(() => {
  within = mkdtempSync(join(tmpdir(), 'temporary-folder-'))
})
afterEach(() => rmSync(within, {recursive: true}))

const left = (name: string, hours: number): string => {
  const path = join(within, name)
  mkdirSync(path)
  writeFileSync(join(path, 'cdk.tf.json'), '{"password": "in clear"}')
  utimesSync(path, new Date(Date.now() - hours * HOUR), new Date(Date.now() - hours * HOUR))
  return path
}

describe('a temporary folder', () => {
  it('goes with a process that is ended while its maker waits, as Ctrl-C does', () => {
    const source = JSON.stringify(new URL('../../src/base/temporary-folder.ts', import.meta.url).href)
    const lines = [
      `const {temporaryFolder} = await import(${source})`,
      `const {writeFileSync} = await import('node:fs')`,
      `const path = temporaryFolder('export', Date.now(), ${JSON.stringify(within)})`,
      `writeFileSync(path + '/main.ts', 'code')`,
      `process.stdout.write(path)`,
      `process.exit(130)`,
    ]
    const ended = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', lines.join('\n')], {encoding: 'utf8'})
    expect([ended.status, dirname(ended.stdout)], ended.stderr).toEqual([130, within])
    expect(readdirSync(within)).toEqual([])
  })

  it('is for its user alone', () => {
    const path = temporaryFolder('synth', Date.now(), within)
    expect(basename(path)).toMatch(/^svcctl-synth-.{6}$/)
    expect(statSync(path).mode & 0o777).toBe(0o700)
  })

  it('of a call that was killed goes with the next one, and one of a call that may still run stays', () => {
    const old = ['svcctl-synth-abc123', 'svcctl-export-abc123', 'svcctl-archive-abc123'].map(name => left(name, 49))
    const young = left('svcctl-synth-def456', 47)
    const made = temporaryFolder('export', Date.now(), within)
    expect(old.filter(it => existsSync(it))).toEqual([])
    expect([existsSync(young), existsSync(made)]).toEqual([true, true])
  })

  it('is known by its whole name: what others call alike, and what is no folder, stays', () => {
    const others = ['svcctl-simulator-abc123', 'svcctl-synth-abc1234', 'svcctl-synth-abc12', 'my-svcctl-synth-abc123'].map(name =>
      left(name, 100),
    )
    const target = left('elsewhere', 100)
    const link = join(within, 'svcctl-synth-link00')
    symlinkSync(target, link)
    writeFileSync(join(within, 'svcctl-synth-file00'), '')
    temporaryFolder('synth', Date.now() + 100 * HOUR, within)
    expect(others.filter(it => !existsSync(it))).toEqual([])
    expect([lstatSync(link).isSymbolicLink(), readdirSync(target)]).toEqual([true, ['cdk.tf.json']])
    expect(existsSync(join(within, 'svcctl-synth-file00'))).toBe(true)
  })

  it('goes without what a link in it leads to', () => {
    const target = left('elsewhere', 1)
    const old = left('svcctl-export-abc123', 1)
    symlinkSync(target, join(old, 'node_modules'))
    temporaryFolder('synth', Date.now() + 50 * HOUR, within)
    expect([existsSync(old), readdirSync(target)]).toEqual([false, ['cdk.tf.json']])
  })
})
