/** What explains a plan is what made it: the decisions of the comparison, over worlds that nobody chose. */
import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {AppError} from '../../../src/base/errors.ts'
import {DECIDED, decidedBy, type FieldDecision, isDifference} from '../../../src/engine/model/decision.ts'
import type {Declaration} from '../../../src/engine/model/declaration.ts'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {type Key, keyOfOperation, Secret} from '../../../src/engine/model/value.ts'
import type {BuiltPlan} from '../../../src/engine/plan/build.ts'
import {edgesAround, fieldsOf, identityOf, writesOf} from '../../../src/engine/plan/explain.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {declared, knobs, liveWorld, randomStack, SECRET_MARK} from '../../support/random-stacks.ts'
import {seedOr} from '../../support/seed.ts'

const THOROUGHNESS = Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1)

interface Explained extends BuiltPlan {
  readonly decisions: Map<Key, readonly FieldDecision[]>
}

async function explained(lab: Lab, builders: readonly StackBuilder[], more: Planning = {}): Promise<Explained> {
  const decisions = new Map<Key, readonly FieldDecision[]>()
  return {...(await lab.plan(builders, {...more, decisions})), decisions}
}

const kindOf = ({kind}: Operation) => kinds.get(kind) ?? expect.unreachable(kind)

const fieldsIn = (lab: Lab, {decisions}: Explained, operation: Operation) =>
  fieldsOf({
    operation,
    kind: kindOf(operation),
    decisions: decisions.get(keyOfOperation(operation)),
    entry: lab.store(operation.stack).ledger.entries.get(operation.movedFrom ?? operation.address),
  })

/** The explanation and the plan say the same of an operation. */
function agrees(operation: Operation, fields: readonly FieldDecision[]): void {
  const of = keyOfOperation(operation)
  const {changes, kept = [], declared: wanted} = operation
  const differing = fields.filter(isDifference)
  expect(differing.map(it => it.path).toSorted(), of).toEqual([...changes.map(it => it.path), ...kept].toSorted())
  for (const it of changes) {
    const decided = fields.find(field => field.path === it.path)?.decided
    if (operation.remoteId !== undefined && operation.action !== 'create') expect(decided, `${of} ${it.path}`).toBe(decidedBy(it))
  }
  for (const path of kept)
    expect(
      fields.find(it => it.path === path),
      of,
    ).toMatchObject({decided: 'outside'})
  expect(new Set(fields.map(it => it.path)).size, of).toBe(fields.length)
  for (const field of Object.keys(wanted?.spec ?? {}))
    expect(
      fields.some(it => it.path === `/${field}` || it.path.startsWith(`/${field}/`)),
      `${of} /${field}`,
    ).toBe(true)
  for (const it of fields) expect([DECIDED.includes(it.decided), it.rule === ''], of).toEqual([true, false])
}

/** Who waits for somebody is waited for by them, and every edge of the plan is there. */
function bothWays(operations: readonly Operation[], declarations: readonly Declaration[]): void {
  const around = new Map(operations.map(it => [keyOfOperation(it), edgesAround(it, operations, declarations)]))
  for (const operation of operations) {
    const key = keyOfOperation(operation)
    const {waitsFor = [], waitedForBy = []} = around.get(key) ?? {}
    for (const it of operation.edges) expect(waitsFor, key).toContainEqual(it)
    for (const {key: other, reason} of waitsFor)
      expect(around.get(other)?.waitedForBy ?? [{key, reason}], other).toContainEqual({key, reason})
    for (const {key: other, reason} of waitedForBy)
      expect(around.get(other)?.waitsFor ?? [{key, reason}], other).toContainEqual({key, reason})
  }
}

describe('an explanation in random worlds', () => {
  const world = fc.record({
    live: randomStack,
    first: randomStack,
    second: randomStack,
    simulator: knobs,
    onDrift: fc.constantFrom('overwrite', 'keep'),
  })

  it('agrees with the plan it explains: what differs, who changed it, and nothing else', {timeout: 120_000}, async () => {
    const seen = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(world, async ({live, first, second, simulator, onDrift}) => {
        const lab = new Lab({simulator, perMinute: 100_000, burst: 100_000})
        liveWorld(live).into(lab.simulator)
        await lab.run(async () => {
          await lab.clock.sleep(5000)
          try {
            await lab.apply([declared(first)])
          } catch (error) {
            if (!(error instanceof AppError)) throw error
          }
          await lab.clock.sleep(5000)
          let built: Explained
          try {
            built = await explained(lab, [declared(second)], {lifts: {onDrift: onDrift as 'keep'}})
          } catch (error) {
            if (!(error instanceof AppError)) throw error
            return
          }
          const plain = await lab.plan([declared(second)], {lifts: {onDrift: onDrift as 'keep'}})
          // Who listens changes nothing.
          expect(built.plan.hash).toBe(plain.plan.hash)
          bothWays(built.plan.operations, declared(second).build().declarations)
          for (const operation of built.plan.operations) {
            const fields = fieldsIn(lab, built, operation)
            if (operation.declared !== undefined || operation.action === 'no-op') agrees(operation, fields)
            else expect(fields.every(it => it.decided === 'undeclared')).toBe(true)
            for (const it of fields) seen.set(it.decided, (seen.get(it.decided) ?? 0) + 1)
            // A saved plan knows less, and says nothing else.
            const saved = fieldsOf({operation, kind: kindOf(operation)})
            if (operation.declared !== undefined) agrees(operation, saved)
            const found = built.observation.pairs.get(keyOfOperation(operation))?.match?.found
            if (found !== undefined && operation.cause !== 'accepted')
              expect(identityOf(operation, kindOf(operation)).by, JSON.stringify(operation)).toBe(found)
            expect(JSON.stringify([fields, saved])).not.toContain(SECRET_MARK)
            expect(writesOf(operation, built.plan.operations, kinds).every(it => it.path.startsWith('/'))).toBe(true)
          }
        })
      }),
      {numRuns: 25 * THOROUGHNESS, seed: seedOr(20_261_122)},
    )
    for (const word of ['equal', 'in-git', 'normalised', 'write-only', 'undeclared']) expect([...seen.keys()]).toContain(word)
  })
})

