/**
 * A run is cut off at every write, before and after each thing that can be lost, and the next one goes on. Nothing may
 * be created twice, no delete repeated, and the world must end up as it would have without the crash.
 */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../src/backends/kinds.ts'
import type {Backend, WriteOutcome} from '../../src/engine/backend.ts'
import type {BuiltPlan} from '../../src/engine/build-plan.ts'
import {type JournalEntry, readRun} from '../../src/engine/journal.ts'
import {LedgerBook} from '../../src/engine/ledger-book.ts'
import {recover} from '../../src/engine/recover.ts'
import {openLeaves} from '../../src/engine/resolve.ts'
import {keyOf, Secret} from '../../src/engine/value.ts'
import type {SimulatorConfigInput} from '../../src/simulator/index.ts'
import {Lab, type StackBuilder, sealed, stackOf} from '../support/lab.ts'

const MOMENTS = ['before it is sent', 'sent and no answer', 'answered and not journaled', 'journaled'] as const
type Moment = (typeof MOMENTS)[number]

const forever = new Promise<never>(() => {})

/** Carries a plan out until the `at`-th write, where the process dies. @returns whether it came that far */
async function applyUntilCrash(
  lab: Lab,
  built: BuiltPlan,
  builders: readonly StackBuilder[],
  at: number,
  moment: Moment,
): Promise<boolean> {
  let writes = 0
  let dead = false
  let dieAtNextEntry = false
  let crash: () => void = () => {}
  const crashed = new Promise<'crashed'>(resolve => {
    crash = () => {
      dead = true
      resolve('crashed')
    }
  })
  const die = (): Promise<never> => {
    crash()
    return forever
  }
  const backendOf = lab.backends('full')
  const mortal = (backend: Backend): Backend => {
    const alive =
      <A extends unknown[], R>(call: (...given: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        if (dead) return forever
        const answer = await call(...given)
        return dead ? forever : answer
      }
    const {reader} = backend
    return {
      name: backend.name,
      spending: backend.spending,
      reader: {
        list: alive((...given) => reader.list(...given)),
        read: alive((...given) => reader.read(...given)),
        prove: alive((...given) => reader.prove(...given)),
        forget: path => reader.forget(path),
      },
      tasks: alive((...given) => backend.tasks(...given)),
      task: alive((...given) => backend.task(...given)),
      write: async (request, options): Promise<WriteOutcome> => {
        if (dead) return forever
        const mine = writes++ === at
        if (mine && moment === 'before it is sent') return die()
        const outcome = await backend.write(request, options)
        if (dead || (mine && moment === 'sent and no answer')) return die()
        if (mine && outcome.outcome === 'accepted' && outcome.taskId === undefined) return die()
        if (mine) dieAtNextEntry = true
        return outcome
      },
    }
  }
  const journal: JournalEntry[] = []
  const proxies = {cloud: mortal(backendOf('', 'cloud')), cluster: mortal(backendOf('', 'cluster'))}
  const ended = lab
    .execute(built, builders, {
      backendOf: (_, api) => proxies[api],
      journal: {
        append: entry => {
          if (dead) throw new Error('dead')
          if (dieAtNextEntry && moment === 'answered and not journaled') {
            crash()
            throw new Error('dead')
          }
          journal.push(entry)
          if (dieAtNextEntry) crash()
        },
      },
    })
    .then(
      () => 'ended' as const,
      error => {
        if (!dead) throw error
        return forever
      },
    )
  const end = await Promise.race([ended, crashed])
  lab.journal = journal
  return end === 'crashed'
}

/** What the next run does first. */
async function settle(lab: Lab, built: BuiltPlan, builders: readonly StackBuilder[]) {
  const specs = new Map(builders.flatMap(it => it.build().declarations).map(it => [it.key, it.spec]))
  const stacks = built.plan.stacks.map(it => it.name)
  const book: LedgerBook = new LedgerBook(await lab.ledgers(stacks), new Map(stacks.map(it => [it, lab.store(it)])), ledger =>
    Promise.resolve(sealed(ledger, book.secretsOf(ledger.stack))),
  )
  return recover({
    run: 'dead',
    dead: readRun(lab.journal),
    operations: built.plan.operations,
    kinds,
    backendOf: lab.backends('full'),
    book,
    secret: (operation, leaf) => {
      const spec = specs.get(keyOf(operation.stack, operation.address))
      const found = spec && openLeaves(spec).find(it => it.pointer === leaf.path)?.leaf
      if (found instanceof Secret) return found
      throw new Error('no secret')
    },
    evaluate: expression => {
      throw new Error(expression)
    },
    lookup: {variable: () => undefined, attribute: () => undefined},
    clock: lab.clock,
    pace: {minMs: 1000, maxMs: 10_000},
    lagMs: 2000,
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    emit: () => {},
    note: () => {},
  })
}

/** Names and fields of everything there is, without ids: those depend on the order of creation. */
function shape(lab: Lab): unknown {
  lab.simulator.settle()
  const bare = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(bare).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    if (value === null || typeof value !== 'object') return value
    const skipped = [
      'id',
      'uid',
      'subscriptionId',
      'databaseId',
      'born',
      'past',
      'gone',
      'busy',
      'lockedUntil',
      'publicEndpoint',
      'privateEndpoint',
      'port',
      'endpoints',
    ]
    const kept = Object.entries(value).filter(
      ([key, item]) =>
        (item as {gone?: number} | null)?.gone === undefined &&
        !skipped.includes(key) &&
        !/time|date|created|updated|modified|at$/i.test(key),
    )
    const children = kept.map(
      ([key, item]) => [/^\d+$/.test(key) || key.startsWith('vpc') || key.startsWith('pcx') ? '*' : key, bare(item)] as const,
    )
    const numbered = children.filter(([key]) => key === '*').map(([, item]) => item)
    return {
      ...Object.fromEntries(children.filter(([key]) => key !== '*').sort(([a], [b]) => (a < b ? -1 : 1))),
      ...(numbered.length > 0 ? {items: bare(numbered)} : {}),
    }
  }
  const {cloud, cluster} = lab.simulator.snapshot().world as unknown as {cloud: Record<string, unknown>; cluster: Record<string, unknown>}
  return bare({subscriptions: cloud.subscriptions, bdbs: cluster.bdbs, users: cluster.users})
}

