import {spawnSync} from 'node:child_process'
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {describe, expect, it} from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const soak = (...words: readonly string[]) => {
  const {status, stdout, stderr} = spawnSync(process.execPath, ['scripts/soak.mjs', ...words], {cwd: ROOT, encoding: 'utf8'})
  return {status, stdout, stderr}
}

describe('npm run soak', () => {
  it('gives its seed to the tests, runs a seed that is given once, and ends with 0 when nothing failed', () => {
    const {status, stdout} = soak('--seed', '1234', '--thoroughness', '3', '--minutes', '60', 'test/scripts/seed.test.ts')
    expect(stdout).toContain('the seed is 1234')
    expect(stdout).toContain('== round 1, seed 1234')
    expect(stdout).toContain('1 rounds, 0 failed')
    expect(status).toBe(0)
  })

  it('says how to see a failure again, and ends with 1', () => {
    const {status, stdout} = soak('--minutes', '0', '--thoroughness', '3', 'test/no-such.test.ts')
    const [, seed] = /== round 1, seed (\d+)/.exec(stdout) ?? []
    expect(stdout).toContain(`1 rounds, 1 failed\nnpm run soak -- --seed ${seed} --thoroughness 3 test/no-such.test.ts`)
    expect(status).toBe(1)
  })

  it('refuses a number that is none', () => {
    expect(soak('--minutes', 'ten')).toEqual({status: 2, stdout: '', stderr: '--minutes wants a number, not ten\n'})
  })

  it('reaches every test that has a seed of its own', () => {
    const fixed = readdirSync(join(ROOT, 'test'), {recursive: true, encoding: 'utf8'})
      .filter(it => it.endsWith('.test.ts'))
      .filter(it => {
        const text = readFileSync(join(ROOT, 'test', it), 'utf8')
        return text.includes("from 'fast-check'") && /\bseed: [\d_]+|\bSEED = [\d_]+/.test(text)
      })
    expect(fixed).toEqual([])
  })
})
