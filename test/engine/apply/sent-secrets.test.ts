/**
 * A digest is made only from what was sent. A run dies with one password on its way, and by the time the next one
 * comes another one is declared, or the former one again: what is declared then is what the object ends up with.
 */
import {describe, expect, it} from 'vitest'
import {type JournalEntry, readRun} from '../../../src/engine/model/journal.ts'
import {Secret} from '../../../src/engine/model/value.ts'
import type {BuiltPlan} from '../../../src/engine/plan/build.ts'
import type {FaultAction, FaultInput} from '../../../src/simulator/base/fault-rule.ts'
import {applyUntilCrash, MOMENTS, settle} from '../../support/crash.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const CLOUD = {cloud: {taskMs: 3000, readyMs: 2000, listLagMs: 1000}}
type Password = Secret | undefined

const secret = (text: string, version?: string) => new Secret(text, '${var.pw}', version)
const user = (password: Password, name = 'app') =>
  stackOf()
    .subscription('main')
    .database('cache', 'main')
    .rule('ro', 'cache')
    .user('app', 'cache', {role: 'ro', name, ...(password ? {password} : {})}, ['ro'])
const member = (password: Password, name = 'op') =>
  stackOf().add('cluster.user', 'op', {name, email: 'op@example.com', ...(password ? {password} : {})})
const hidden = (password: Password) => stackOf().bdb('local', password ? {authentication_redis_pass: password} : {})

const KINDS: Record<string, (password: Password, name?: string) => StackBuilder> = {
  'the password of a cluster user': member,
  'a field of a database that is never shown': hidden,
}

const NAMES = ['password', 'authentication_redis_pass']

/** The secrets the objects have. */
function live(lab: Lab): string[] {
  lab.simulator.settle()
  const found: string[] = []
  const look = (value: unknown): void => {
    if (value === null || typeof value !== 'object' || (value as {gone?: number}).gone !== undefined) return
    for (const [key, item] of Object.entries(value)) {
      if (NAMES.includes(key) && typeof item === 'string') found.push(item)
      else look(item)
    }
  }
  look(lab.simulator.snapshot().world)
  return found
}

const refusal = (status: number, error_code: string, headers: Record<string, string> = {}): FaultAction => ({
  type: 'status',
  status,
  headers,
  body: {error_code, description: 'not now'},
  effect: false,
})

/** How often one was taken. */
const sends = (lab: Lab): number =>
  lab.simulator.log.filter(it => it.method !== 'GET' && it.status < 300 && NAMES.some(name => name in ((it.body ?? {}) as object))).length

async function afterDeath(
  of: (password: Password, name?: string) => StackBuilder,
  {first, dying, next, rename}: {first?: Password; dying: Password; next: Password; rename?: string},
  moment: (typeof MOMENTS)[number],
): Promise<{lab: Lab; deaths: number}[]> {
  const worlds: {lab: Lab; deaths: number}[] = []
  for (let at = 0; at < 8; at++) {
    const lab = new Lab({simulator: CLOUD})
    const came = await lab.run(async () => {
      if (first !== undefined) await lab.apply([of(first)])
      await lab.clock.sleep(60_000)
      const built = await lab.plan([of(dying, rename)])
      if (!(await applyUntilCrash(lab, built, [of(dying, rename)], at, moment))) return false
      await settle(lab, built, [of(next, rename)])
      await lab.apply([of(next, rename)])
      const again = await lab.plan([of(next, rename)])
      expect(again.plan.operations.filter(it => it.action !== 'no-op')).toEqual([])
      return true
    })
    if (!came) break
    worlds.push({lab, deaths: at})
  }
  return worlds
}

