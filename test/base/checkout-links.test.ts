import {existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {writeFileAtomic} from '../../src/base/atomic-file.ts'
import {linkOutOfCheckout} from '../../src/base/checkout-links.ts'
import {placeOfFile} from '../../src/base/file-place.ts'
import {makeFolder} from '../../src/base/make-folder.ts'

let folder: string
const at = (...names: string[]) => join(folder, ...names)
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svcctl-checkout-')))
  mkdirSync(at('checkout', '.git'), {recursive: true})
  mkdirSync(at('checkout', 'app'))
  mkdirSync(at('outside'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

describe('a link in a checkout that leads out of it', () => {
  it('is followed by nothing that is written: a file that is there, one that is not yet, a folder', async () => {
    writeFileSync(at('outside', 'profile'), 'export A=1')
    symlinkSync('../outside/profile', at('checkout', 'change.plan'))
    symlinkSync('../outside/new', at('checkout', 'new.plan'))
    symlinkSync(at('outside'), at('checkout', '.svcctl'))
    for (const path of [at('checkout', 'change.plan'), at('checkout', 'new.plan'), at('checkout', '.svcctl', 'audit', 'shop.jsonl')])
      await expect(writeFileAtomic(path, 'mine')).rejects.toMatchObject({code: 'E_NOT_A_FILE', exit: 64})
    expect(() => makeFolder(at('checkout', '.svcctl', 'runs'))).toThrow(expect.objectContaining({code: 'E_NOT_A_FILE'}))
    expect(readFileSync(at('outside', 'profile'), 'utf8')).toBe('export A=1')
    expect([at('outside', 'new'), at('outside', 'runs')].map(it => existsSync(it))).toEqual([false, false])
  })

  it('is named, with what it leads to and what to do', () => {
    symlinkSync('../outside/profile', at('checkout', 'change.plan'))
    expect(() => placeOfFile('change.plan', at('checkout'))).toThrow(
      expect.objectContaining({
        message: `${at('checkout', 'change.plan')} leads out of the repository ${at('checkout')}, to ${at('outside', 'profile')}, and a link in it chooses nothing to be written there`,
        suggestions: [
          `Remove the link: rm ${at('checkout', 'change.plan')}`,
          `Where that place is meant, name it itself, in an option, with --state for a ledger, or in SVC_AUDIT_DIR for audits: ${at('outside', 'profile')}. Runs are always in .svcctl of the project.`,
        ],
      }),
    )
  })

  it('is found behind other links, and where the checkout was come to by one', () => {
    symlinkSync('../app/../b', at('checkout', 'app', 'a'))
    symlinkSync('../outside/file', at('checkout', 'b'))
    symlinkSync('checkout', at('way'))
    expect(linkOutOfCheckout(at('way', 'app', 'a'))).toEqual({
      link: at('checkout', 'app', 'a'),
      target: at('outside', 'file'),
      repository: at('checkout'),
    })
  })

  it('is one of a worktree or submodule too, whose .git is a file', () => {
    mkdirSync(at('checkout', 'module'))
    writeFileSync(at('checkout', 'module', '.git'), 'gitdir: ../.git/modules/module')
    symlinkSync('../app/file', at('checkout', 'module', 'file'))
    expect(linkOutOfCheckout(at('checkout', 'module', 'file'))?.repository).toBe(at('checkout', 'module'))
  })

  it('is none that stays in it, comes from outside, or where there is no repository', () => {
    symlinkSync('../plans/a', at('checkout', 'app', 'a'))
    symlinkSync(at('checkout', 'app', 'file'), at('outside', 'in'))
    symlinkSync('../checkout', at('outside', 'repository'))
    symlinkSync(at('outside', 'shared'), at('ledger'))
    symlinkSync('loop', at('checkout', 'loop'))
    const paths = [
      at('checkout', 'app', 'a'),
      at('outside', 'in'),
      at('outside', 'repository', 'app', 'x'),
      at('ledger'),
      at('checkout', 'loop'),
    ]
    expect(paths.map(it => linkOutOfCheckout(it))).toEqual(paths.map(() => undefined))
    expect(placeOfFile(at('ledger'))).toEqual({is: 'file', path: at('outside', 'shared')})
  })
})
