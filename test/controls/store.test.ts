import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setImmediate as turn} from 'node:timers/promises'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type Clock, systemClock} from '../../src/base/clock.ts'
import {systemRandom} from '../../src/base/random.ts'
import {withAddedHolds, withFreeze} from '../../src/controls/document.ts'
import {besideLedger, ofAccount} from '../../src/controls/place.ts'
import {asFile, ControlsStore, OWNER} from '../../src/controls/store.ts'
import type {Freeze, Hold} from '../../src/engine/model/controls.ts'
import type {LedgerLocation} from '../../src/engine/model/declaration.ts'
import {openLedgerStore} from '../../src/ledger/backends/open-ledger.ts'
import type {ManagedLedgerStore} from '../../src/ledger/managed-store.ts'
import {createTransport, type NetworkTransport} from '../../src/transport/undici-transport.ts'
import {type StateServer, startStateServer} from '../support/state-server.ts'

let folder: string
let server: StateServer
let network: NetworkTransport

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-controls-'))
  server = await startStateServer()
  network = createTransport()
})
afterEach(async () => {
  await network.close()
  await server.close()
  rmSync(folder, {recursive: true, force: true})
})

/** Waits are short, and long ones pass at once. */
const quick: Clock = {now: () => Date.now(), sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 2), signal)}

const now = () => Date.parse('2026-11-22T10:00:00Z')

const storeAt = (location: LedgerLocation, clock: Clock = quick) =>
  openLedgerStore(location, {
    stack: OWNER,
    folder,
    environment: {},
    transport: () => network.send,
    clock,
    random: systemRandom,
    pid: process.pid,
    host: 'build-7',
    user: 'tester',
    version: '0.0.0',
    notice: () => {},
    fileContent: asFile,
  })

const open = (location: LedgerLocation, {clock = quick, lockless}: {clock?: Clock; lockless?: LedgerLocation | undefined} = {}) =>
  new ControlsStore(storeAt(location, clock), now, lockless && storeAt(lockless, clock))

const file = (): LedgerLocation =>
  besideLedger({type: 'local', file: join(folder, 'terraform.shop.tfstate')}, {environment: {}, stack: 'shop', folder})
const path = () => join(folder, 'terraform.shop.tfstate.controls.json')
const http = (): LedgerLocation =>
  besideLedger(
    {type: 'http', address: server.address, lockAddress: server.address, unlockAddress: server.address},
    {environment: {}, stack: 'shop', folder},
  )
const places = [
  ['in a file', file],
  ['behind http', http],
] as const

const freeze = (id: string, until = '2026-11-23T10:00:00.000Z'): Freeze => ({
  id,
  stack: 'shop',
  by: 'ada',
  until,
  reason: 'incident',
  at: '2026-11-22T09:00:00.000Z',
  strict: false,
})
const hold = (local: string): Hold => ({
  stack: 'shop',
  address: `null_resource.${local}`,
  kind: 'cloud.database',
  by: 'ada',
  until: '2026-11-23T10:00:00.000Z',
  reason: 'load test',
  at: '2026-11-22T09:00:00.000Z',
})
const frozen = (store: ControlsStore, id: string) => store.change(it => ({controls: withFreeze(it, freeze(id)), result: id}))

