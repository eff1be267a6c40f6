/**
 * A run is cut off at every write, before and after each thing that can be lost, and the next one goes on. Nothing may
 * be created twice, no delete repeated, and the world must end up as it would have without the crash.
 */
import {describe, expect, it} from 'vitest'
import {Secret} from '../../../src/engine/model/value.ts'
import type {SimulatorConfigInput} from '../../../src/simulator/index.ts'
import {applyUntilCrash, MOMENTS, type Moment, settle} from '../../support/crash.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

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

/** Databases that come with their subscription: the one as it is made, the other is changed after that. */
const madeInline = () => {
  const items = ['one', 'two'].map(name => ({name, memoryLimitInGb: 1}))
  const stack = stackOf().subscription('main', {databases: items}).database('one', 'main')
  const two = {name: 'two', memoryLimitInGb: 2, password: secret('three')}
  return stack.add('cloud.database', 'two', two, {parent: stack.in('main'), after: ['one']}).database('three', 'main')
}

const STORIES: readonly Story[] = [
  {name: 'creates of every cloud kind', before: () => stackOf(), after: chain},
  {name: 'databases made with their subscription', before: () => stackOf(), after: madeInline},
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