describe.each(Object.entries(KINDS))('%s', (_, of) => {
  it.each(MOMENTS)(
    'that a run had sent when it died (%s) is the declared one after the next apply: rotated since, taken back, or the same',
    async moment => {
      const stories = [
        {dying: secret('one'), next: secret('two')},
        {dying: secret('one'), next: secret('one')},
        {first: secret('one'), dying: secret('two'), next: secret('three')},
        {first: secret('one'), dying: secret('two'), next: secret('one')},
        {first: secret('one'), dying: secret('two'), next: secret('two')},
        {first: secret('one', '1'), dying: secret('two', '2'), next: secret('three', '3')},
        {first: secret('one', '1'), dying: secret('two', '2'), next: secret('one', '1')},
        ...(of === hidden ? [] : [{first: secret('one'), dying: secret('two'), next: secret('three'), rename: 'other'}]),
      ]
      let worlds = 0
      for (const story of stories) {
        for (const {lab, deaths} of await afterDeath(of, story, moment)) {
          worlds++
          expect(
            live(lab),
            `${story.first?.value ?? 'nothing'}, ${story.dying.value}, ${story.next.value}: write ${deaths}, ${moment}`,
          ).toEqual([story.next.value])
        }
      }
      expect(worlds).toBeGreaterThan(5)
    },
  )
})

describe('what is not sent again', () => {
  it('is a secret that the dead run had sent, and that is still the same', async () => {
    const [world] = await afterDeath(hidden, {first: secret('one'), dying: secret('two'), next: secret('two')}, 'journaled')
    expect(world && [live(world.lab), sends(world.lab)]).toEqual([['two'], 2])
  })

  it('is one that was never part of the request', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([member(secret('one'))])
      await lab.apply([
        member(secret('one'))
          .without('op')
          .add('cluster.user', 'op', {name: 'op', email: 'other@example.com', password: secret('one')}),
      ])
    })
    expect([live(lab), sends(lab)]).toEqual([['one'], 1])
  })
})

describe('an ACL user, whose password the API cannot change', () => {
  it.each(MOMENTS)('is as declared only where the dead run had sent the password that is declared now (%s)', async moment => {
    const ends = await Promise.all(
      ['one', 'two'].map(async next => {
        const lab = new Lab({simulator: CLOUD})
        return lab.run(async () => {
          await lab.apply([user(undefined).without('app')])
          await lab.clock.sleep(60_000)
          const built = await lab.plan([user(secret('one'))])
          expect(await applyUntilCrash(lab, built, [user(secret('one'))], 0, moment)).toBe(true)
          const sent = sends(lab)
          await settle(lab, built, [user(secret(next))])
          await lab.apply([user(secret(next))])
          const {plan} = await lab.plan([user(secret(next))])
          return [sent, plan.operations.find(it => it.kind === 'cloud.acl_user')?.action]
        })
      }),
    )
    const sent = moment === 'before it is sent' ? 0 : 1
    expect(ends).toEqual([[sent, 'no-op'], sent === 0 ? [0, 'no-op'] : [1, 'blocked']])
  })
})

describe('a run that stopped waiting', () => {
  it.each(['its time ran out', 'it was told to'])('has no digest of a password whose fate it does not know: %s', async how => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([hidden(secret('one'))])
      lab.simulator.configure({cluster: {changeMs: 60_000}})
      const stop = new AbortController()
      const applied = lab.apply([hidden(secret('two'))], {run: how === 'it was told to' ? {stop: stop.signal} : {timeoutMs: 5_000}})
      await lab.clock.sleep(10_000)
      stop.abort(new Error('stopped'))
      expect((await applied).summary).toMatchObject({done: 0, skipped: 0})
      expect(lab.entry('shop', 'local')?.secrets).toEqual({'/authentication_redis_pass': 'former'})
      await lab.clock.sleep(120_000)
      // Without any journal: another machine, whose ledger is all it has.
      await lab.apply([hidden(secret('one'))])
    })
    expect([live(lab), sends(lab)]).toEqual([['one'], 3])
  })
})