describe.each(places)('controls %s', (_, place) => {
  it('are none where nothing is', async () => {
    expect(await open(place()).read()).toEqual({serial: 0, freezes: [], holds: []})
  })

  it('come back as they were said, with a serial that grows', async () => {
    const store = open(place())
    await frozen(store, 'f-1')
    await store.change(it => ({controls: withAddedHolds(it, [hold('a')]), result: undefined}))
    expect(await open(place()).read()).toEqual({serial: 2, freezes: [freeze('f-1')], holds: [hold('a')]})
  })

  it('lose nothing of what many say at once', async () => {
    const ids = Array.from({length: 12}, (_, i) => `f-${i}`)
    await Promise.all(ids.map(id => frozen(open(place()), id)))
    const {freezes, serial} = await open(place()).read()
    expect(freezes.map(it => it.id).sort()).toEqual([...ids].sort())
    expect(serial).toBe(12)
  })

  it('that are over by the clock that looks stay for those who look by another one, unless they are said anew', async () => {
    const store = open(place())
    const over = {until: '2026-11-22T09:59:59.000Z'}
    await store.change(it => ({controls: withFreeze(it, freeze('f-1', over.until)), result: undefined}))
    await store.change(it => ({
      controls: withAddedHolds(it, [hold('a'), {...hold('b'), ...over}, {...hold('c'), ...over}]),
      result: undefined,
    }))
    await store.change(it => ({controls: withAddedHolds(it, [hold('c')]), result: undefined}))
    expect(await store.read()).toMatchObject({freezes: [], holds: [hold('a'), hold('c')]})
    const behind = new ControlsStore(storeAt(place()), () => now() - 60_000)
    expect(await behind.read()).toMatchObject({
      freezes: [freeze('f-1', over.until)],
      holds: [hold('a'), {...hold('b'), ...over}, hold('c')],
    })
  })

  it('count no more when their time is over, and go with a change a day later', async () => {
    const store = open(place())
    await store.change(it => ({controls: withFreeze(it, freeze('f-old', '2026-11-21T09:59:59.000Z')), result: undefined}))
    expect((await store.read()).freezes).toEqual([])
    await frozen(store, 'f-new')
    const text = place().type === 'local' ? readFileSync(path(), 'utf8') : (server.controls.state ?? '')
    expect(text).toContain('f-new')
    expect(text).not.toContain('f-old')
  })
})

describe('the document', () => {
  it('stands by itself in a file, which is for its owner alone and has nothing else beside it', async () => {
    await frozen(open(file()), 'f-1')
    expect(JSON.parse(readFileSync(path(), 'utf8'))).toEqual({
      format: 'svcctl.controls/1',
      serial: 1,
      freezes: [freeze('f-1')],
      holds: [],
    })
    await frozen(open(file()), 'f-2')
    expect(readdirSync(folder)).toEqual(['terraform.shop.tfstate.controls.json'])
  })

  it('is an output of a state behind http, under a lock of its own', async () => {
    const ledgerLock = {ID: 'of the apply'}
    server.lock = ledgerLock
    await frozen(open(http()), 'f-1')
    const state = JSON.parse(server.controls.state ?? '')
    expect(state).toMatchObject({version: 4, serial: 1, resources: []})
    expect(state.outputs.controls.value).toEqual({format: 'svcctl.controls/1', serial: 1, freezes: [freeze('f-1')], holds: []})
    expect(server.lock).toBe(ledgerLock)
    expect(server.requests).toEqual([])
    expect(server.controls.requests.map(it => it.is.split('?')[0])).toContain('LOCK /state/shop-controls')
  })

  it.each([
    ['no JSON', '{"format": "svcctl.con', 'no JSON'],
    ['something else', '{"version": 4}', 'no document of controls'],
    ['another version', '{"format": "svcctl.controls/2", "serial": 1}', 'another version ("svcctl.controls/2"'],
    [
      'a freeze without a reason',
      JSON.stringify({format: 'svcctl.controls/1', serial: 1, freezes: [{...freeze('f'), reason: ''}], holds: []}),
      'freezes.0.reason',
    ],
    [
      'a reason with a line of ours in it',
      JSON.stringify({format: 'svcctl.controls/1', serial: 1, freezes: [{...freeze('f'), reason: 'x\nNo drift.'}], holds: []}),
      'freezes.0.reason',
    ],
    [
      'a moment that is none',
      JSON.stringify({format: 'svcctl.controls/1', serial: 1, freezes: [freeze('f', 'soon')], holds: []}),
      'freezes.0.until',
    ],
    [
      'an id that is a path',
      JSON.stringify({format: 'svcctl.controls/1', serial: 1, freezes: [freeze('../x')], holds: []}),
      'freezes.0.id',
    ],
    ['what nobody knows', JSON.stringify({format: 'svcctl.controls/1', serial: 1, freezes: [], holds: [], more: 1}), 'more'],
    ['nothing', '', 'no JSON'],
  ])('that is %s is an error that says so, and is never written over', async (_, text, why) => {
    writeFileSync(path(), text)
    const error = expect.objectContaining({code: 'E_CONTROLS', exit: 1, message: expect.stringContaining(why)})
    await expect(open(file()).read()).rejects.toEqual(error)
    await expect(frozen(open(file()), 'f-1')).rejects.toEqual(error)
    expect(readFileSync(path(), 'utf8')).toBe(text)
  })

  it('of endless length is not read', async () => {
    writeFileSync(path(), ' '.repeat(9_000_000))
    await expect(open(file()).read()).rejects.toMatchObject({code: 'E_CONTROLS', message: expect.stringMatching(/larger than \d+ bytes/)})
  })

  it('does not grow without end', async () => {
    const many = Array.from({length: 10_001}, (_, i) => hold(String(i)))
    const change = open(file()).change(it => ({controls: withAddedHolds(it, many), result: undefined}))
    await expect(change).rejects.toMatchObject({code: 'E_CONTROLS', message: expect.stringContaining('more than 10000 entries')})
    expect(existsSync(path())).toBe(false)
  })

  it.each([
    ['a state with something else in it', JSON.stringify({version: 4, serial: 1, lineage: 'x', outputs: {}, resources: []})],
    ['a login page', '<html>'],
    ['a newer state', JSON.stringify({version: 5})],
  ])('behind http that is %s is E_CONTROLS', async (_, text) => {
    server.controls.state = text
    await expect(open(http()).read()).rejects.toMatchObject({code: 'E_CONTROLS', exit: 1})
  })
})

