import fc from 'fast-check'
import {expect, it} from 'vitest'
import {Deferred} from '../../src/engine/model/value.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../support/lab.ts'
import {active, objectsOf} from '../support/promises.ts'
import {seedOr} from '../support/seed.ts'
import {REFUSALS_OF_PARTS, unless} from '../support/unless.ts'

const SEED = seedOr(24)
const ASKED = Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1)
const THOROUGHNESS = ASKED < 2 ? 0.5 : ASKED
const MINUTE = 60_000
/** So often at most one goes on with what the plan before could not know. */
const ROUNDS = 6

const unlessRefused = unless(REFUSALS_OF_PARTS)

/** What an address means on one day; `within`: a database in the subscription that a slot before it means. */
const meaning = fc.record({
  is: fc.constantFrom(
    'peering' as const,
    'peering' as const,
    'subscription' as const,
    'database' as const,
    'within' as const,
    'bdb' as const,
  ),
  parent: fc.constantFrom('a', 'b'),
  name: fc.constantFrom('x', 'y'),
  computed: fc.boolean(),
  createBeforeDestroy: fc.boolean(),
})

const day = fc.record({
  meanings: fc.array(fc.option(meaning, {nil: undefined, freq: 4}), {minLength: 4, maxLength: 4}),
  /** Whether names hang on a database that is still to be made. */
  isNew: fc.boolean(),
  exclusive: fc.boolean(),
  moved: fc.option(fc.record({from: fc.nat(3), to: fc.nat(3)}), {nil: undefined}),
  part: fc.constantFrom<readonly ['target' | 'exclude', number] | undefined>(
    undefined,
    undefined,
    ['target', 0],
    ['target', 1],
    ['exclude', 0],
  ),
})

type Day = typeof day extends fc.Arbitrary<infer T> ? T : never

function declaredOn({meanings, exclusive, moved}: Day, first: string): StackBuilder {
  const stack = stackOf()
    .subscription('a', {}, {exclusive: exclusive ? ['databases', 'peerings'] : []})
    .subscription('b')
  stack.add('cloud.database', first, {name: first, memoryLimitInGb: 1}, {parent: stack.in('b'), outputs: ['status']})
  const places = new Set<string>()
  let within = 'a'
  for (const [at, it] of meanings.entries()) {
    if (it === undefined) continue
    const kind = it.is === 'within' ? 'database' : it.is
    const parent = it.is === 'within' ? within : it.parent
    const place = `${kind} ${kind === 'subscription' || kind === 'bdb' ? '' : parent} ${it.name}`
    if (places.has(place)) continue
    places.add(place)
    const name = it.computed
      ? new Deferred(`${it.name}-\${null_resource.${first}.triggers["out/status"]}`, [stack.key(first)])
      : `${it.name}-active`
    const more = {after: it.computed ? [first] : [], policy: {createBeforeDestroy: it.createBeforeDestroy}}
    const local = `slot${at}`
    if (kind === 'subscription') {
      stack.add('cloud.subscription', local, {name}, more)
      within = local
    } else if (kind === 'bdb') stack.add('cluster.database', local, {name, memory_size: 104_857_600}, more)
    else if (kind === 'database') stack.add('cloud.database', local, {name, memoryLimitInGb: 1}, {parent: stack.in(parent), ...more})
    else {
      const net = {provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcCidr: '10.0.0.0/24', vpcId: name}
      stack.add('cloud.peering', local, net, {parent: stack.in(parent), ...more})
    }
  }
  if (moved && moved.from !== moved.to) stack.moved(`slot${moved.from}`, `slot${moved.to}`)
  return stack
}

const partOf = ([how, slot]: readonly ['target' | 'exclude', number]): Planning => ({
  selection: {target: [], exclude: [], [how]: [`slot${slot}`]},
})

it('names that hang on what is still to be made lose nothing and make nothing twice: all that is there is owned at the end', {
  timeout: 600_000,
}, async () => {
  let days = 0
  await fc.assert(
    fc.asyncProperty(fc.array(day, {minLength: 2, maxLength: 3}), async story => {
      const lab = new Lab({perMinute: 100_000, burst: 100_000})
      await lab.run(async () => {
        let first = 'first'
        for (const [at, today] of story.entries()) {
          if (today.isNew) first = `first${at}`
          const stack = declaredOn(today, first)
          const apply = (how: Planning = {}) => unlessRefused(() => lab.apply([stack], how))
          if (at > 0 && today.part !== undefined) await apply(partOf(today.part))
          let open: readonly {readonly cause: string}[] = [{cause: 'not-there'}]
          for (let round = 0; round < ROUNDS && open.length > 0; round++) {
            await lab.clock.sleep(MINUTE)
            const done = await apply()
            if (done === undefined) return
            open = active(done.plan.operations)
          }
          // Two that wait for each other: the way out that is named for that has a test of its own.
          if (open.some(one => one.cause === 'not-known-yet')) return
          expect(open).toEqual([])
          const owned = [...lab.store('shop').ledger.entries.values()].map(one => one.remoteId)
          expect(owned.sort()).toEqual(
            objectsOf(lab.simulator)
              .map(one => one.remoteId)
              .sort(),
          )
          days++
        }
      })
    }),
    {numRuns: 100 * THOROUGHNESS, seed: SEED},
  )
  expect(days).toBeGreaterThan(100 * THOROUGHNESS)
})
