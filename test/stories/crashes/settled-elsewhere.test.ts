/**
 * A run that did not end has a journal on its own disk and travels in the ledger of its stack. Whoever settles it first,
 * on whatever machine, has the last word: the journal that stays behind on the other disk tells nothing new.
 */
import {copyFileSync, mkdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, it, onTestFinished} from 'vitest'
import {type Clock, systemClock} from '../../../src/base/clock.ts'
import {createJournal, journalPath, listRuns, readJournal, runsFolder} from '../../../src/ledger/journal-file.ts'
import {documentOf, type Site} from '../../support/site.ts'
import {siteAndStateServer} from '../../support/site-and-state-server.ts'
import {idOf, JsonStack, saveStack} from '../../support/stack-json.ts'
import {type StateServer, startStateServer} from '../../support/state-server.ts'

/** No wait is long. */
const clock: Clock = {now: () => Date.now(), sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal)}

describe('what another machine has settled', () => {
  let here: Site
  let state: StateServer
  const env = () => ({
    ...state.env,
  })
  const base = () => new JsonStack('shop').backend({http: {}}).subscription('main')
  const on = () => ['--synth-dir', join(here.folder, 'shop')]
  const apply = (cwd: string, ...more: string[]) =>
    here.fast(['apply', ...on(), '--auto-approve', '-o', 'json', ...more], {env: env(), cwd, clock})

  const owned = (): string[] => JSON.parse(state.state ?? '{}').resources.map((it: {name: string}) => it.name)

  siteAndStateServer(
    (newSite, newServer) => {
      here = newSite
      state = newServer
    },
    {cloud: {taskMs: 1, readyMs: 0}},
  )

  /** Its create goes on when this machine has given up waiting for it. */
  async function begunHere(): Promise<void> {
    saveStack(here.folder, base())
    expect((await apply(here.folder)).code).toBe(0)
    here.simulator.config.cloud.taskMs = 1_500
    saveStack(here.folder, base().database('cache', 'main'))
    const late = await apply(here.folder, '--timeout', '200ms')
    expect(late.code, late.stderr).toBe(12)
    here.simulator.config.cloud.taskMs = 1
  }

  it('stays in the ledger where the journal of its run cannot be read, while another run is waited for', async () => {
    await begunHere()
    const runs = runsFolder(here.folder)
    const {run = '', path = ''} = listRuns(runs).at(-1) ?? {}
    const other = '20260101T000000000-abcdef'
    const {header, entries} = readJournal(path)
    const journal = createJournal(journalPath(runs, other), {...header, run: other})
    for (const it of entries) journal.append(it)
    journal.close()
    copyFileSync(join(runs, `${run}.plan.json`), join(runs, `${other}.plan.json`))
    writeFileSync(path, 'no journal')
    const waited = await here.fast(['apply', '--attach', other], {env: env(), cwd: here.folder, clock})
    expect(waited.code, waited.stderr).toBe(0)
    expect(JSON.parse(state.state ?? '').svcctl.pending).toMatchObject({run})
    expect((await apply(here.folder)).code).toBe(0)
    expect(JSON.parse(state.state ?? '').svcctl.pending).toBeUndefined()
  })

  it('and let go of since, is not taken back by the machine whose run had begun it, which would delete it', async () => {
    await begunHere()
    const elsewhere = join(here.folder, 'elsewhere')
    mkdirSync(elsewhere)
    const next = await apply(elsewhere)
    expect(next.code, next.stderr).toBe(0)
    expect(owned()).toEqual(['cache', 'main'])
    saveStack(here.folder, base())
    const gone = await here.run(['forget', 'cache', ...on(), '--yes'], {env: env(), cwd: elsewhere})
    expect(gone.code, gone.stderr).toBe(0)
    const again = await apply(here.folder)
    expect(again.code, again.stderr).toBe(0)
    expect(owned()).toEqual(['main'])
    expect(here.writes.filter(it => it.startsWith('DELETE'))).toEqual([])
  })

  it('the ledger says no more, while something else of the same run is open: another machine would take back what was let go of since', async () => {
    here.simulator.config.cloud.taskList.served = false
    here.simulator.inject({match: {method: 'POST', path: '**/peerings'}, times: 1, action: {type: 'drop-before-effect'}})
    const link = {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1', awsAccountId: '1', vpcCidr: '10.0.0.0/24'}
    const open = () => base().add('cloud.peering', 'link', link, {expressions: {'/subscription': idOf('main')}})
    saveStack(here.folder, base())
    expect((await apply(here.folder)).code).toBe(0)
    here.simulator.config.cloud.taskMs = 1_500
    saveStack(here.folder, open().database('cache', 'main'))
    const late = await apply(here.folder, '--timeout', '200ms')
    expect(late.code, late.stderr).toBe(6)
    here.simulator.config.cloud.taskMs = 1
    // The database is settled, and nobody can tell of the peering.
    expect((await apply(here.folder)).code).toBe(6)
    expect(owned()).toEqual(['cache', 'main'])
    saveStack(here.folder, open())
    const gone = await here.run(['forget', 'cache', ...on(), '--yes'], {env: env(), cwd: here.folder})
    expect(gone.code, gone.stderr).toBe(0)
    const elsewhere = join(here.folder, 'elsewhere')
    mkdirSync(elsewhere)
    const again = await apply(elsewhere, '--allow-destroy', '*')
    expect([again.code, documentOf(again).operations.map((it: {address: string}) => it.address)], again.stderr).toEqual([
      6,
      ['null_resource.link', 'null_resource.main'],
    ])
    expect(owned()).toEqual(['main'])
    expect(here.writes.filter(it => it.startsWith('DELETE'))).toEqual([])
  })

  it('is not settled by a plan, which says there what the other machine has begun', async () => {
    await begunHere()
    const elsewhere = join(here.folder, 'elsewhere')
    mkdirSync(elsewhere)
    const notes = async (cwd: string): Promise<string[]> =>
      documentOf(await here.fast(['plan', ...on(), '-o', 'json'], {env: env(), cwd, clock})).notes
    const note = expect.stringMatching(/^create cloud\.database cache \(shop:null_resource\.cache\) of run \S+: its task \S+ is \w+$/)
    expect([await notes(elsewhere), await notes(here.folder)]).toEqual([[note], [note]])
    const resumed = await apply(elsewhere, '--resume')
    expect([resumed.code, documentOf(resumed).error.suggestions]).toEqual([
      11,
      expect.arrayContaining([expect.stringContaining('"svcctl apply --synth-dir ')]),
    ])
    expect((await apply(elsewhere)).code).toBe(0)
    expect(await notes(elsewhere)).toEqual([])
  })

  it('is another thing than what nobody has settled yet: that is its own', async () => {
    await begunHere()
    // Whatever else is written meanwhile.
    saveStack(here.folder, base())
    const {serial, ...ledger} = JSON.parse(state.state ?? '{}')
    state.state = JSON.stringify({...ledger, serial: serial + 1})
    const again = await apply(here.folder)
    expect(again.stderr).toContain('G_PROTECTED')
    expect(owned()).toEqual(['cache', 'main'])
  })

  it('and deleted since, is over for the machine whose run had begun it, too: nothing is looked for, and nobody waits', async () => {
    await begunHere()
    const elsewhere = join(here.folder, 'elsewhere')
    mkdirSync(elsewhere)
    saveStack(here.folder, base())
    const next = await apply(elsewhere, '--allow-destroy', 'cloud.database')
    expect(next.code, next.stderr).toBe(0)
    expect(here.writes.at(-1)).toBe('DELETE /subscriptions/1/databases/1')
    const again = await apply(here.folder)
    expect(again.code, again.stderr).toBe(0)
    expect(documentOf(await here.run(['runs', 'list', '-o', 'json'])).map((it: {state: string}) => it.state)).not.toContain('unfinished')
  })

  it('is not what another program has left out of the ledger that it wrote', async () => {
    await begunHere()
    const {serial, svcctl: _, ...ledger} = JSON.parse(state.state ?? '{}')
    state.state = JSON.stringify({...ledger, serial: serial + 1})
    saveStack(here.folder, base().database('cache', 'main', {memoryLimitInGb: 2}))
    const again = await apply(here.folder)
    expect(again.code, again.stderr).toBe(0)
    expect(owned()).toEqual(['cache', 'main'])
  })

  it('and let go of since, is not taken back where its stack keeps its ledger at another address by now', async () => {
    await begunHere()
    const elsewhere = join(here.folder, 'elsewhere')
    mkdirSync(elsewhere)
    const there = await startStateServer()
    onTestFinished(() => there.close())
    const {address} = there
    const atNewAddress = () => base().backend({http: {address, lock_address: address, unlock_address: address}})
    saveStack(here.folder, atNewAddress().database('cache', 'main'))
    const [from, moved] = [state.address, {cwd: elsewhere, clock}]
    const came = await here.run(['transfer', '--from-state', from, '--stack', 'shop', ...on()], moved)
    expect(came.code, came.stderr).toBe(0)
    const args = ['apply', ...on(), '--auto-approve', '-o', 'json']
    expect((await here.fast(args, moved)).code).toBe(0)
    saveStack(here.folder, atNewAddress())
    expect((await here.run(['forget', 'cache', ...on(), '--yes'], moved)).code).toBe(0)
    const again = await here.fast(args, {...moved, cwd: here.folder})
    expect(again.code, again.stderr).toBe(0)
    expect(JSON.parse(there.state ?? '{}').resources.map((it: {name: string}) => it.name)).toEqual(['main'])
    expect(here.writes.filter(it => it.startsWith('DELETE'))).toEqual([])
  })
})
