/** A branch may bring links along. What svcctl writes in a checkout stays in it, before any review and after it. */
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {afterAll, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

const PROFILE = '# my settings\nexport A=1'

let at: Site
let checkout: string
let outside: string
let stack: readonly string[]
beforeAll(async () => {
  at = await site()
})
afterAll(() => at.close())
beforeEach(() => {
  checkout = join(at.folder, 'checkout')
  outside = join(at.folder, 'outside')
  for (const it of [checkout, outside]) rmSync(it, {recursive: true, force: true})
  for (const it of [join(checkout, '.git'), outside]) mkdirSync(it, {recursive: true})
  stack = ['--synth-dir', saveStack(checkout, jsonStack('shop').subscription('main'))]
  writeFileSync(join(outside, 'profile'), PROFILE, {mode: 0o644})
})

const link = (path: string, target = join(outside, 'profile')) => {
  mkdirSync(dirname(join(checkout, path)), {recursive: true})
  symlinkSync(target, join(checkout, path))
}
const run = (...args: string[]) => at.fast([...args, ...stack], {cwd: checkout})

describe('a link that a checkout brings along and that leads out of it', () => {
  it.each([
    ['change.plan', ['plan', '--out', 'change.plan']],
    ['plan.md', ['plan', '--report', 'markdown=plan.md']],
    ['terraform.shop.tfstate', ['apply', '--auto-approve']],
    ['.svcctl/audit/shop.jsonl', ['apply', '--auto-approve']],
  ])('%s, is refused by svcctl %j, and what it leads to stays as it is', async (path, args) => {
    link(path)
    const sent = at.simulator.log.filter(it => it.method !== 'GET').length
    const refused = await run(...args)
    expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining('leads out of the repository')])
    expect([readFileSync(join(outside, 'profile'), 'utf8'), statSync(join(outside, 'profile')).mode & 0o777]).toEqual([PROFILE, 0o644])
    expect(at.simulator.log.filter(it => it.method !== 'GET')).toHaveLength(sent)
  })

  it.each(['.svcctl', '.svcctl/audit', '.svcctl/runs'])('%s, takes no file of a run', async path => {
    link(path, outside)
    const refused = await run('apply', '--auto-approve')
    expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining('leads out of the repository')])
    expect(readdirSync(outside)).toEqual(['profile'])
  })

  it('is no link of a folder that is no checkout: a ledger may be kept behind one', async () => {
    rmSync(join(checkout, '.git'), {recursive: true})
    link('terraform.shop.tfstate', join(outside, 'ledger'))
    const applied = await run('apply', '--auto-approve', '--adopt', '*')
    expect(applied.code, applied.stderr).toBe(0)
    expect(existsSync(join(outside, 'ledger'))).toBe(true)
  })
})
