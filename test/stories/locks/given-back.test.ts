/** Locks are given back however a command ends: real processes, state servers that remember who has what. */
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {systemClock} from '../../../src/base/clock.ts'
import {waitFor} from '../../../src/base/wait-for.ts'
import {documentOf, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStacks} from '../../support/stack-json.ts'
import {type StateServer, startStateServer} from '../../support/state-server.ts'

let at: Site
/** Locks are taken in the order of their addresses. */
let first: StateServer
let second: StateServer
beforeEach(async () => {
  at = await site()
  const servers = await Promise.all([startStateServer(), startStateServer()])
  const [one, other] = servers.sort((a, b) => (a.address < b.address ? -1 : 1))
  if (one === undefined || other === undefined) throw new TypeError('two servers')
  first = one
  second = other
})
afterEach(async () => {
  await Promise.all([first.close(), second.close(), at.close()])
})

const behind = (stack: JsonStack, {backend}: StateServer) => stack.backend({http: {...backend.http, retry_wait_min: 0}})
const stacks = (cache: 'a' | 'b' = 'a') => {
  const a = behind(jsonStack('a').subscription('main'), first)
  const b = behind(jsonStack('b').subscription('other'), second)
  if (cache === 'a') a.database('cache', 'main')
  else b.add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1, subscription: '1'})
  return [a, b]
}
const saved = (cache: 'a' | 'b' = 'a') => ['--synth-dir', saveStacks(at.folder, stacks(cache))]
const theirs = {ID: 'abc', Who: 'me@there'} as StateServer['lock']
const lookFor = (what: () => boolean) =>
  waitFor(() => Promise.resolve(what() || undefined), {clock: systemClock, everyMs: 10, timeoutMs: 10_000})
const MOVE = ['transfer', 'cache', '--from', 'a', '--to', 'b']

