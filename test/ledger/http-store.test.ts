import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import type {Clock} from '../../src/base/clock.ts'
import {systemRandom} from '../../src/base/random.ts'
import {standingLocks} from '../../src/base/standing-locks.ts'
import type {LedgerEntry} from '../../src/engine/model/ledger.ts'
import {openLedgerStore} from '../../src/ledger/backends/open-ledger.ts'
import {type HttpLocation, httpBackendOf} from '../../src/ledger/http-backend.ts'
import {lockAll} from '../../src/ledger/managed-store.ts'
import {createTransport, type NetworkTransport} from '../../src/transport/undici-transport.ts'
import {type StateServer, startStateServer} from '../support/state-server.ts'
import {entry, fullLedger, ledgerOf} from './sample-ledger.ts'

let server: StateServer
let network: NetworkTransport
let notices: string[]
let slept: number[]
/** Happens in a pause. */
let meanwhile: () => Promise<void>

beforeEach(async () => {
  server = await startStateServer()
  network = createTransport()
  notices = []
  slept = []
  meanwhile = async () => {}
})
afterEach(async () => {
  await network.close()
  await server.close()
})

/** Sleeping takes no time and is written down. */
const clock = (): Clock => {
  let now = Date.UTC(2026, 10, 21)
  return {
    now: () => now,
    sleep: async ms => {
      slept.push(ms)
      now += ms
      await meanwhile()
    },
  }
}

const open = (location: HttpLocation, environment: Record<string, string> = {}, at = clock()) =>
  openLedgerStore(location, {
    stack: 'shop',
    folder: '/nowhere',
    environment,
    transport: () => network.send,
    clock: at,
    random: systemRandom,
    pid: 1,
    host: 'build-7',
    user: 'tester',
    version: '0.1.0',
    notice: message => notices.push(message),
  })

const store = (more: Partial<HttpLocation> = {}, environment: Record<string, string> = {}, at = clock()) => {
  const {address} = server
  return open({type: 'http', address, lockAddress: address, unlockAddress: address, ...more}, environment, at)
}

describe('a server whose copies lag behind', () => {
  it('is asked again until it gives back what this run has written, and is no reason to go on from less', async () => {
    const it = store()
    const unlock = await it.lock(0)
    await it.save(await it.load())
    const older = server.state
    await it.save(await it.load())
    const newest = server.state
    server.state = older
    meanwhile = async () => {
      server.state = newest
    }
    expect(await it.load()).toMatchObject({serial: 2})
    for (const lags of [older, undefined]) {
      server.state = lags
      meanwhile = async () => {}
      await expect(it.load()).rejects.toMatchObject({code: 'E_LEDGER_ACCESS', message: expect.stringContaining('and had 2 before')})
      expect(server.state).toBe(lags)
    }
    await unlock()
    // Without its lock others may have brought an older one back.
    server.state = older
    expect(await it.load()).toMatchObject({serial: 1})
  })

  it('is asked whether it has kept what this run has written: a yes to the write does not say so', async () => {
    const it = store()
    const unlock = await it.lock(0)
    const read = await it.load()
    await it.assertKept?.()
    expect(server.requests.filter(line => line.startsWith('GET'))).toHaveLength(1)
    const kept = await it.save(read)
    await it.assertKept?.()
    server.keepsNothing = true
    await it.save(kept)
    await expect(it.assertKept?.()).rejects.toMatchObject({code: 'E_LEDGER_ACCESS', message: expect.stringContaining('and had 2 before')})
    await unlock()
  })

  it('is asked again under the lock, too, for what was read before it was taken', async () => {
    const writer = store()
    const given = await writer.lock(0)
    await writer.save(await writer.load())
    const older = server.state
    await writer.save(await writer.load())
    const newest = server.state
    await given()
    const it = store()
    expect(await it.load()).toMatchObject({serial: 2})
    const unlock = await it.lock(0)
    for (const lags of [older, undefined]) {
      server.state = lags
      await expect(it.load()).rejects.toMatchObject({code: 'E_LEDGER_ACCESS', message: expect.stringContaining('and had 2 before')})
    }
    meanwhile = async () => {
      server.state = newest
    }
    expect(await it.load()).toMatchObject({serial: 2})
    await unlock()
  })

  it.each(['nameless', 'repeated'] as const)(
    'says nothing of who has the lock, where that is told from the ledger (a lock that is %s): nobody else has written',
    async lockAnswer => {
      server.lockAnswer = lockAnswer
      const it = store()
      await it.lock(0)
      let saved = await it.save(await it.load())
      for (const older of [server.state, undefined]) {
        saved = await it.save({...saved, outputs: {port: {value: saved.serial, sensitive: false}}})
        const newest = server.state
        server.state = older
        await expect(it.assertHeld()).rejects.toMatchObject({code: 'E_LEDGER_ACCESS'})
        meanwhile = async () => {
          server.state = newest
        }
        await it.assertHeld()
        server.state = newest
        meanwhile = async () => {}
      }
      await it.save(saved)
    },
  )
})

