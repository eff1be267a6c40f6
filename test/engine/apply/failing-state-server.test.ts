/**
 * A ledger behind HTTP whose server fails at every single request there is, once or from then on; the run ends by itself
 * or is killed right there; and the next one comes on the same machine, or on another one that has the ledger alone.
 * Nothing is made twice, nothing is lost, and nobody has to wait for what was never sent.
 */
import {describe, expect, it} from 'vitest'
import {AppError} from '../../../src/base/errors.ts'
import type {JournalEntry} from '../../../src/engine/model/journal.ts'
import type {LedgerStore} from '../../../src/engine/model/ledger.ts'
import {Secret} from '../../../src/engine/model/value.ts'
import {pendingRuns, TravellingJournal} from '../../../src/run/journal/travelling-journal.ts'
import {settle} from '../../support/crash.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const CONFIG = {cloud: {taskMs: 3000, readyMs: 2000, listLagMs: 1000}}
const base = (memory: number) => stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb: memory})
const full = (memory: number, password: string) =>
  base(memory)
    .rule('ro', 'cache')
    .user('app', 'cache', {role: 'ro', password: new Secret(password, '${var.pw}')}, ['ro'])
    .subscription('other')
    .clusterUser('op', {email: 'op@example.com', password: new Secret(password, '${var.pw}')})

const STORIES: readonly {readonly name: string; readonly before?: StackBuilder; readonly after: StackBuilder}[] = [
  {name: 'creates', after: full(1, 'one')},
  {
    name: 'an update, a rotated password, deletes and a create',
    before: full(1, 'one').without('app', 'ro', 'other').subscription('old'),
    after: full(2, 'two').without('app', 'ro'),
  },
]

const FAULTS = ['refused', 'hangs until its time is over', 'done, and the answer is lost'] as const
type Fault = (typeof FAULTS)[number]
const LENGTHS = ['once', 'from then on', 'and the run is killed there'] as const
type Length = (typeof LENGTHS)[number]

const forever = new Promise<never>(() => {})

/** Whatever belongs to a process that may die: from then on nothing it began has an answer. */
function mortal<T extends object>(it: T, isDead: () => boolean): T {
  return new Proxy(it, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value === 'object' && value !== null) return mortal(value, isDead)
      if (typeof value !== 'function' || name === 'forget') return typeof value === 'function' ? value.bind(target) : value
      return (...given: unknown[]) => {
        if (isDead()) return forever
        const answer: unknown = value.apply(target, given)
        return answer instanceof Promise ? answer.then(it => (isDead() ? forever : it)) : answer
      }
    },
  })
}

async function failedAt(lab: Lab, {before, after}: (typeof STORIES)[number], at: number, fault: Fault, length: Length) {
  if (before !== undefined) await lab.apply([before])
  await lab.clock.sleep(60_000)
  lab.simulator.clearLog()
  const built = await lab.plan([after])
  let isDead = false
  let requests = 0
  let die: () => void = () => {}
  const died = new Promise<'died'>(resolve => {
    die = () => resolve('died')
  })
  const failing = async <T>(request: () => Promise<T>): Promise<T> => {
    if (isDead) return forever
    const now = requests++
    if (now < at || (now > at && length !== 'from then on')) {
      const answer = await request()
      return isDead ? forever : answer
    }
    if (fault === 'hangs until its time is over') await lab.clock.sleep(60_000)
    if (fault === 'done, and the answer is lost') await request()
    if (length === 'and the run is killed there') {
      isDead = true
      die()
      return forever
    }
    throw new AppError('the state server does not answer', {code: 'E_LEDGER_ACCESS'})
  }
  const store = lab.store('shop')
  const held = store.held.bind(store)
  store.held = (): LedgerStore => {
    const inner = held()
    return {...inner, assertHeld: () => failing(() => inner.assertHeld()), save: ledger => failing(() => inner.save(ledger))}
  }
  const journal: JournalEntry[] = []
  const backendOf = lab.backends('full')
  const [cloud, cluster] = [mortal(backendOf('', 'cloud'), () => isDead), mortal(backendOf('', 'cluster'), () => isDead)]
  const run = lab.execute(built, [after], {
    backendOf: (_, api) => (api === 'cloud' ? cloud : cluster),
    journalOf: book => new TravellingJournal('dead', {append: it => void journal.push(it)}, book, new Set(['shop']), built.plan),
  })
  const end = await Promise.race([run.catch((error: unknown) => error), died])
  isDead = true
  store.held = held
  if (end instanceof Error && !(end instanceof AppError)) throw end
  return {built, journal, reached: requests > at}
}

/** The services as another machine finds them, which has nothing else of the first one. */
async function sameWorld({clock, simulator}: Lab): Promise<Lab> {
  const lab = new Lab({simulator: CONFIG})
  await lab.run(() => lab.clock.sleep(clock.now() - lab.clock.now()))
  lab.simulator.restore(simulator.snapshot())
  return lab
}

describe.each(STORIES)('$name, with a state server that fails', story => {
  const cases = FAULTS.flatMap(fault => LENGTHS.map(length => ({fault, length})))
  it.each(cases)('$fault, $length', async ({fault, length}) => {
    let failures = 0
    for (let at = 0; at < 60; at++) {
      const first = new Lab({simulator: CONFIG})
      const dead = await first.run(() => failedAt(first, story, at, fault, length))
      if (!dead.reached) break
      const {pending, ...ledger} = first.store('shop').ledger
      const [travelled] = pendingRuns(pending).runs
      const before = [...first.simulator.log]
      const nexts = [
        {machine: 'another', lab: await sameWorld(first), journal: travelled?.entries ?? [], log: before},
        {machine: 'the same', lab: first, journal: dead.journal, log: []},
      ]
      for (const {machine, lab, journal, log} of nexts) {
        const where = `request ${at}, then ${machine} machine`
        lab.store('shop').ledger = ledger
        lab.journal = [...journal]
        await lab.run(async () => {
          const {unknown} = await settle(lab, dead.built, [story.after])
          expect(unknown, where).toEqual([])
          const {ended} = await lab.apply([story.after])
          expect(
            ended.flatMap(it => it.error?.message ?? []),
            where,
          ).toEqual([])
          const {plan} = await lab.plan([story.after])
          expect(
            plan.operations.filter(it => it.action !== 'no-op'),
            where,
          ).toEqual([])
          const adopted = [...lab.store('shop').ledger.entries.values()].filter(it => it.origin !== 'created')
          expect(adopted, where).toEqual([])
        })
        const made = [...log, ...lab.simulator.log].flatMap(it =>
          it.method === 'POST' && it.status < 300 ? [`${it.path} ${(it.body as {name?: string} | undefined)?.name}`] : [],
        )
        expect(new Set(made).size, `${where}: ${made}`).toBe(made.length)
        failures++
      }
    }
    expect(failures).toBeGreaterThan(10)
  })
})