describe('a lock', () => {
  for (const [name, args] of [
    ['apply', ['apply', '--stack', '*', '--auto-approve']],
    ['transfer', [...MOVE]],
    ['forget', ['forget', '*', '--stack', '*', '--yes', '--anyway']],
  ] as const)
    it(`that ${name} has is given back when Ctrl-C comes while it waits for another one`, async () => {
      const outcome = await at.fast(['apply', '--stack', '*', '--auto-approve', ...saved()])
      expect(outcome.code, outcome.stderr).toBe(0)
      second.lock = theirs
      const run = at.start([...args, ...saved(name === 'transfer' ? 'b' : 'a'), '--lock-timeout', '60s'], {asItIs: name !== 'apply'})
      const asked = second.requests.length
      await lookFor(() => first.lock !== undefined && second.requests.slice(asked).some(it => it.startsWith('LOCK')))
      run.kill('SIGINT')
      const {code, stderr} = await run.done
      expect([code, first.lock, second.lock], stderr).toEqual([130, undefined, theirs])
      expect(stderr).toContain('nothing was changed')
    })

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'is given back at the first %s while what was done is read back and the API does not answer',
    async signal => {
      const stack = behind(jsonStack('a').add('cluster.user', 'bob', {name: 'bob', email: 'bob@example.com'}), first)
      at.simulator.inject({match: {method: 'POST', path: '/v1/users'}, times: 1, action: {type: 'delay', ms: 1_000}})
      const on = ['--synth-dir', saveStacks(at.folder, [stack])]
      const run = at.start(['apply', ...on, '--auto-approve', '-o', 'json', '--request-timeout', '60s'])
      await lookFor(() => at.simulator.faults.some(it => it.met > 0))
      at.simulator.inject({match: {method: 'GET', path: '/v1/users'}, times: 1_000, action: {type: 'hang'}})
      await run.says('proving')
      const stoppedAt = systemClock.now()
      run.kill(signal)
      const outcome = await run.done
      expect(systemClock.now() - stoppedAt).toBeLessThan(10_000)
      const document = documentOf(outcome)
      expect([outcome.code, document.converged, document.summary.done, first.lock], outcome.stderr).toEqual([4, false, 1, undefined])
      expect(outcome.stderr).toContain(`svcctl apply --resume ${document.run}`)
      expect(first.state).toContain('cluster/users/2')
      at.simulator.clearFaults()
      const resumed = await at.fast(['apply', '--resume', document.run, '-o', 'json'])
      expect([resumed.code, documentOf(resumed).converged, at.writes.length], resumed.stderr).toEqual([0, true, 1])
    },
  )

  it('that force-unlock has for a moment, to see whether it is free, is given back when Ctrl-C comes meanwhile', async () => {
    const run = at.start(['force-unlock', 'abc', '--stack', 'a', '--yes', ...saved()], {asItIs: true})
    first.hold = () => {
      if (first.requests.at(-1)?.startsWith('LOCK')) run.kill('SIGINT')
      return false
    }
    const {code, stderr} = await run.done
    expect([code, first.requests.map(it => it.split(' ')[0]), first.lock], stderr).toEqual([130, ['LOCK', 'UNLOCK'], undefined])
    expect(stderr).toContain('nothing was changed')
  })

  it('is kept until the ledgers are written when Ctrl-C comes in the middle of a transfer', async () => {
    expect((await at.fast(['apply', '--stack', '*', '--auto-approve', ...saved()])).code).toBe(0)
    let interrupted = false
    const run = at.start([...MOVE, ...saved('b'), '-o', 'json'], {asItIs: true})
    second.beforeWrite = () => {
      if (!interrupted) run.kill('SIGINT')
      interrupted = true
    }
    const outcome = await run.done
    expect([interrupted, outcome.code, first.lock, second.lock], outcome.stderr).toEqual([true, 0, undefined, undefined])
    expect(documentOf(outcome).moved).toHaveLength(1)
    expect(second.state).not.toContain('"transfer"')
  })

  /** Ctrl-C when this write of a ledger has come in. */
  async function interruptedAt(nth: number, args: readonly string[], on: readonly string[]) {
    for (const {requests} of [first, second]) requests.length = 0
    const run = at.start([...args, ...on])
    let writes = 0
    for (const server of [first, second])
      server.beforeWrite = () => {
        if (++writes === nth) run.kill('SIGINT')
      }
    const outcome = await run.done
    for (const server of [first, second]) server.beforeWrite = () => {}
    const after = [first, second].flatMap(({requests}) => requests.slice(requests.findIndex(it => it.startsWith('UNLOCK'))))
    expect(
      after.filter(it => it.startsWith('POST')),
      outcome.stderr,
    ).toEqual([])
    expect([first.lock, second.lock]).toEqual([undefined, undefined])
    return outcome
  }

  it.each([1, 2, 3])(
    'is kept until the ledgers are written when Ctrl-C comes at write %i of an apply that moves between them',
    async nth => {
      expect((await at.fast(['apply', '--stack', '*', '--auto-approve', ...saved()])).code).toBe(0)
      const {code, stderr} = await interruptedAt(nth, ['apply', '--stack', '*', '--auto-approve'], saved('b'))
      expect([code, stderr]).toEqual([4, expect.stringContaining('stopping: nothing was sent')])
      expect(second.state).not.toContain('"transfer":')
      const plan = await at.fast(['plan', '--stack', '*', '--detailed-exitcode', ...saved('b')])
      expect(plan.code, plan.stdout).toBe(0)
    },
  )

  it.each([
    ['was done', 'a', 0],
    ['was refused', 'b', 3],
  ] as const)('is given back with all others when Ctrl-C comes while that is under way, after what %s', async (_, cache, ends) => {
    expect((await at.fast(['apply', '--stack', '*', '--auto-approve', ...saved()])).code).toBe(0)
    const run = at.start(['apply', '--stack', cache, '--stack', 'b', ...(ends === 0 ? ['--auto-approve'] : []), ...saved(cache)])
    for (const server of [first, second])
      server.hold = () => {
        if (server.requests.at(-1)?.startsWith('UNLOCK')) run.kill('SIGINT')
        return false
      }
    const {code, stderr} = await run.done
    expect([code, first.lock, second.lock], stderr).toEqual([ends, undefined, undefined])
  })

  it('is given back slowly, and nothing is sent meanwhile, when Ctrl-C comes right before an apply begins', async () => {
    const [a, b] = stacks()
    if (a === undefined || b === undefined) throw new TypeError('two stacks')
    b.backend({http: {...second.backend.http, retry_wait_min: 2}})
    // The last thing that an apply looks at before it begins.
    at.simulator.inject({match: {path: '/tasks'}, action: {type: 'delay', ms: 500}})
    const run = at.start(['apply', '--stack', '*', '--auto-approve', '--synth-dir', saveStacks(at.folder, [a, b])])
    await lookFor(() => at.simulator.faults.some(it => it.met > 0))
    // The lock that is given back first takes its time.
    second.faults.push(500)
    run.kill('SIGINT')
    const {code, stderr} = await run.done
    expect([code, at.writes, first.lock, second.lock], stderr).toEqual([130, [], undefined, undefined])
    expect([...first.requests, ...second.requests].filter(it => it.startsWith('POST'))).toEqual([])
  })

  it.each([1, 2])('is kept until the ledgers are written when Ctrl-C comes at write %i of an import', async nth => {
    expect((await at.fast(['apply', '--stack', '*', '--auto-approve', ...saved()])).code).toBe(0)
    for (const server of [first, second]) server.state = undefined
    const {code, stderr} = await interruptedAt(nth, ['import', '--all', '--stack', '*'], saved())
    expect([code, stderr]).toEqual([0, expect.stringContaining('stopping as soon as the ledgers are written')])
  })

  it('that cannot be given back hides neither what was done nor what went wrong, and says how to free it', async () => {
    expect((await at.fast(['apply', '--stack', '*', '--auto-approve', ...saved()])).code).toBe(0)
    for (const server of [first, second]) server.unlockFails = true
    const wrong = await at.run([...MOVE, ...saved('a'), '-o', 'json'])
    expect([wrong.code, documentOf(wrong).error.code]).toEqual([3, 'E_NOT_DECLARED'])
    expect(wrong.stderr).toContain(`svcctl force-unlock --stack a ${first.lock?.ID}`)
    expect(wrong.stderr).not.toContain('ledger itself is written')
    for (const server of [first, second]) server.lock = undefined
    const done = await at.run([...MOVE, ...saved('b'), '-o', 'json'])
    expect([done.code, documentOf(done).moved.length], done.stderr).toEqual([0, 1])
    expect(done.stderr).toContain(`svcctl force-unlock --stack b ${second.lock?.ID}`)
    expect(done.stderr).toContain('ledger itself is written')
  })

  it.each([['apply', '--stack', '*', '--auto-approve'], [...MOVE]])(
    'of %s that was taken before another one could not be had, and cannot be given back, is named',
    async (...args) => {
      expect((await at.fast(['apply', '--stack', '*', '--auto-approve', ...saved()])).code).toBe(0)
      first.unlockFails = true
      second.lock = theirs
      const outcome = await at.run([...args, ...saved('b')])
      expect([outcome.code, first.lock], outcome.stderr).toEqual([10, expect.anything()])
      expect(outcome.stderr).toContain(`svcctl force-unlock --stack a ${first.lock?.ID}`)
    },
  )
})