describe('a server that says "locked" of a lock that is this run\'s', () => {
  it.each(
    ([409, 423] as const).flatMap(status => (['named', 'nameless', 'repeated'] as const).map(lockAnswer => [status, lockAnswer] as const)),
  )('to a write (%i, a lock that is %s) is asked whose it is, and the write can be tried again', async (status, lockAnswer) => {
    server.lockAnswer = lockAnswer
    const it = store()
    const unlock = await it.lock(0)
    const read = await it.load()
    server.beforeWrite = () => {
      server.beforeWrite = () => {}
      server.faults.push(status)
    }
    await expect(it.save(read)).rejects.toMatchObject({code: 'E_LEDGER_ACCESS', exit: 1})
    expect(await it.save(read)).toMatchObject({serial: 1})
    await unlock()
  })

  it("and is somebody else's by then is not written to", async () => {
    const it = store()
    await it.lock(0)
    const read = await it.load()
    server.beforeWrite = () => {
      server.lock = {ID: 'theirs'}
      server.faults.push(409)
    }
    await expect(it.save(read)).rejects.toMatchObject({code: 'E_LOCK_LOST', message: expect.stringContaining('lock theirs')})
  })

  it('when it is to be given back is told of with the command that frees it, and nothing is said of the ledger that is not so', async () => {
    const unlock = await store().lock(0)
    const {ID = ''} = server.lock ?? {}
    server.faults.push(409)
    await expect(unlock()).rejects.toMatchObject({
      code: 'E_LEDGER_ACCESS',
      suggestions: expect.arrayContaining([`Then free it: svcctl force-unlock --stack shop ${ID}`]),
    })
  })

  it('of one that was taken without an answer, and names nobody, leaves the person the id of that lock', async () => {
    server.lockAnswer = 'nameless'
    server.faults.push('drop')
    const refusal = await store()
      .lock(1_000)
      .catch(error => error)
    expect(refusal).toMatchObject({code: 'E_LOCKED', message: expect.stringContaining('or by this command')})
    expect(refusal.suggestions.join()).toContain(`svcctl force-unlock --stack shop ${server.lock?.ID}`)
  })
})

describe('somebody who writes past the lock, and counts on from the same serial', () => {
  const theirs = () => {
    server.state = JSON.stringify({...JSON.parse(server.state ?? ''), outputs: {whose: {value: 'theirs', type: 'string'}}})
  }
  const unlocked = () => open({type: 'http', address: server.address})

  it.each(['nameless', 'repeated'] as const)(
    'has the lock, where only the ledger tells who has it (a lock that is %s)',
    async lockAnswer => {
      server.lockAnswer = lockAnswer
      const it = store()
      await it.lock(0)
      const saved = await it.save(await it.load())
      await it.assertHeld()
      theirs()
      await expect(it.assertHeld()).rejects.toMatchObject({code: 'E_LOCK_LOST', exit: 10})
      await expect(it.save(saved)).rejects.toMatchObject({code: 'E_LOCK_LOST'})
      expect(server.state).toContain('theirs')
    },
  )

  it('is not overwritten where there are no locks', async () => {
    const it = unlocked()
    await it.lock(0)
    const saved = await it.save(await it.load())
    theirs()
    await expect(it.save(saved)).rejects.toMatchObject({
      code: 'E_LEDGER_CHANGED',
      exit: 5,
      message: expect.stringContaining('another one with that number'),
    })
    expect(server.state).toContain('theirs')
  })

  it.each([
    ['locks', () => store()],
    ['no locks', unlocked],
  ])('is not read as what this run wrote (%s), and is read by the next one', async (_what, opened) => {
    const it = opened()
    const unlock = await it.lock(0)
    const saved = await it.save(await it.load())
    expect(await it.load()).toEqual(saved)
    theirs()
    await expect(it.load()).rejects.toMatchObject({code: 'E_LEDGER_CHANGED', exit: 5})
    await unlock()
    await it.lock(0)
    expect((await it.load()).outputs).toEqual({whose: {value: 'theirs', sensitive: false}})
  })

  it('is not overwritten by a second try', async () => {
    const it = store()
    await it.lock(0)
    const saved = await it.save(await it.load())
    server.beforeWrite = () => void server.faults.push(503)
    meanwhile = async () => theirs()
    await expect(it.save(saved)).rejects.toMatchObject({code: 'E_LEDGER_CHANGED', exit: 5})
    expect(server.state).toContain('theirs')
  })

  it.each([409, 422, 500])('is told of where the server keeps count and refuses the write (%i)', async serialTaken => {
    server.serialTaken = serialTaken
    const it = store()
    await it.lock(0)
    const first = await it.save(await it.load())
    server.state = JSON.stringify({...JSON.parse(server.state ?? ''), serial: 2})
    theirs()
    await expect(it.save(first)).rejects.toMatchObject({code: 'E_LEDGER_CHANGED', exit: 5})
    expect(server.state).toContain('theirs')
  })

  it('is not this run, of which the server takes a write late that it had not answered: the next one has all of it again', async () => {
    server.lockAnswer = 'nameless'
    const it = store()
    const unlock = await it.lock(0)
    const first = await it.save(await it.load())
    const before = server.state
    server.beforeWrite = () => void server.faults.push('drop')
    await expect(it.save({...first, outputs: {port: {value: 2, sensitive: false}}})).rejects.toMatchObject({exit: 13})
    server.beforeWrite = () => {}
    const late = server.state
    server.state = before
    const second = await it.save({...first, outputs: {port: {value: 3, sensitive: false}}})
    server.state = late
    await it.assertHeld()
    await expect(it.load()).rejects.toMatchObject({code: 'E_LEDGER_CHANGED'})
    const third = await it.save(second)
    expect([third.serial, await it.load()]).toEqual([3, third])
    await unlock()
  })

  it('is not who takes a state apart and gives it back in another order', async () => {
    server.lockAnswer = 'nameless'
    const it = store()
    await it.lock(0)
    let saved = await it.save({...fullLedger(), ...(await it.load()), entries: fullLedger().entries})
    const otherwise = () => {
      server.state = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(server.state ?? '')).reverse()), undefined, 4)
    }
    otherwise()
    await it.assertHeld()
    expect(await it.load()).toEqual(saved)
    server.beforeWrite = () => void server.faults.push('drop')
    await expect(it.save(saved)).rejects.toMatchObject({exit: 13})
    server.beforeWrite = () => {}
    otherwise()
    await it.assertHeld()
    saved = await it.save(saved)
    expect(saved.serial).toBe(3)
  })
})