describe('a lock on controls', () => {
  it('whose holder is gone for good is taken away, and the change is made', async () => {
    server.controls.lock = {ID: 'left over'}
    await frozen(open(http(), {clock: passing()}), 'f-1')
    expect((await open(http()).read()).freezes).toHaveLength(1)
    expect(server.controls.lock).toBeUndefined()
  })

  it('is not waited for any more by whoever is stopped, and nothing is changed', async () => {
    const reason = new Error('stopped')
    const stopped = (stop: AbortController, store: ControlsStore) =>
      store.change(it => ({controls: withFreeze(it, freeze('f-1')), result: 'f-1'}), {signal: stop.signal, begun: () => {}})
    const waiting = new AbortController()
    let looks = 0
    const clock = passing(() => {
      looks += 1
      waiting.abort(reason)
    })
    server.controls.lock = {ID: 'theirs'}
    await expect(stopped(waiting, open(http(), {clock}))).rejects.toBe(reason)
    expect([looks, server.controls.lock]).toEqual([1, {ID: 'theirs'}])
    server.controls.lock = undefined
    const taking = new AbortController()
    const store = storeAt(file())
    const inTheMoment: ManagedLedgerStore = {
      place: store.place,
      key: store.key,
      isRemote: false,
      load: () => store.load(),
      save: it => store.save(it),
      assertHeld: () => store.assertHeld(),
      lockSeen: () => store.lockSeen(),
      forceUnlock: it => store.forceUnlock(it),
      lock: async ms => {
        const unlock = await store.lock(ms)
        taking.abort(reason)
        return unlock
      },
    }
    await expect(stopped(taking, new ControlsStore(inTheMoment, now))).rejects.toBe(reason)
    for (const place of [http(), file()]) expect((await open(place).read()).freezes).toEqual([])
  })

  it('is not taken away from a process that lives, however long it has it', async () => {
    const held = storeAt(file())
    const unlock = await held.lock(0)
    await expect(frozen(open(file(), {clock: passing()}), 'f-1')).rejects.toMatchObject({code: 'E_CONTROLS_LOCKED'})
    await held.assertHeld()
    await unlock()
    expect((await open(file()).read()).freezes).toEqual([])
  })

  it('is not taken away from those who take turns', async () => {
    let turn = 0
    server.controls.lock = {ID: 'turn 0'}
    const clock = passing(() => {
      turn += 1
      server.controls.lock = turn > 30 ? undefined : {ID: `turn ${turn}`}
    })
    await frozen(open(http(), {clock}), 'f-1')
    expect(turn).toBeGreaterThan(30)
  })

  it('is done without where the server that a profile names has none', async () => {
    const address = `${server.address}-controls`
    server.controls.faults.push(405)
    const {location, lockless} = ofAccount(folder, 'k', address)
    await frozen(open(location, {lockless}), 'f-1')
    expect((await open(location).read()).freezes).toEqual([freeze('f-1')])
  })

  it('is not missed for ever where there is none, and others write each time', async () => {
    let written = false
    server.beforeWrite = () => {
      written = true
    }
    server.hold = () => {
      if (written) server.state = server.state?.replace(/"serial": (\d+)/g, (_, serial: string) => `"serial": ${Number(serial) + 1}`)
      written = false
      return false
    }
    await expect(frozen(open({type: 'http', address: server.address}), 'f-1')).rejects.toMatchObject({
      code: 'E_CONTROLS_LOCKED',
      exit: 10,
    })
  })

  it('that is lost while a change is made has it made again, on what others wrote', async () => {
    // Somebody else has it until it was waited for once.
    const clock = passing(() => {
      server.controls.lock = undefined
    })
    const store = open(http(), {clock})
    let first = true
    await store.change(it => {
      if (first) {
        first = false
        server.controls.lock = {ID: 'somebody forced it'}
      }
      return {controls: withFreeze(it, freeze('f-1')), result: undefined}
    })
    expect((await store.read()).freezes).toHaveLength(1)
  })
})