describe('a password whose first answer was lost', () => {
  /** How it was lost: once, or to every try that the connection makes by itself. */
  const losses: Record<string, FaultInput> = {
    'the connection broke': {match: {method: 'PUT'}, times: 1, action: {type: 'drop-after-effect'}},
    'it broke every time': {match: {method: 'PUT'}, times: 5, action: {type: 'drop-after-effect'}},
  }
  const refusals: Record<string, FaultAction> = {
    'there are too many requests': refusal(429, 'too_many_requests', {'retry-after': '8'}),
    'its object is busy': refusal(409, 'db_pending_changes'),
    'it is refused': refusal(400, 'invalid_param'),
  }
  const cases = Object.entries(losses).flatMap(([how, loss]) =>
    Object.entries(refusals).map(([why, action]) => [how, why, loss, action] as const),
  )

  /** The first is live, and the second is lost on its way. */
  async function begun(lab: Lab, loss: FaultInput, action: FaultAction): Promise<BuiltPlan> {
    await lab.apply([hidden(secret('one'))])
    lab.simulator.inject(loss, {match: {method: 'PUT'}, action})
    return lab.plan([hidden(secret('two'))])
  }

  it.each(cases)('(%s) is none that was not sent, whatever becomes of it when it is sent again: %s', async (_, __, loss, action) => {
    const lab = new Lab()
    await lab.run(async () => {
      const built = await begun(lab, loss, action)
      const stop = new AbortController()
      const applied = lab.execute(built, [hidden(secret('two'))], {stop: stop.signal})
      await lab.clock.sleep(60_000)
      stop.abort(new Error('stopped'))
      const {summary, ended} = await applied
      expect([summary.unknown, summary.skipped, ended.map(it => it.error?.code)]).toEqual([1, 0, ['E_OUTCOME_UNKNOWN']])
      expect(lab.journal.filter(it => it.type === 'void')).toEqual([])
      expect(readRun(lab.journal)).toMatchObject({loose: [{step: 'update'}], uncertain: [{step: 'update'}]})
      expect(lab.entry('shop', 'local')?.secrets).toEqual({'/authentication_redis_pass': 'former'})
      lab.simulator.clearFaults()
      // Rotated back: what is live by now is the other one.
      await lab.apply([hidden(secret('one'))])
    })
    expect(live(lab)).toEqual(['one'])
  })

  it.each(cases)('(%s) is in doubt for the next run too, wherever this one dies: %s', async (_, __, loss, action) => {
    let doubts = 0
    for (const moment of ['before an entry', 'after an entry'] as const) {
      for (let at = 0; at < 12; at++) {
        const lab = new Lab()
        const came = await lab.run(async () => {
          const built = await begun(lab, loss, action)
          if (!(await Promise.race([applyUntilCrash(lab, built, [hidden(secret('two'))], at, moment), lab.clock.sleep(60_000)])))
            return false
          const {loose, uncertain} = readRun(lab.journal)
          expect(lab.journal.filter(it => it.type === 'void')).toEqual([])
          if (lab.journal.length > 0) expect([loose.length, uncertain.length]).toEqual([1, 1])
          doubts += uncertain.length
          lab.simulator.clearFaults()
          await settle(lab, built, [hidden(secret('one'))])
          if (uncertain.length > 0) expect(lab.entry('shop', 'local')?.secrets).toEqual({'/authentication_redis_pass': 'former'})
          await lab.apply([hidden(secret('one'))])
          return true
        })
        if (!came) break
        expect(live(lab)).toEqual(['one'])
      }
    }
    expect(doubts).toBeGreaterThan(3)
  })
})

describe('a change whose first answer was lost', () => {
  it('stays open in the journal when the task of the second one comes at a bad time, as often as it is sent', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1000}}})
    await lab.run(async () => {
      const of = (memoryLimitInGb: number) => stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb})
      await lab.apply([of(1)])
      lab.simulator.inject(
        {match: {method: 'PUT'}, times: 1, action: {type: 'drop-after-effect'}},
        {match: {method: 'PUT'}, action: {type: 'fail-task', code: 'SUBSCRIPTION_NOT_ACTIVE'}},
      )
      const stop = new AbortController()
      const applied = lab.apply([of(2)], {run: {stop: stop.signal}})
      await lab.clock.sleep(60_000)
      expect(lab.journal.filter(it => it.type === 'handle').length).toBeGreaterThan(2)
      expect(lab.journal.filter(it => it.type === 'void')).toEqual([])
      expect(readRun(lab.journal).loose).toMatchObject([{step: 'update'}])
      stop.abort(new Error('stopped'))
      expect((await applied).summary).toMatchObject({unknown: 1, skipped: 0})
    })
  })
})