describe('a ledger behind the HTTP state protocol', () => {
  it('is absent where the server answers 404, 204 or nothing', async () => {
    expect((await store().load()).condition).toBe('absent')
    server.faults.push(204)
    expect((await store().load()).condition).toBe('absent')
    server.state = ''
    expect((await store().load()).condition).toBe('absent')
  })

  it('is not taken for absent where an answer of unknown length was cut to nothing', async () => {
    const it = store()
    const unlock = await it.lock(0)
    const saved = await it.save(await it.load())
    await unlock()
    server.faults.push('nothing')
    expect(await store().load()).toEqual(saved)
    server.faults.push('nothing', 'nothing')
    expect((await store().load()).condition).toBe('absent')
  })

  it('comes back as it was saved, under the lock that was taken for it', async () => {
    const it = store()
    const unlock = await it.lock(0)
    const {ID, ...lock} = server.lock ?? {ID: ''}
    expect(lock).toEqual({
      Operation: 'svcctl apply',
      Info: 'stack shop',
      Who: 'tester@build-7',
      Version: '0.1.0',
      Created: '2026-11-21T00:00:00.000Z',
      Path: '',
    })
    const saved = await it.save({...fullLedger(), ...(await it.load()), entries: fullLedger().entries})
    await unlock()
    expect(saved).toMatchObject({serial: 1, condition: 'present'})
    expect(await store().load()).toEqual(saved)
    expect(server.lock).toBeUndefined()
    expect(server.requests).toEqual([
      'LOCK /state/shop',
      'GET /state/shop',
      'LOCK /state/shop',
      `POST /state/shop?ID=${ID}`,
      'UNLOCK /state/shop',
      'GET /state/shop',
    ])
  })

  it('asks no second time for what it saved itself under its lock', async () => {
    const it = store()
    const unlock = await it.lock(0)
    const first = await it.save(await it.load())
    await it.save(await it.save(first))
    await unlock()
    expect(server.requests.map(request => request.split(' ')[0])).toEqual([
      'LOCK',
      'GET',
      ...['LOCK', 'POST'],
      ...['LOCK', 'POST'],
      ...['LOCK', 'POST'],
      'UNLOCK',
    ])
  })

  it('names the holder of the lock when the time to wait for it is over', async () => {
    const unlock = await store().lock(0)
    await expect(store().lock(1_000)).rejects.toMatchObject({
      code: 'E_LOCKED',
      exit: 10,
      message: expect.stringContaining('is locked by tester@build-7 (svcctl apply) since 2026-11-21T00:00:00.000Z, lock '),
    })
    expect(slept).toEqual([100, 200, 400, 300])
    await unlock()
    await (await store().lock(0))()
  })

  it('knows its own lock again when the answer to LOCK got lost', async () => {
    server.faults.push('drop')
    const unlock = await store().lock(0)
    expect(server.requests).toEqual(['LOCK /state/shop', 'LOCK /state/shop'])
    await unlock()
    expect(server.lock).toBeUndefined()
  })

  it('is not written over by a run that read it before it took the lock', async () => {
    const [mine, theirs] = [store(), store()]
    const read = await mine.load()
    let unlock = await theirs.lock(0)
    await theirs.save(await theirs.load())
    await unlock()
    const before = server.state
    unlock = await mine.lock(0)
    await expect(mine.save(read)).rejects.toMatchObject({code: 'E_LEDGER_CHANGED', exit: 5})
    await unlock()
    expect(server.state).toBe(before)
  })

  it('says when it gives back a lock that is another run’s by then, and not that nothing was written', async () => {
    const it = store()
    const unlock = await it.lock(0)
    await it.save(await it.load())
    server.lock = {ID: 'theirs'}
    await expect(unlock()).rejects.toMatchObject({
      code: 'E_LOCK_LOST',
      message: expect.stringContaining('lock theirs), which was only seen when it was given back'),
    })
  })

  it('is not written by a run whose lock was forced', async () => {
    const it = store()
    await it.lock(0)
    const ledger = await it.load()
    await expect(store().forceUnlock()).rejects.toMatchObject({code: 'E_LOCK_ID', exit: 64})
    await store().forceUnlock(server.lock?.ID)
    await store().lock(0)
    await expect(it.save(ledger)).rejects.toMatchObject({code: 'E_LOCK_LOST', exit: 10})
    expect(server.state).toBeUndefined()
  })

  /** Once, in the pause before the second try of a write: somebody forces the lock, writes and goes. */
  const forcedInThePause = (location: HttpLocation) => {
    server.beforeWrite = () => {
      server.beforeWrite = () => {}
      server.faults.push(503)
    }
    meanwhile = async () => {
      meanwhile = async () => {}
      const theirs = open(location)
      if (server.lock) await theirs.forceUnlock(server.lock.ID)
      const unlock = await theirs.lock(0)
      await theirs.save({...(await theirs.load()), outputs: {whose: {value: 'theirs', sensitive: false}}})
      await unlock()
    }
  }

  it('is not written by a process that was stopped after it had looked at its lock, and has gone on since', async () => {
    const at = clock()
    const it = store({}, {}, at)
    await it.lock(0)
    const read = await it.save(await it.load())
    class Stopping extends Map<string, LedgerEntry> {
      override values() {
        void at.sleep(60_000)
        const theirs = {...JSON.parse(server.state ?? ''), serial: 2, outputs: {whose: {value: 'theirs', type: 'string'}}}
        Object.assign(server, {lock: undefined, state: JSON.stringify(theirs)})
        return super.values()
      }
    }
    await expect(it.save({...read, entries: new Stopping(read.entries)})).rejects.toMatchObject({code: 'E_LOCK_LOST', exit: 10})
    expect(server.state).toContain('theirs')
  })

  it('is not written by a second try, before which the lock was forced', async () => {
    const {address} = server
    const it = store()
    await it.lock(0)
    const ledger = await it.load()
    forcedInThePause({type: 'http', address, lockAddress: address, unlockAddress: address})
    await expect(it.save(ledger)).rejects.toMatchObject({code: 'E_LOCK_LOST', exit: 10})
    expect(server.state).toContain('theirs')
  })

  it('without locks is not written by a second try, before which somebody else wrote it', async () => {
    const it = open({type: 'http', address: server.address})
    await it.lock(0)
    const ledger = await it.load()
    forcedInThePause({type: 'http', address: server.address})
    await expect(it.save(ledger)).rejects.toMatchObject({code: 'E_LEDGER_CHANGED', exit: 5})
    expect(server.state).toContain('theirs')
  })

  it('is not left locked by who gave up in the moment in which it got the lock it had waited for', async () => {
    const unlock = await store().lock(0)
    const stop = new AbortController()
    meanwhile = async () => {
      meanwhile = async () => {}
      await unlock()
      server.hold = () => {
        server.hold = () => false
        setImmediate(() => stop.abort())
        return true
      }
    }
    await expect(store().lock(60_000, stop.signal)).rejects.toMatchObject({code: 'E_REQUEST_ABORTED'})
    expect(server.lock).toBeUndefined()
  })

  it.each([403, 405, 501])('that a server refuses with %i is none that stays behind', async status => {
    const before = standingLocks()
    server.faults.push(status, status)
    await expect(store().lock(0)).rejects.toThrow()
    expect(standingLocks()).toEqual(before)
  })

  it.each([403, 405, 501])(
    'that a server refuses with %i is none that stays behind, nor is one that only looks whose it is',
    async status => {
      const before = standingLocks()
      server.faults.push(status)
      await expect(store().lockSeen()).rejects.toThrow()
      expect(standingLocks()).toEqual(before)
    },
  )

  it('stays behind as long as it is held, and no longer; somebody else’s never does', async () => {
    const before = standingLocks()
    const unlock = await store().lock(0)
    expect(standingLocks()).toHaveLength(before.length + 1)
    const others = standingLocks()
    await expect(store().lock(0)).rejects.toMatchObject({code: 'E_LOCKED'})
    expect(await store().lockSeen()).toMatchObject({needsId: true})
    const stop = new AbortController()
    meanwhile = async () => {
      stop.abort(new Error('stopped'))
      throw stop.signal.reason
    }
    await expect(store().lock(60_000, stop.signal)).rejects.toThrow()
    meanwhile = async () => {}
    expect([stop.signal.aborted, standingLocks()]).toEqual([true, others])
    await unlock()
    expect(standingLocks()).toEqual(before)
  })

  it('that a server refuses when it is asked a second time may be the first question’s', async () => {
    const before = standingLocks()
    server.faults.push('drop', 403, ...Array(6).fill(500))
    await expect(store({retryMax: 2}).lock(0)).rejects.toThrow()
    expect(standingLocks().slice(before.length)).toEqual([expect.stringContaining(server.lock?.ID ?? '?')])
  })

  it('of a server that cannot be reached any more may be the first question’s', async () => {
    const before = standingLocks()
    server.faults.push('drop')
    const address = {address: server.address, lockAddress: server.address, unlockAddress: server.address}
    meanwhile = () => server.close()
    await expect(store({...address, retryMax: 1}).lock(0)).rejects.toThrow()
    expect(standingLocks()).toHaveLength(before.length + 1)
    meanwhile = async () => {}
    server = await startStateServer()
  })

  it('of a server that cannot be reached is none that stays behind', async () => {
    const before = standingLocks()
    const unreachable = store({retryMax: 0})
    await server.close()
    await expect(unreachable.lockSeen()).rejects.toThrow()
    await expect(unreachable.lock(0)).rejects.toThrow()
    expect(standingLocks()).toEqual(before)
    server = await startStateServer()
  })

  it('whose question and whose giving back get no answer may stay behind, and is told of with what lifts it', async () => {
    const before = standingLocks()
    server.faults.push('drop', 'drop', 'drop', ...Array(6).fill(500))
    await expect(store({retryMax: 2}).lock(0)).rejects.toThrow()
    const lifting = `svcctl force-unlock --stack shop ${server.lock?.ID}`
    expect(standingLocks().slice(before.length)).toEqual([expect.stringContaining(lifting)])
  })

  it("keeps somebody else's lock where who waits for it gives up", async () => {
    await store().lock(0)
    const held = server.lock
    const stop = new AbortController()
    meanwhile = async () => {
      server.hold = () => {
        server.hold = () => false
        setImmediate(() => stop.abort())
        return true
      }
      meanwhile = async () => {}
    }
    await expect(store().lock(60_000, stop.signal)).rejects.toMatchObject({code: 'E_REQUEST_ABORTED'})
    expect(server.lock).toEqual(held)
  })

  it('without locks is said to be so, and compared before every write', async () => {
    const [mine, theirs] = [open({type: 'http', address: server.address}), open({type: 'http', address: server.address})]
    await mine.lock(0)
    await theirs.lock(0)
    expect(notices[0]).toContain('has no lock (lock_address is not set)')
    const read = await mine.load()
    await theirs.save(await theirs.load())
    await expect(mine.save(read)).rejects.toMatchObject({code: 'E_LEDGER_CHANGED'})
  })

  it.each([
    ['a text', 'hello', 'E_LEDGER_DAMAGED'],
    ['a newer state', '{"version": 5}', 'E_LEDGER_NEWER'],
  ])('refuses %s and leaves it there', async (_what, content, code) => {
    server.state = content
    const it = store()
    const unlock = await it.lock(0)
    await expect(it.save(ledgerOf([entry('null_resource.a', 'cluster/bdbs/1')]))).rejects.toMatchObject({code, exit: 1})
    await unlock()
    expect(server.state).toBe(content)
  })

  it('is tried again after a 5xx, and given up with what the server said', async () => {
    server.faults.push(503, 500)
    await store().load()
    expect(slept).toEqual([1_000, 2_000])
    server.faults.push(503, 503, 503)
    await expect(store().load()).rejects.toMatchObject({
      code: 'E_LEDGER_ACCESS',
      exit: 1,
      message: expect.stringContaining('the server answered 503: not now'),
    })
    expect(server.requests).toHaveLength(6)
  })

  it.each([
    ['in JSON', '{"user": "tf", "password": "hunter22xx"}', '{"user":"tf","password":"[redacted]"}'],
    ['in JSON that was cut', '{"user": "tf", "password": "hunter22x', '{"user": "tf", "password": [redacted]'],
    ['in words', 'no such user: password=hunter22xx', 'no such user: password=[redacted]'],
  ])('does not repeat a secret that the server names %s', async (_where, words, shown) => {
    server.faults.push({status: 400, words})
    await expect(store().load()).rejects.toMatchObject({message: expect.stringContaining(`the server answered 400: ${shown}`)})
  })

  it('says before each pause what is waited for, and for how long', async () => {
    server.faults.push(503, 'drop')
    await store().load()
    expect(notices).toEqual([
      expect.stringMatching(/^The state server http:.* answered 503; tried again in 1 s \(1 of 2\)\.$/),
      expect.stringMatching(/^The state server http:.* cannot be reached \(.*\); tried again in 2 s \(2 of 2\)\.$/),
    ])
  })

  it.each(['named', 'nameless', 'repeated'] as const)(
    "that took a write whose answers were all lost is not taken for somebody else's (a lock that is %s)",
    async lockAnswer => {
      server.lockAnswer = lockAnswer
      const it = store()
      const unlock = await it.lock(0)
      const read = await it.load()
      server.beforeWrite = () => void server.faults.push('drop')
      await expect(it.save(read)).rejects.toMatchObject({exit: 13})
      expect(server.state).toContain('"serial": 1')
      server.beforeWrite = () => {}
      await it.assertHeld()
      const saved = await it.save({...read, outputs: {port: {value: 1, sensitive: false}}})
      await unlock()
      expect(await store().load()).toEqual(saved)
    },
  )

  it('without locks that took a write whose answers were all lost is written again', async () => {
    const it = open({type: 'http', address: server.address})
    await it.lock(0)
    const read = await it.load()
    server.beforeWrite = () => void server.faults.push('drop')
    await expect(it.save(read)).rejects.toMatchObject({exit: 13})
    server.beforeWrite = () => {}
    expect(await it.save(read)).toMatchObject({serial: 2})
  })

  it.each([409, 422, 500])(
    'whose server takes no serial twice (%i) is written once where the answer of a write got lost, and the next write goes on from there',
    async serialTaken => {
      server.serialTaken = serialTaken
      const it = store()
      const unlock = await it.lock(0)
      const read = await it.load()
      server.beforeWrite = () => {
        server.beforeWrite = () => {}
        server.faults.push('drop')
      }
      const saved = await it.save(read)
      expect(saved.serial).toBe(1)
      expect(await it.save({...saved, outputs: {port: {value: 1, sensitive: false}}})).toMatchObject({serial: 2})
      await unlock()
    },
  )

  it('whose server takes no serial twice and was away for a whole write goes on with what it had taken', async () => {
    server.serialTaken = 422
    const it = store()
    const unlock = await it.lock(0)
    const read = await it.load()
    server.beforeWrite = () => void server.faults.push('drop', 'drop', 'drop', 'drop')
    await expect(it.save(read)).rejects.toMatchObject({exit: 13})
    server.beforeWrite = () => {}
    server.faults.length = 0
    const saved = await it.save({...read, outputs: {port: {value: 1, sensitive: false}}})
    await unlock()
    expect([saved.serial, await store().load()]).toEqual([2, saved])
  })

  it('that somebody wrote past the lock is not overwritten where the server keeps count, and says so', async () => {
    server.serialTaken = 409
    const it = store()
    await it.lock(0)
    const read = await it.load()
    server.state = JSON.stringify({version: 4, terraform_version: '1.11.4', serial: 7, lineage: 'theirs', outputs: {}, resources: []})
    await expect(it.save(read)).rejects.toMatchObject({code: 'E_LEDGER_CHANGED', exit: 5})
    expect(server.state).toContain('theirs')
  })

  it('behind a page that wants a login is not called damaged: nobody is told to delete it', async () => {
    server.page = '<!DOCTYPE html><title>Sign in</title>'
    const failure = await store()
      .load()
      .catch(error => error)
    expect(failure).toMatchObject({code: 'E_LEDGER_ACCESS', message: expect.stringContaining('a page (text/html)')})
    expect(failure.suggestions.join()).not.toMatch(/delete/i)
  })

  it('of which half has come is asked for again, and not called damaged', async () => {
    const it = store()
    await it.lock(0)
    const saved = await it.save(await it.load())
    server.faults.push('half')
    expect(await store().load()).toEqual(saved)
    server.state = 'no state'
    server.faults.push('half')
    const failure = await store()
      .load()
      .catch(error => error)
    expect([failure.code, failure.suggestions[0]]).toEqual(['E_LEDGER_DAMAGED', expect.stringMatching(/^Where it stays so: keep a copy/)])
  })

  it('is not taken for written where a login answers for the server, as if all were well', async () => {
    const it = store()
    await it.lock(0)
    const saved = await it.save(await it.load())
    server.page = '<title>Your session has ended</title>'
    await expect(it.save(saved)).rejects.toMatchObject({code: 'E_LEDGER_ACCESS', message: expect.stringContaining('a page (text/html)')})
    server.page = undefined
    expect(await it.save(saved)).toMatchObject({serial: 2})
  })

  it('is neither locked nor given back by a page of a login', async () => {
    const page = {status: 200, words: '<title>Sign in</title>'}
    server.faults.push(page)
    await expect(store().lock(0)).rejects.toMatchObject({code: 'E_LEDGER_ACCESS', message: expect.stringContaining('a page (text/html)')})
    const it = store()
    const unlock = await it.lock(0)
    await it.save(await it.load())
    server.faults.push(page)
    await expect(unlock()).rejects.toMatchObject({code: 'E_LEDGER_ACCESS', message: expect.stringContaining('Could not unlock')})
    await expect(store().lock(0)).rejects.toMatchObject({code: 'E_LOCKED'})
  })

  it('may be kept by a server that calls all its answers pages', async () => {
    server.contentType = 'text/html; charset=utf-8'
    const it = store()
    await it.lock(0)
    const saved = await it.save(await it.load())
    expect(await it.load()).toEqual(saved)
  })

  it('whose lock somebody has says so as soon as it is waited for', async () => {
    await store().lock(0)
    await expect(store().lock(5_000)).rejects.toMatchObject({code: 'E_LOCKED'})
    expect(notices.filter(it => it.startsWith('Waiting'))).toEqual([
      expect.stringMatching(/^Waiting up to 5 s for the lock on http.*, which is held by tester@build-7/),
    ])
  })

  it('is not taken for locked by a server that gives the lock and then fails', async () => {
    const it = store()
    await it.lock(0)
    await it.load()
    server.lock = undefined
    const asked = server.requests.length
    // The look at the lock gets it, and whether that was the first time nobody says.
    server.hold = () => {
      if (server.requests.length === asked + 1) server.faults.push(500, 500, 500)
      return false
    }
    await expect(it.assertHeld()).rejects.toMatchObject({code: 'E_LEDGER_ACCESS'})
    server.hold = () => false
    // It has the lock now, and did not have it all the time.
    await expect(it.assertHeld()).rejects.toMatchObject({code: 'E_LOCK_LOST'})
  })

  it.each([1, 3])(
    'is not taken for locked where the question (%i times unanswered) took the lock that another run had had',
    async drops => {
      const it = store()
      await it.lock(0)
      await it.load()
      server.lock = undefined
      const other = store()
      const unlock = await other.lock(0)
      await other.save(await other.load())
      await unlock()
      server.faults.push(...Array.from({length: drops}, () => 'drop' as const))
      if (drops === 3) await expect(it.assertHeld()).rejects.toMatchObject({exit: 13})
      await expect(it.assertHeld()).rejects.toMatchObject({code: 'E_LOCK_LOST'})
    },
  )

  it('that would take the very lock of another one is refused before anything is locked, and not said to be held by this run', async () => {
    const one = store({address: `${server.address}/one`})
    const other = store({address: `${server.address}/other`})
    await expect(lockAll([one, other], {timeoutMs: 0, clock: clock()})).rejects.toMatchObject({
      code: 'E_LOCK_SHARED',
      exit: 64,
      message: expect.stringContaining(`${server.address}/one`),
      suggestions: [expect.stringContaining('lock_address')],
    })
    expect(server.requests).toEqual([])
  })

  it('that can be locked and never unlocked is refused before it is locked', () => {
    expect(() => open({type: 'http', address: server.address, lockAddress: server.address})).toThrow(
      expect.objectContaining({code: 'E_LEDGER_BACKEND', message: expect.stringContaining('unlock_address')}),
    )
  })

  it('whose lock cannot be given back says how to free it', async () => {
    const unlock = await store().lock(0)
    const {ID = ''} = server.lock ?? {}
    server.faults.push(500, 500, 500)
    const failure = await unlock().catch(error => error)
    expect(failure).toMatchObject({code: 'E_LEDGER_ACCESS'})
    expect(failure.suggestions).toContain(`Then free it: svcctl force-unlock --stack shop ${ID}`)
  })

  it('tells credentials that are missing from those that are wrong', async () => {
    await server.close()
    server = await startStateServer({username: 'ci', password: 'pass-word-1'})
    await expect(store().load()).rejects.toMatchObject({
      code: 'E_LEDGER_AUTH',
      exit: 9,
      message: expect.stringContaining('wants credentials (401)'),
    })
    await expect(store({username: 'ci'}, {TF_HTTP_ADDRESS: server.address, TF_HTTP_PASSWORD: 'other'}).load()).rejects.toMatchObject({
      exit: 9,
      message: expect.stringContaining('refused the credentials (403)'),
    })
    const environment = {TF_HTTP_ADDRESS: `${server.address}/of/another/stack`, TF_HTTP_PASSWORD: 'pass-word-1'}
    await expect(store({username: 'ci'}, environment).load()).resolves.toMatchObject({condition: 'absent'})
  })

  it('gets no password that belongs to another server, and says how to name this one', async () => {
    await server.close()
    server = await startStateServer({username: 'ci', password: 'pass-word-1'})
    const credentials = {TF_HTTP_USERNAME: 'ci', TF_HTTP_PASSWORD: 'pass-word-1'}
    for (const environment of [credentials, {...credentials, TF_HTTP_ADDRESS: 'http://127.0.0.1:1/state'}]) {
      const failure = await store({}, environment)
        .load()
        .catch(error => error)
      expect(failure).toMatchObject({code: 'E_LEDGER_AUTH', message: expect.stringContaining('(401)')})
      expect(failure.suggestions.at(-1)).toBe(`Where this is your state server, say so: export TF_HTTP_ADDRESS=${server.address}`)
    }
    const locked = await store({}, {...credentials, TF_HTTP_LOCK_ADDRESS: server.address}).load()
    expect(locked.condition).toBe('absent')
  })

  it('locks nothing with the password where the stack says so, and says how to name that lock', async () => {
    await server.close()
    server = await startStateServer({username: 'ci', password: 'pass-word-1'})
    const lockAddress = new URL('/api/projects/5', server.address).href
    const credentials = {TF_HTTP_USERNAME: 'ci', TF_HTTP_PASSWORD: 'pass-word-1', TF_HTTP_ADDRESS: server.address}
    const at = {lockAddress, unlockAddress: lockAddress, lockMethod: 'POST', unlockMethod: 'PUT'}
    const failure = await store(at, credentials)
      .lock(0)
      .catch(error => error)
    expect(failure).toMatchObject({code: 'E_LEDGER_AUTH', message: expect.stringContaining('(401)')})
    expect(failure.suggestions).toEqual([
      `TF_HTTP_USERNAME and TF_HTTP_PASSWORD are sent to locks below the address of the state, and to those of TF_HTTP_LOCK_ADDRESS and TF_HTTP_UNLOCK_ADDRESS: ${lockAddress} is neither.`,
      `Where this is your state server, say so: export TF_HTTP_LOCK_ADDRESS=${lockAddress}`,
    ])
    const unlock = await store(at, {...credentials, TF_HTTP_LOCK_ADDRESS: lockAddress}).lock(0)
    await unlock()
    expect(server.lock).toBeUndefined()
  })

  it('is exit 13 when nobody listens there, and says whose address that is and which variables have it', async () => {
    await server.close()
    const failure = await store({address: `${server.address}?token=hidden-2`})
      .load()
      .catch(error => error)
    expect(failure).toMatchObject({exit: 13, code: 'E_CONNECTION_REFUSED'})
    expect(failure.suggestions).toEqual([
      `This is where a ledger is kept (${server.address}): check that its server is up, and the address in the stack's http backend or in TF_HTTP_ADDRESS, TF_HTTP_LOCK_ADDRESS and TF_HTTP_UNLOCK_ADDRESS.`,
    ])
    server = await startStateServer()
  })

  it('names no query of its address in messages', async () => {
    await expect(store({address: `${server.address}?token=hidden-1`, retryMax: 0}).load()).resolves.toBeDefined()
    expect(store({address: `${server.address}?token=hidden-1`}).place).toBe(server.address)
  })
})