describe('each word of a decision', () => {
  /** One object that was applied as `before`, changed at the console, and is declared as `after`. */
  async function wordsFor(
    before: (stack: StackBuilder) => StackBuilder,
    outside: (lab: Lab) => void,
    after: (stack: StackBuilder) => StackBuilder,
    more: Planning = {},
  ): Promise<Readonly<Record<string, FieldDecision>>> {
    const lab = new Lab()
    return lab.run(async () => {
      await lab.apply([before(stackOf())])
      outside(lab)
      await lab.clock.sleep(5000)
      const built = await explained(lab, [after(stackOf())], more)
      const operation = built.plan.operations.find(it => it.address === 'null_resource.it') ?? expect.unreachable()
      const fields = fieldsIn(lab, built, operation)
      if (operation.declared !== undefined || operation.action === 'no-op') agrees(operation, fields)
      return Object.fromEntries(fields.map(it => [it.path, it]))
    })
  }
  const nobody = () => {}
  const sub = (stack: StackBuilder) => stack.subscription('sub')
  const database =
    (spec: Parameters<StackBuilder['database']>[2], policy: Parameters<StackBuilder['database']>[3] = {}) =>
    (stack: StackBuilder) =>
      sub(stack).database('it', 'sub', {name: 'db', ...spec}, policy)
  const databasesIn = (lab: Lab) => lab.simulator.world.cloud.subscriptions['1']?.children.databases ?? expect.unreachable()
  const fieldsOfLive = (lab: Lab) => Object.values(databasesIn(lab))[0]?.fields ?? expect.unreachable()

  it('equal, normalised, in-git, outside, both', async () => {
    const fields = await wordsFor(
      database({memoryLimitInGb: 1, replication: true, dataPersistence: 'none', modules: [{name: 'json'}, {name: 'search'}]}),
      lab => Object.assign(fieldsOfLive(lab), {dataPersistence: 'snapshot-every-1-hour', memoryLimitInGb: 3}),
      database({memoryLimitInGb: 2, replication: false, dataPersistence: 'none', modules: [{name: 'search'}, {name: 'json'}]}),
    )
    expect(fields['/name']).toEqual({path: '/name', declared: 'db', ledger: 'db', live: 'db', decided: 'equal', rule: 'the same value'})
    expect(fields['/memoryLimitInGb']).toMatchObject({declared: 2, ledger: 1, live: 3, decided: 'both'})
    expect(fields['/replication']).toMatchObject({declared: false, ledger: true, live: true, decided: 'in-git'})
    expect(fields['/dataPersistence']).toMatchObject({declared: 'none', ledger: 'none', live: 'snapshot-every-1-hour', decided: 'outside'})
    expect(await wordsFor(database({memoryLimitInGb: 2.5}), nobody, database({memoryLimitInGb: '2.5'}))).toMatchObject({
      '/memoryLimitInGb': {decided: 'normalised', rule: 'the same number'},
    })
  })

  it('ignored, undeclared', async () => {
    const fields = await wordsFor(
      database({memoryLimitInGb: 1}),
      lab => Object.assign(fieldsOfLive(lab), {memoryLimitInGb: 3}),
      database({memoryLimitInGb: 1}, {ignoreChanges: ['/memoryLimitInGb']}),
    )
    expect(fields['/memoryLimitInGb']).toMatchObject({declared: 1, live: 3, decided: 'ignored', rule: 'lifecycle.ignore_changes names it'})
    expect(fields['/status']).toEqual({
      path: '/status',
      live: 'active',
      decided: 'undeclared',
      rule: 'nobody declares it: it is left alone',
    })
  })

  it('server-added of the items that nobody asked for', async () => {
    const modules = database({modules: [{name: 'json'}]})
    const fields = await wordsFor(modules, lab => Object.assign(fieldsOfLive(lab), {modules: [{name: 'json'}, {name: 'search'}]}), modules)
    expect(fields['/modules']).toMatchObject({declared: [{name: 'json'}], decided: 'server-added'})
    expect(fields['/modules/0/name']).toMatchObject({decided: 'equal'})
  })

  it('unread of what an answer need not show', async () => {
    const paid = (stack: StackBuilder) => stack.subscription('it', {name: 'sub', paymentMethod: 'marketplace'})
    const fields = await wordsFor(
      paid,
      lab => {
        const [live] = Object.values(lab.simulator.world.cloud.subscriptions)
        delete live?.fields.paymentMethod
      },
      paid,
    )
    expect(fields['/paymentMethod']).toEqual({
      path: '/paymentMethod',
      declared: 'marketplace',
      ledger: 'marketplace',
      decided: 'unread',
      rule: 'no answer shows it; the ledger has it as declared',
    })
  })

  it('create-only', async () => {
    const made = (spec: Parameters<StackBuilder['subscription']>[1]) => (stack: StackBuilder) =>
      stack.subscription('it', {name: 'sub', databases: [{name: 'inline', memoryLimitInGb: 1}], ...spec})
    const fields = await wordsFor(made({}), nobody, made({}))
    expect(fields['/databases']).toMatchObject({decided: 'create-only', rule: 'sent on create only, and never compared'})
  })

  it('write-only, and no value of it in any place', async () => {
    const user = (value: string) => (stack: StackBuilder) => stack.clusterUser('it', {name: 'u', password: new Secret(`hidden-${value}`)})
    const same = await wordsFor(user('1'), nobody, user('1'))
    expect(same['/password']).toEqual({
      path: '/password',
      declared: {secret: true},
      decided: 'write-only',
      rule: 'no answer shows it; the ledger knows that this was sent',
    })
    const other = await wordsFor(user('1'), nobody, user('2'))
    expect(other['/password']).toMatchObject({decided: 'in-git'})
    expect(JSON.stringify([same, other])).not.toContain('hidden')
  })

  it('in-git of what is not there yet, and outside of what is gone', async () => {
    expect(await wordsFor(sub, nobody, database({}))).toMatchObject({'/name': {decided: 'in-git', rule: 'the object is not there yet'}})
    const gone = await wordsFor(
      database({memoryLimitInGb: 1}),
      lab => {
        for (const id of Object.keys(databasesIn(lab))) delete databasesIn(lab)[id]
      },
      database({memoryLimitInGb: 1}),
    )
    expect(gone['/memoryLimitInGb']).toMatchObject({declared: 1, ledger: 1, decided: 'outside', rule: 'the object is gone'})
  })

  it('outside, and left so, where drift is kept', async () => {
    const fields = await wordsFor(
      database({memoryLimitInGb: 1}),
      lab => Object.assign(fieldsOfLive(lab), {memoryLimitInGb: 3}),
      database({memoryLimitInGb: 1}),
      {lifts: {onDrift: 'keep'}},
    )
    expect(fields['/memoryLimitInGb']).toMatchObject({decided: 'outside', rule: expect.stringMatching(/; left so \(--on-drift keep\)$/)})
  })

  it('undeclared of every field of what nobody declares any more', async () => {
    const fields = await wordsFor(database({memoryLimitInGb: 1}), nobody, sub)
    expect(fields['/memoryLimitInGb']).toMatchObject({ledger: 1, live: 1, decided: 'undeclared', rule: 'nobody declares the object'})
  })
})

