/** The audit of runs that die, of machines that take turns, and of ledgers that lose what they were told. */
import {existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {type AuditEntry, type ChainHead, chained, NOTHING, readLine} from '../../../src/audit/entry.ts'
import {documentOf, type Site, site} from '../../support/site.ts'
import {siteAndStateServer} from '../../support/site-and-state-server.ts'
import {type JsonStack, jsonStack, saveStacks} from '../../support/stack-json.ts'
import type {StateServer} from '../../support/state-server.ts'

let at: Site
let server: StateServer
siteAndStateServer((newSite, newServer) => {
  at = newSite
  server = newServer
})

const shop = (memory = 1) => jsonStack('shop').subscription('main').database('cache', 'main', {memoryLimitInGb: memory})
const behindHttp = (stack: JsonStack = shop()) => stack.backend(server.backend)
const args = (words: readonly string[], stack: JsonStack) => [...words, '--synth-dir', saveStacks(at.folder, [stack]), '-o', 'json']
const fast = (words: readonly string[], stack: JsonStack, env: Record<string, string> = {}) => at.fast(args(words, stack), {env})
const run = (words: readonly string[], stack: JsonStack, env: Record<string, string> = {}) => at.run(args(words, stack), {env})
const APPLY = ['apply', '--auto-approve'] as const

const pathIn = (folder = '.svcctl/audit') => join(at.folder, folder, 'shop.jsonl')
const linesIn = (path: string): AuditEntry[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .flatMap(it => readLine(it) ?? [])
const applied = async (stack: JsonStack, env: Record<string, string> = {}) => {
  const outcome = await fast(APPLY, stack, env)
  expect(outcome.code, outcome.stdout + outcome.stderr).toBe(0)
}
const verified = async (stack: JsonStack, words: readonly string[] = [], env: Record<string, string> = {}) => {
  const outcome = await run(['audit', 'verify', ...words], stack, env)
  expect(outcome.code, outcome.stdout + outcome.stderr).toBe(0)
  return documentOf(outcome).chains[0]
}
const created = async (stack: JsonStack, env: Record<string, string> = {}): Promise<string[]> => {
  const outcome = await run(['history'], stack, env)
  const events: {event: string; address: string; action: string; state: string}[] = documentOf(outcome).events
  return events.flatMap(it => (it.event === 'operation' && it.action === 'create' && it.state === 'done' ? it.address : [])).sort()
}
const ledgerNow = () => JSON.parse(server.state ?? '{}')
const changeLedger = (change: (svcctl: Record<string, unknown>) => void) => {
  const state = ledgerNow()
  change(state.svcctl)
  server.state = JSON.stringify(state)
}

describe('a run that is killed', () => {
  it('at any write of its ledger is finished by the next one, here or where its disk is gone, and no create is lost', {
    timeout: 300_000,
  }, async () => {
    let died = 0
    for (let nth = 1; ; nth++) {
      const wiped = nth % 2 === 0
      let writes = 0
      const child = at.start(args(APPLY, behindHttp()))
      const reached = new Promise<'reached'>(resolve => {
        server.beforeWrite = () => {
          if (++writes !== nth) return
          child.kill('SIGKILL')
          resolve('reached')
        }
      })
      const end = await Promise.race([reached, child.done])
      server.beforeWrite = () => {}
      await child.done
      if (end !== 'reached') {
        expect(end).toMatchObject({code: 0})
        break
      }
      died++
      server.lock = undefined
      expect((await verified(behindHttp())).ahead).toBeLessThanOrEqual(4)
      if (wiped) rmSync(join(at.folder, '.svcctl'), {recursive: true})
      await applied(behindHttp())
      expect(await verified(behindHttp())).toMatchObject({ahead: 0, gaps: []})
      expect([nth, await created(behindHttp())]).toEqual([nth, ['null_resource.cache', 'null_resource.main']])
      // From the beginning, with another world.
      await at.close()
      at = await site()
      server.state = undefined
    }
    expect(died).toBeGreaterThanOrEqual(4)
  })

  it('while it waits for an object is audited by the next one, which ends it', {timeout: 300_000}, async () => {
    for (const nth of ['main', 'cache']) {
      const child = at.start(args(APPLY, shop()))
      await child.says(`null_resource.${nth}: create ...`)
      child.kill('SIGKILL')
      await child.done
      await verified(shop())
      await applied(shop())
      expect(await verified(shop())).toMatchObject({ahead: 0, gaps: []})
      expect(await created(shop())).toEqual(['null_resource.cache', 'null_resource.main'])
      const ends = linesIn(pathIn()).filter(it => it.event === 'apply-end')
      const begins = linesIn(pathIn()).filter(it => it.event === 'apply-begin')
      expect(new Set(ends.map(it => it.run))).toEqual(new Set(begins.map(it => it.run)))
      await at.close()
      at = await site()
    }
  })
})

describe('a transfer that is killed', () => {
  it('before its ledgers are written leaves no ledger that looks as if it was put back, though a run had died before', async () => {
    const b = (memory = 1) => jsonStack('b').subscription('other', {}).database('own', 'other', {memoryLimitInGb: memory})
    const both = (memory?: number) => ['--synth-dir', saveStacks(at.folder, [behindHttp(), b(memory)]), '-o', 'json']
    const ledger = join(at.folder, 'terraform.b.tfstate')
    const apply = async (memory?: number) => expect(await at.fast([...APPLY, '--stack', '*', ...both(memory)])).toMatchObject({code: 0})
    await apply()
    const before = readFileSync(ledger)
    await apply(2)
    // As if that run had died before it could write this.
    writeFileSync(ledger, before)
    const child = at.start(['transfer', 'null_resource.cache', '--from', 'shop', '--to', 'b', '--anyway', ...both()], {asItIs: true})
    server.beforeWrite = () => child.kill('SIGKILL')
    await child.done
    server.beforeWrite = () => {}
    const outcome = await at.run(['audit', 'verify', '--stack', 'b', ...both()])
    expect(outcome.code, outcome.stdout).toBe(0)
    expect(documentOf(outcome).chains).toMatchObject([{ahead: 1}])
  })
})

describe('machines that take turns', () => {
  const a = {SVC_AUDIT_DIR: 'a'}
  const b = {SVC_AUDIT_DIR: 'b'}

  it('go on with one chain, name what the other one has, and are whole together', async () => {
    await applied(behindHttp(), a)
    await applied(behindHttp(shop(2)), b)
    await applied(behindHttp(shop(3)), a)
    // What travels is enough to know all of it anywhere.
    expect(await verified(behindHttp(), [], {SVC_AUDIT_DIR: 'nowhere'})).toMatchObject({lines: 10, gaps: [], ahead: 0})
    expect(await created(behindHttp(), {SVC_AUDIT_DIR: 'nowhere'})).toEqual(['null_resource.cache', 'null_resource.main'])
    changeLedger(svcctl => {
      delete (svcctl.audit as {last?: unknown}).last
    })
    expect(await verified(behindHttp(), [], a)).toMatchObject({lines: 7, gaps: [{from: 5, to: 7}]})
    expect(await verified(behindHttp(), [], b)).toMatchObject({
      lines: 3,
      gaps: [
        {from: 1, to: 4},
        {from: 8, to: 10},
      ],
    })
    expect(documentOf(await run(['history'], behindHttp(), b)).gaps).toEqual([
      {stack: 'shop', from: 1, to: 4},
      {stack: 'shop', from: 8, to: 10},
    ])
    expect(await verified(behindHttp(), [pathIn('b'), pathIn('a')])).toMatchObject({lines: 10, gaps: []})
    // A file that was cut is noticed although the other machine wrote on.
    writeFileSync(pathIn('b'), readFileSync(pathIn('b'), 'utf8').replace(/[^\n]*\n$/, ''))
    const cut = await run(['audit', 'verify'], behindHttp(), b)
    expect([cut.code, documentOf(cut).error.message]).toEqual([1, expect.stringContaining('line 7 is missing')])
  })

  it('are all found by a machine whose disk was wiped', async () => {
    await applied(behindHttp(), a)
    changeLedger(svcctl => {
      delete (svcctl.audit as {last?: unknown}).last
    })
    rmSync(join(at.folder, 'a'), {recursive: true})
    expect(await verified(behindHttp(), [], a)).toMatchObject({lines: 0, gaps: [{from: 1, to: 4}]})
    await applied(behindHttp(shop(2)), a)
    expect(linesIn(pathIn('a')).map(it => it.seq)).toEqual([5, 6, 7])
    expect(await verified(behindHttp(), [], a)).toMatchObject({lines: 3, gaps: [{from: 1, to: 4}]})
  })
})

describe('working folders with one ledger that is a file', () => {
  const a = {SVC_AUDIT_DIR: 'a'}
  const b = {SVC_AUDIT_DIR: 'b'}

  it('go on with one chain: what the other one has is no fault, and what is missing in the own one is', async () => {
    await applied(shop(), a)
    expect(await verified(shop(), [], b)).toMatchObject({lines: 0, gaps: [{from: 1, to: 4}]})
    await applied(shop(2), b)
    await applied(shop(3), a)
    expect(await verified(shop(), [], a)).toMatchObject({lines: 7, gaps: [{from: 5, to: 7}]})
    expect(await verified(shop(), [], b)).toMatchObject({
      lines: 3,
      gaps: [
        {from: 1, to: 4},
        {from: 8, to: 10},
      ],
    })
    expect(await verified(shop(), [pathIn('b'), pathIn('a')])).toMatchObject({lines: 10, gaps: []})
    const moved = join(at.folder, 'moved')
    renameSync(join(at.folder, 'b'), moved)
    for (const apply of [false, true, true]) {
      if (apply) await applied(shop(linesIn(pathIn('a')).length), b)
      const lost = await run(['audit', 'verify'], shop(), b)
      expect([lost.code, documentOf(lost).error?.message]).toEqual([1, expect.stringContaining('is missing')])
    }
    expect(await verified(shop(), [], a)).toMatchObject({lines: 7})
    expect(await verified(shop(), [pathIn('a'), pathIn('b'), pathIn('moved')])).toMatchObject({gaps: []})
  })
})

describe('a ledger', () => {
  it('that lost what it knew of the audit (an older version wrote it) knows it again after the next apply', async () => {
    await applied(behindHttp())
    changeLedger(svcctl => {
      delete svcctl.audit
    })
    expect(await verified(behindHttp())).toMatchObject({ledger: null, lines: 4, gaps: []})
    await applied(behindHttp(shop(2)))
    expect(ledgerNow().svcctl.audit.seq).toBe(7)
    expect(await verified(behindHttp())).toMatchObject({lines: 7, ahead: 0})
  })

  it('that lost it while machines took turns leaves lines beside the chain, and nobody counts as a forger', async () => {
    const [a, b] = [{SVC_AUDIT_DIR: 'a'}, {SVC_AUDIT_DIR: 'b'}]
    await applied(behindHttp(), a)
    await applied(behindHttp(shop(2)), b)
    await applied(behindHttp(shop(3)), b)
    changeLedger(svcctl => {
      delete svcctl.audit
    })
    await applied(behindHttp(shop(4)), a)
    expect(
      linesIn(pathIn('a'))
        .map(it => [it.seq, it.here?.seq])
        .slice(3, 6),
    ).toEqual([
      [4, undefined],
      [5, 4],
      [6, undefined],
    ])
    expect(await verified(behindHttp(), [], a)).toMatchObject({lines: 7, gaps: []})
    expect(await verified(behindHttp(), [pathIn('a'), pathIn('b')])).toMatchObject({lines: 7, beside: Array(6).fill({})})
    await applied(behindHttp(shop(5)), b)
    expect(await verified(behindHttp(), [], b)).toMatchObject({head: {seq: 10}, gaps: [{from: 1, to: 4}], beside: Array(6).fill({})})
  })

  it('whose answers are lost, and that refuses a serial twice, has the last line all the same', async () => {
    server.serialTaken = 409
    let writes = 0
    server.beforeWrite = () => {
      if (++writes % 2 === 1 && writes < 6) server.faults.push('drop')
    }
    await applied(behindHttp())
    expect(writes).toBeGreaterThan(4)
    const {audit} = ledgerNow().svcctl
    expect(audit).toMatchObject({seq: 4, hash: linesIn(pathIn()).at(-1)?.hash})
    expect(await verified(behindHttp())).toMatchObject({ahead: 0, gaps: []})
  })

  it('that was put back by two runs is older than its audit', async () => {
    await applied(behindHttp())
    const before = server.state
    await applied(behindHttp(shop(2)))
    server.state = before
    expect(await verified(behindHttp())).toMatchObject({ahead: 3})
    server.state = before
    const older = JSON.parse(before ?? '')
    await applied(behindHttp(shop(3)))
    await applied(behindHttp(shop(4)))
    server.state = JSON.stringify(older)
    const outcome = await run(['audit', 'verify'], behindHttp())
    expect([outcome.code, documentOf(outcome).error.message]).toEqual([1, expect.stringContaining('the ledger was put back')])
  })
})

describe('a disk that is full', () => {
  /** An audit of so many bytes. */
  function filled(bytes: number): void {
    mkdirSync(join(at.folder, 'full'))
    let head: ChainHead = {seq: 0, hash: NOTHING}
    const lines: string[] = []
    for (let size = 0; ; ) {
      const actor = {name: 'ada', source: 'by', host: 'x'} as const
      const line = chained({v: 1, at: '2026-11-22T10:00:00.000Z', event: 'hold', stack: 'shop', lineage: '', actor}, head)
      size += line.text.length + 1
      if (size > bytes) break
      lines.push(`${line.text}\n`)
      head = line.entry
    }
    writeFileSync(pathIn('full'), lines.join(''))
  }
  const LIMIT = 200 * 1024
  const limited = (words: readonly string[]) =>
    at.shell(`ulimit -f ${LIMIT / 512}; svcctl ${args(words, shop()).join(' ')}`, [], {env: {SVC_AUDIT_DIR: 'full'}})

  it('lets nothing begin where there is no room for a line, and leaves no half of one', async () => {
    filled(LIMIT)
    const before = readFileSync(pathIn('full'))
    const outcome = await limited(APPLY)
    expect([outcome.code, documentOf(outcome).error.code], outcome.stderr).toEqual([1, 'E_AUDIT_WRITE'])
    expect(at.writes).toEqual([])
    expect(readFileSync(pathIn('full'))).toEqual(before)
  })

  it('stops a run that has begun, says how to go on, and loses no line', async () => {
    filled(LIMIT - 900)
    const outcome = await limited(APPLY)
    const {error} = documentOf(outcome)
    expect([outcome.code, error.code], outcome.stderr).toEqual([1, 'E_AUDIT_WRITE'])
    expect(error.suggestions[0]).toMatch(/svcctl apply --resume \d{8}T/)
    expect(readFileSync(pathIn('full'), 'utf8').endsWith('\n')).toBe(true)
    expect(at.writes.length).toBeGreaterThan(0)
    const again = await fast(['apply', '--resume'], shop(), {SVC_AUDIT_DIR: 'full'})
    expect(again.code, again.stdout + again.stderr).toBe(0)
    expect(await created(shop(), {SVC_AUDIT_DIR: 'full'})).toEqual(['null_resource.cache', 'null_resource.main'])
    expect(await verified(shop(), [], {SVC_AUDIT_DIR: 'full'})).toMatchObject({ahead: 0, gaps: []})
    expect(existsSync(`${pathIn('full')}.lock`)).toBe(false)
  })
})