describe('the lock of the holds and freezes beside a ledger', () => {
  const CONTROLS = ['--until', '4h', '--reason', 'incident']
  const commands = [
    ['freeze', ['freeze', '--stack', 'a', ...CONTROLS]],
    ['hold', ['hold', 'main', '--stack', 'a', ...CONTROLS]],
  ] as const

  it.each(commands)('is given back when Ctrl-C comes while %s writes, and what was begun is done', async (_, args) => {
    const run = at.start([...args, ...saved()], {asItIs: true})
    first.controls.beforeWrite = () => run.kill('SIGINT')
    const {code, stderr} = await run.done
    expect([code, first.controls.lock, first.controls.state], stderr).toEqual([0, undefined, expect.stringContaining('incident')])
    expect(stderr).toContain('stopping as soon as the ')
  })

  it.each(commands)('is not taken when Ctrl-C comes while %s waits for it', async (_, args) => {
    first.controls.lock = theirs
    const run = at.start([...args, ...saved()], {asItIs: true})
    await lookFor(() => first.controls.requests.some(it => it.is.startsWith('LOCK')))
    run.kill('SIGINT')
    const {code, stderr} = await run.done
    expect([code, first.controls.lock, first.controls.state], stderr).toEqual([130, theirs, undefined])
    expect(stderr).toContain('nothing was changed')
    expect(stderr).not.toContain('force-unlock')
  })

  it.each(commands)('that %s cannot give back is named with what lifts it, and that lifts it', async (_, args) => {
    first.unlockFails = true
    const done = await at.start([...args, ...saved()], {asItIs: true}).done
    const id = first.controls.lock?.ID
    expect([done.code, id], done.stderr).toEqual([0, expect.any(String)])
    expect(done.stderr).toContain(`free it: svcctl force-unlock --stack a ${id}`)
    first.unlockFails = false
    const freed = await at.run(['force-unlock', '--stack', 'a', id ?? '', '--yes', ...saved()])
    expect([freed.code, first.controls.lock], freed.stderr).toEqual([0, undefined])
    expect(freed.stdout).toContain('unlocked; it was held by ')
  })

  it.each(commands)('is named when %s is ended at once', async (_, args) => {
    const run = at.start([...args, ...saved()], {asItIs: true})
    first.controls.beforeWrite = () => {
      first.controls.away = 'hang'
      run.kill('SIGINT')
    }
    await run.says('stopping as soon as the ')
    run.kill('SIGINT')
    const {code, stderr} = await run.done
    expect(code).toBe(4)
    expect(stderr).toContain(`free it: svcctl force-unlock --stack a ${first.controls.lock?.ID}`)
  })
})