describe('why nothing was found', () => {
  it('is not said to be that no object has the name, where one has it', async () => {
    const lab = new Lab()
    const stack = () => stackOf().subscription('a')
    await lab.run(async () => {
      await lab.apply([stack().database('d', 'a').database('e', 'a').rule('r', 'd')])
      const rules = async (next: StackBuilder) =>
        Object.fromEntries(
          (await lab.plan([next])).plan.operations.map(it => [it.address.replace('null_resource.', ''), identityOf(it, kindOf(it)).rule]),
        )
      const freed = stack().database('d', 'a', {name: 'new'}).database('q', 'a', {name: 'd'}).database('e', 'a').rule('r', 'd')
      expect((await rules(freed)).q).toBe('no ledger has it, and the live database of that name in its subscription is another one')
      expect((await rules(stack().database('e', 'a').rule('r', 'e'))).r).toBe(
        'the ledger has it in another database, and no live ACL rule is called "r" in this one',
      )
      const row = {name: 'nameless', memoryLimitInGb: 1}
      lab.simulator.inject({
        match: {method: 'GET', path: '/subscriptions/1/databases'},
        action: {type: 'status', status: 200, body: [row, {databaseId: 1, ...row, name: 'd'}, {databaseId: 2, ...row, name: 'e'}]},
      })
      const next = stack().database('d', 'a').database('e', 'a').rule('r', 'd').database('n', 'a', {name: 'nameless'})
      expect((await rules(next)).n).toBe('a live database is called "nameless" in its subscription, and shows no id')
    })
  })
})