describe('the http backend', () => {
  it('takes from the environment only what the stack leaves out', () => {
    const environment = {
      TF_HTTP_ADDRESS: 'https://env.example.com/state',
      TF_HTTP_LOCK_ADDRESS: 'https://env.example.com/lock',
      TF_HTTP_UNLOCK_ADDRESS: 'https://env.example.com/unlock',
      TF_HTTP_LOCK_METHOD: 'POST',
      TF_HTTP_UNLOCK_METHOD: 'DELETE',
      TF_HTTP_USERNAME: 'env-user',
      TF_HTTP_PASSWORD: 'env-password',
      TF_HTTP_RETRY_MAX: '7',
      TF_HTTP_RETRY_WAIT_MIN: '3',
    }
    expect(
      httpBackendOf(
        {type: 'http', address: 'https://git.example.com/state', username: 'me', retryMax: 0, unlockMethod: 'UNLOCK'},
        environment,
        'shop',
      ),
    ).toEqual({
      address: 'https://git.example.com/state',
      updateMethod: 'POST',
      lockAddress: 'https://env.example.com/lock',
      lockMethod: 'POST',
      unlockAddress: 'https://env.example.com/unlock',
      unlockMethod: 'UNLOCK',
      username: 'me',
      password: 'env-password',
      trusted: new Set(['https://env.example.com/lock', 'https://env.example.com/unlock']),
      skipCertVerification: false,
      retryMax: 0,
      retryWaitMinMs: 3_000,
      retryWaitMaxMs: 30_000,
    })
  })

  it.each([
    [{type: 'http'}, {}, 'address is missing'],
    [{type: 'http', address: 'ftp://a/b'}, {}, 'address is no http or https address'],
    [{type: 'http', address: 'http://a/b'}, {TF_HTTP_RETRY_MAX: 'many'}, 'retry_max is no whole number'],
    [{type: 'http', address: 'http://a/b'}, {TF_HTTP_CLIENT_PRIVATE_KEY_PEM: 'x'}, 'TF_HTTP_CLIENT_PRIVATE_KEY_PEM is set'],
  ] as const)('is refused when incomplete: %j %j', (location, environment, words) => {
    expect(() => httpBackendOf(location, environment, 'shop')).toThrow(words)
  })

  describe('whose stack asks that certificates are not verified', () => {
    const location = {type: 'http', address: 'https://state.example.com/shop', skipCertVerification: true} as const
    const environment = {TF_HTTP_ADDRESS: 'https://state.example.com/x', TF_HTTP_USERNAME: 'u', TF_HTTP_PASSWORD: 'p'}
    const skips = (...[where, variables]: [HttpLocation, Record<string, string>]) =>
      httpBackendOf(where, variables, 'shop').skipCertVerification

    it('is refused where the credentials of the environment would go to whoever answers', () => {
      expect(() => skips(location, environment)).toThrow(
        'skip_cert_verification would send the credentials of the environment (TF_HTTP_USERNAME, TF_HTTP_PASSWORD) to whoever answers for https://state.example.com',
      )
      expect(() => skips({type: 'http', skipCertVerification: true}, environment)).toThrow('skip_cert_verification')
      const {TF_HTTP_PASSWORD: _, ...token} = environment
      expect(() => skips(location, token)).toThrow('skip_cert_verification')
      expect(() => skips({...location, username: 'me'}, environment)).toThrow('skip_cert_verification')
      const secret = {TF_HTTP_ADDRESS: 'https://state.example.com/shop?token=hidden-3'}
      expect(() => skips({type: 'http', skipCertVerification: true}, secret)).toThrow('skip_cert_verification')
      const lock = {lockAddress: 'https://state.example.com/lock', unlockAddress: 'https://state.example.com/lock'}
      const named = {...environment, TF_HTTP_LOCK_ADDRESS: lock.lockAddress}
      expect(() => skips({...location, ...lock, address: 'http://127.0.0.1:1/shop'}, named)).toThrow('skip_cert_verification')
    })

    it('gets it where the environment asks for it too, or has nothing for that server', () => {
      expect(skips(location, {...environment, TF_HTTP_SKIP_CERT_VERIFICATION: 'true'})).toBe(true)
      expect(skips(location, {TF_HTTP_ADDRESS: environment.TF_HTTP_ADDRESS})).toBe(true)
      expect(skips({...location, username: 'me'}, {TF_HTTP_ADDRESS: environment.TF_HTTP_ADDRESS, TF_HTTP_USERNAME: 'u'})).toBe(true)
      expect(skips({...location, address: 'https://test.example.com/shop'}, environment)).toBe(true)
      const {skipCertVerification: _, ...verified} = location
      expect(skips(verified, {...environment, TF_HTTP_SKIP_CERT_VERIFICATION: 'true'})).toBe(false)
    })
  })
})