function repeated(lab: Lab): string[] {
  const seen = new Map<string, number>()
  const deleted = new Set<string>()
  for (const {method, path, status, body} of lab.simulator.log) {
    if (status < 200 || status > 299) continue
    if (method === 'DELETE') {
      if (deleted.has(path)) seen.set(`DELETE ${path}`, 2)
      deleted.add(path)
    }
    if (method !== 'POST') continue
    const name = `POST ${path} ${JSON.stringify((body as {name?: string; vpcId?: string})?.name ?? body)}`
    seen.set(name, (seen.get(name) ?? 0) + 1)
  }
  return [...seen].filter(([, count]) => count > 1).map(([what]) => what)
}

interface Story {
  readonly name: string
  readonly before: () => StackBuilder
  readonly after: () => StackBuilder
}

const secret = (text: string) => new Secret(text, '${var.pw}')
const chain = () =>
  stackOf()
    .subscription('main')
    .database('cache', 'main')
    .rule('ro', 'cache')
    .user('app', 'cache', {role: 'ro', password: secret('one')}, ['ro'])
    .add(
      'cloud.peering',
      'net',
      {provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/16'},
      {parent: {by: 'key', key: 'shop:null_resource.main'}},
    )
const cluster = () =>
  stackOf()
    .bdb('local')
    .add('cluster.user', 'op', {name: 'op', email: 'op@example.com', password: secret('two')})
    .add('cluster.policy', 'policy', {default_shards_placement: 'dense'})

const STORIES: readonly Story[] = [
  {name: 'creates of every cloud kind', before: () => stackOf(), after: chain},
  {name: 'an update', before: chain, after: () => chain().without('cache').database('cache', 'main', {memoryLimitInGb: 2})},
  {
    name: 'a replacement',
    before: () => stackOf().subscription('main').database('cache', 'main', {port: 10_001}),
    after: () => stackOf().subscription('main').database('cache', 'main', {port: 10_002}),
  },
  {name: 'deletes', before: chain, after: () => stackOf()},
  {name: 'cluster kinds', before: () => stackOf(), after: cluster},
]

const WORLDS: readonly {readonly name: string; readonly config: SimulatorConfigInput}[] = [
  {name: 'asynchronous', config: {cloud: {taskMs: 3000, readyMs: 2000, listLagMs: 1000}}},
  {name: 'synchronous', config: {cloud: {asynchronous: false, readyMs: 1000}}},
]

async function crashedAt(story: Story, config: SimulatorConfigInput, at: number, moment: Moment) {
  const lab = new Lab({simulator: config})
  return lab.run(async () => {
    if (story.before().build().declarations.length > 0) await lab.apply([story.before()])
    await lab.clock.sleep(60_000)
    lab.simulator.clearLog()
    const built = await lab.plan([story.after()])
    const came = await applyUntilCrash(lab, built, [story.after()], at, moment)
    if (!came) return undefined
    const sentBefore = lab.simulator.log.length
    const found = await settle(lab, built, [story.after()])
    const looks = lab.simulator.log.slice(sentBefore)
    const next = await lab.apply([story.after()])
    const again = await lab.plan([story.after()])
    return {lab, found, looks, next, again}
  })
}

describe.each(WORLDS)('a run that dies in an $name world', ({config}) => {
  it.each(STORIES)('$name: whatever was lost, the next run ends as if nothing had happened', async story => {
    const calm = new Lab({simulator: config})
    const expected = await calm.run(async () => {
      if (story.before().build().declarations.length > 0) await calm.apply([story.before()])
      await calm.clock.sleep(60_000)
      await calm.apply([story.after()])
      await calm.clock.sleep(60_000)
      return shape(calm)
    })
    let boundaries = 0
    for (const moment of MOMENTS) {
      for (let at = 0; at < 40; at++) {
        const result = await crashedAt(story, config, at, moment)
        if (result === undefined) break
        boundaries++
        const where = `${story.name}, write ${at}, ${moment}`
        const {lab, found, looks, next, again} = result
        expect(repeated(lab), where).toEqual([])
        expect(found.unknown, where).toEqual([])
        expect(
          next.ended.flatMap(it => it.error?.message ?? []),
          where,
        ).toEqual([])
        expect(
          again.plan.operations.filter(it => it.action !== 'no-op'),
          where,
        ).toEqual([])
        // The first request of the next run is already a look at what is in doubt.
        if (looks[0]) expect(looks[0].path, where).toMatch(/tasks|actions|subscriptions|bdbs|users|peerings|databases/)
        await lab.run(() => lab.clock.sleep(60_000))
        expect(shape(lab), where).toEqual(expected)
      }
    }
    expect(boundaries).toBeGreaterThan(0)
  })
})