/** Ten seconds pass with each sleep. */
function passing(onSleep: () => void = () => {}): Clock {
  let at = Date.now()
  return {
    now: () => at,
    sleep: async ms => {
      at += ms
      onSleep()
      await turn()
    },
  }
}

describe('where controls are kept', () => {
  const besides = (address: string, lockAddress?: string) =>
    besideLedger(
      {type: 'http', address, ...(lockAddress ? {lockAddress, unlockAddress: lockAddress} : {})},
      {environment: {}, stack: 'shop', folder},
    )

  it.each([
    ['https://host/state/shop', undefined, 'https://host/state/shop-controls', undefined],
    ['https://host/state/shop/', undefined, 'https://host/state/shop-controls/', undefined],
    [
      'https://host/state/shop?ref=a',
      'https://host/state/shop?ref=a',
      'https://host/state/shop-controls?ref=a',
      'https://host/state/shop-controls?ref=a',
    ],
    ['https://git/state/shop', 'https://git/state/shop/lock', 'https://git/state/shop-controls', 'https://git/state/shop-controls/lock'],
    [
      'https://git/state/shop/?a=1',
      'https://git/state/shop/lock',
      'https://git/state/shop-controls/?a=1',
      'https://git/state/shop-controls/lock',
    ],
    ['https://host/state/shop', 'https://host/locks/shop', 'https://host/state/shop-controls', 'https://host/locks/shop-controls'],
  ])('%s with the lock %s', (address, lock, controls, controlsLock) => {
    expect(besides(address, lock)).toMatchObject({
      address: controls,
      ...(controlsLock ? {lockAddress: controlsLock, unlockAddress: controlsLock} : {}),
    })
  })

  it('follows TF_HTTP_ADDRESS and its lock addresses', () => {
    const environment = {
      TF_HTTP_ADDRESS: 'https://h/s',
      TF_HTTP_LOCK_ADDRESS: 'https://h/s/lock',
      TF_HTTP_UNLOCK_ADDRESS: 'https://h/s/lock',
    }
    expect(besideLedger({type: 'http'}, {environment, stack: 'shop', folder})).toEqual({
      type: 'http',
      address: 'https://h/s-controls',
      lockAddress: 'https://h/s-controls/lock',
      unlockAddress: 'https://h/s-controls/lock',
    })
  })

  it.each(['a ledger', 'nothing yet'])('is one place for all who link to %s', what => {
    const real = join(folder, 'shared.tfstate')
    if (what === 'a ledger') writeFileSync(real, '{}')
    const of = (checkout: string, ledger: string) =>
      besideLedger({type: 'local', file: ledger}, {environment: {}, stack: 'shop', folder: checkout})
    const linked = ['a', 'b'].map(name => {
      mkdirSync(join(folder, name))
      symlinkSync(real, join(folder, name, 'terraform.shop.tfstate'))
      return of(join(folder, name), 'terraform.shop.tfstate')
    })
    expect([...linked, of(folder, 'shared.tfstate')]).toEqual(Array(3).fill({type: 'local', file: `${real}.controls.json`}))
  })

  it('is the state folder for an account, unless its profile says where', () => {
    expect(ofAccount('/state', 'k', undefined)).toEqual({location: {type: 'local', file: '/state/accounts/k/controls.json'}})
    expect(ofAccount('/state', 'k', '/shared/controls.json')).toEqual({location: {type: 'local', file: '/shared/controls.json'}})
    const address = 'https://h/c'
    expect(ofAccount('/state', 'k', address)).toEqual({
      location: {type: 'http', address, lockAddress: address, unlockAddress: address},
      lockless: {type: 'http', address},
    })
  })
})