describe('an object found by its name', () => {
  it('has its secret taken for equal, and what is declared later is sent', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([member(secret('one'))])
      lab.stores.clear()
      await lab.apply([member(secret('two'))])
      expect((await lab.plan([member(secret('two'))])).plan.summary).toMatchObject({'no-op': 1, update: 0})
      await lab.apply([member(secret('three'))])
    })
    expect([live(lab), sends(lab)]).toEqual([['three'], 2])
  })

  it('that a dead run had made, whose plan is gone, is no find: its secret is sent again', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const built = await lab.plan([member(secret('one'))])
      await applyUntilCrash(lab, built, [member(secret('one'))], 0, 'journaled')
      await settle(lab, {...built, plan: {...built.plan, operations: []}}, [member(secret('two'))])
      await lab.apply([member(secret('two'))])
    })
    expect([live(lab), sends(lab)]).toEqual([['two'], 2])
  })

  it('that a dead run had changed, whose plan is gone, has a secret that nobody knows: the former one is sent, where that is declared again', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([member(secret('one'))])
      const built = await lab.plan([member(secret('two'))])
      for (let at = 0; lab.journal.at(-1)?.type !== 'settled'; at++)
        expect(await applyUntilCrash(lab, built, [member(secret('two'))], at, 'after an entry')).toBe(true)
      expect(live(lab)).toEqual(['two'])
      await settle(lab, {...built, plan: {...built.plan, operations: []}}, [member(secret('one'))])
      await lab.apply([member(secret('one'))])
    })
    expect(live(lab)).toEqual(['one'])
  })
})

describe('a field that is left alone', () => {
  it('keeps what the ledger knew of it: once it is compared again, it is sent', async () => {
    const lab = new Lab()
    const with_ = (password: Secret, email: string, ignoreChanges: readonly string[]) =>
      stackOf().add('cluster.user', 'op', {name: 'op', email, password}, {policy: {ignoreChanges}})
    await lab.run(async () => {
      await lab.apply([with_(secret('one'), 'a@example.com', [])])
      await lab.apply([with_(secret('two'), 'b@example.com', ['/password'])])
      await lab.apply([with_(secret('two'), 'b@example.com', [])])
    })
    expect([live(lab), sends(lab)]).toEqual([['two'], 2])
  })
})

describe('the story of a run', () => {
  const key = 'shop:null_resource.op'
  const sent: JournalEntry = {
    type: 'sent',
    key,
    step: 'update',
    kind: 'cluster.user',
    method: 'PUT',
    path: '/v1/users/1',
    remoteId: 'cluster/users/1',
    secrets: {'/password': 'x'},
    at: 1,
  }

  it('says of which secrets nobody knows whether they arrived', () => {
    const settled: JournalEntry = {type: 'settled', key, step: 'update', remoteId: 'cluster/users/1'}
    const uncertain = (...entries: JournalEntry[]) => readRun(entries).uncertain.map(it => it.secrets)
    expect(uncertain(sent)).toEqual([{'/password': 'x'}])
    expect(uncertain(sent, {...settled, failed: 'E'})).toEqual([{'/password': 'x'}])
    // Sent once more and refused: the first may have arrived.
    expect(
      uncertain(sent, {type: 'void', key, step: 'update', why: 'it did not arrive'}, sent, {
        type: 'void',
        key,
        step: 'update',
        why: 'refused',
      }),
    ).toEqual([{'/password': 'x'}])
    expect(uncertain(sent, settled)).toEqual([])
  })

  it('says what the ledger has of it already', () => {
    const settled: JournalEntry = {type: 'settled', key, step: 'update', remoteId: 'cluster/users/1'}
    expect(readRun([sent, settled, {type: 'recorded', keys: [key]}]).settled).toMatchObject([{recorded: true, secrets: {'/password': 'x'}}])
  })
})