describe('a lock that cannot be given back', () => {
  it('is named with what lifts it when Ctrl-C comes while a plan is made, once', async () => {
    at.simulator.inject({match: {path: '/subscriptions'}, action: {type: 'delay', ms: 500}})
    first.unlockFails = true
    const run = at.start(['apply', '--stack', '*', '--auto-approve', ...saved()])
    await lookFor(() => at.simulator.faults.some(it => it.met > 0))
    run.kill('SIGINT')
    const {code, stderr} = await run.done
    expect([code, at.writes], stderr).toEqual([130, []])
    expect(stderr.split(`svcctl force-unlock --stack a ${first.lock?.ID}`)).toHaveLength(2)
    expect(second.lock).toBe(undefined)
  })

  it.each([
    ['apply', ['apply', '--stack', 'a', '--auto-approve'], undefined],
    ['forget', ['forget', 'a:main', '--anyway', '--yes'], undefined],
    ['transfer', MOVE, 'b'],
    ['a transfer that is refused', MOVE, 'a'],
  ] as const)('is named once by a process that ends: %s', async (_, args, code) => {
    expect((await at.fast(['apply', '--stack', '*', '--auto-approve', ...saved()])).code).toBe(0)
    for (const server of [first, second]) server.unlockFails = true
    const {stderr} = await at.start([...args, ...saved(code)], {asItIs: true}).done
    const said = [first.lock?.ID, second.lock?.ID].flatMap(it => (it === undefined ? [] : [stderr.split(String(it)).length - 1]))
    expect(said.every(it => it === 1) && said.length > 0, stderr).toBe(true)
  })

  it('is not made of one that was refused, or whose question never arrived', async () => {
    first.faults.push(403)
    const refused = await at.run(['apply', '--stack', 'a', '--auto-approve', ...saved()])
    await first.close()
    const away = await at.start(['apply', '--stack', 'a', '--auto-approve', ...saved()]).done
    for (const {code, stderr} of [refused, away]) {
      expect(code).not.toBe(0)
      expect(stderr).not.toContain('force-unlock')
    }
  })
})

it('a transfer whose command died is not brought to its end in the ledger of a stack that is frozen', async () => {
  expect((await at.fast(['apply', '--stack', '*', '--auto-approve', ...saved()])).code).toBe(0)
  const dying = at.start([...MOVE, ...saved('b')], {asItIs: true})
  first.beforeWrite = () => dying.kill('SIGKILL')
  await dying.done
  first.beforeWrite = () => {}
  for (const server of [first, second]) server.lock = undefined
  expect(second.state).toContain('"transfer"')
  const run = (...args: string[]) => at.run([...args, ...saved('b'), '-o', 'json'])
  const {freezes} = documentOf(await run('freeze', '--stack', 'b', '--until', '4h', '--reason', 'incident'))
  const before = second.state
  const frozen = await at.fast(['apply', '--stack', 'a', '--auto-approve', ...saved('b')])
  expect([frozen.code, second.state === before, second.lock], frozen.stderr).toEqual([0, true, undefined])
  expect((await run('freeze', 'lift', freezes[0].id)).code).toBe(0)
  const free = await at.fast(['apply', '--stack', 'a', '--auto-approve', ...saved('b')])
  expect([free.code, second.state?.includes('"transfer"')], free.stderr).toEqual([0, false])
})

it('what is on its way from the ledger of a frozen stack is neither forgotten nor accepted as gone: that one would have it again', async () => {
  expect((await at.fast(['apply', '--stack', '*', '--auto-approve', ...saved()])).code).toBe(0)
  const dying = at.start([...MOVE, ...saved('b')], {asItIs: true})
  second.beforeWrite = () => dying.kill('SIGKILL')
  await dying.done
  second.beforeWrite = () => {}
  for (const server of [first, second]) server.lock = undefined
  const {freezes} = documentOf(
    await at.run(['freeze', '--stack', 'a', '--until', '4h', '--reason', 'incident', ...saved('b'), '-o', 'json']),
  )
  const none = [
    '--synth-dir',
    saveStacks(
      at.folder,
      stacks('b').map(it => it.remove('cache')),
    ),
  ]
  const forgotten = await at.run(['forget', 'cache', '--stack', 'b', '--yes', ...none])
  expect([forgotten.code, forgotten.stderr], forgotten.stdout).toEqual([64, expect.stringContaining('is on its way there from stack a')])
  const accepted = await at.fast(['apply', '--stack', 'b', '--auto-approve', '--accept', 'null_resource.cache', ...none])
  expect([accepted.code, accepted.stderr.includes('--accept')], accepted.stderr).toEqual([3, false])
  expect(second.state).toContain('"transfer"')
  expect((await at.run(['freeze', 'lift', freezes[0].id, ...none])).code).toBe(0)
  expect((await at.run(['forget', 'cache', '--stack', 'b', '--yes', ...none])).code).toBe(0)
  expect(documentOf(await at.fast(['plan', '--stack', '*', ...none, '-o', 'json'])).summary).toMatchObject({'no-op': 2, delete: 0})
})
