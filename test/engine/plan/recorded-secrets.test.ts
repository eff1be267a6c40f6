/** What a ledger knows of as secret stays one, also where the declaration of it is gone, is another one or replaces it. */
import {describe, expect, it} from 'vitest'
import {cloudDatabase} from '../../../src/backends/cloud/kinds/database.ts'
import {isJsonObject, type Json} from '../../../src/base/json.ts'
import {Secret} from '../../../src/engine/model/value.ts'
import {formerOf} from '../../../src/engine/plan/former.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const VALUE = 'volatile-lru'
const MARK = {secret: true}

const main = () => stackOf('shop').subscription('main')
const cache = (spec: Parameters<StackBuilder['database']>[2]) => main().database('cache', 'main', spec)
const hidden = () => cache({port: 12_000, dataEvictionPolicy: new Secret(VALUE)})

const applied = async (work: (lab: Lab) => Promise<void>) => {
  const lab = new Lab()
  await lab.run(async () => {
    await lab.apply([hidden()])
    await work(lab)
  })
}

/** The redactor of a run that knows the value. */
const hides = (shown: Json): Json =>
  shown === VALUE
    ? '(hidden)'
    : isJsonObject(shown)
      ? Object.fromEntries(Object.entries(shown).map(([field, it]) => [field, hides(it)]))
      : shown

describe('the value of a secret that only the ledger knows of', () => {
  it.each([
    ['is declared no more', main(), {}],
    ['is destroyed', hidden(), {destroy: true}],
  ])('is in no plan where the object %s, and the plan holds when it is applied', async (_, stack, how) => {
    await applied(async lab => {
      const {plan} = await lab.plan([stack], how)
      expect(active(plan.operations).find(it => it.address.endsWith('cache'))).toMatchObject({
        action: 'delete',
        name: 'cache',
        former: {name: 'cache', dataEvictionPolicy: MARK},
      })
      expect(JSON.stringify(plan)).not.toContain(VALUE)
      expect(active((await lab.recheck(plan, [stack])).plan.operations).map(it => it.action)).toEqual(
        active(plan.operations).map(it => it.action),
      )
    })
  })

  it('is in no plan where it is changed to another one in clear', async () => {
    await applied(async lab => {
      const next = cache({dataEvictionPolicy: 'noeviction'})
      const {plan} = await lab.plan([next])
      expect(active(plan.operations)).toMatchObject([
        {action: 'update', changes: [{path: '/dataEvictionPolicy', before: MARK, after: 'noeviction', moved: 'in git'}]},
      ])
      expect(JSON.stringify(plan)).not.toContain(VALUE)
      expect(active((await lab.recheck(plan, [next])).plan.operations)).toMatchObject([{action: 'update'}])
    })
  })

  it('is shown of no field that is declared no more', async () => {
    await applied(async lab => {
      const decisions = new Map()
      await lab.plan([cache({memoryLimitInGb: 2})], {decisions})
      const fields = decisions.get('shop:null_resource.cache') ?? []
      expect(fields).toContainEqual(expect.objectContaining({path: '/dataEvictionPolicy', live: MARK, decided: 'undeclared'}))
      expect(JSON.stringify(fields)).not.toContain(VALUE)
    })
  })

  it('is not said where it makes a plan stale', async () => {
    await applied(async lab => {
      const next = main()
      const {plan} = await lab.plan([next])
      // A plan of an older version has it in clear.
      const operations = plan.operations.map(it =>
        it.former === undefined ? it : {...it, former: {...it.former, dataEvictionPolicy: VALUE}},
      )
      await expect(lab.recheck({...plan, operations}, [next])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringMatching(/^(?!.*volatile).*\/dataEvictionPolicy holds a secret, and is not as it was when planned/s),
      })
    })
  })
})

describe('the value of a secret in an object that is replaced', () => {
  const other = () => cache({dataEvictionPolicy: new Secret(VALUE), port: 12_001})

  it('is in no plan, whether a ledger or the declaration alone knows of it', async () => {
    await applied(async lab => {
      for (const known of [true, false]) {
        if (!known) lab.stores.clear()
        const {plan} = await lab.plan([other()])
        const operation = plan.operations.find(it => it.action === 'replace')
        expect(operation).toMatchObject({former: {name: 'cache', port: 12_000, dataEvictionPolicy: MARK}})
        expect(JSON.stringify(plan)).not.toContain(VALUE)
        expect(active((await lab.recheck(plan, [other()])).plan.operations)).toContainEqual(expect.objectContaining({action: 'replace'}))
      }
    })
  })

  it('is hidden where a server repeats it in what it was, and its declared name stays', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([cache({port: 12_000, dataEvictionPolicy: VALUE})])
      const {plan} = await lab.plan([cache({port: 12_001})], {hides})
      const operation = plan.operations.find(it => it.action === 'replace')
      expect(operation).toMatchObject({name: 'cache', former: {dataEvictionPolicy: '(hidden)'}})
    })
  })
})

describe('a secret that a ledger knows of', () => {
  const fields = {
    name: 'cache',
    backup: {enabled: true, remoteBackupUrl: 's3://bucket'},
    alerts: [
      {name: 'latency', value: 7},
      {name: 'throughput', value: 8},
    ],
  }
  const former = (...recorded: readonly string[][]) => formerOf({kind: cloudDatabase, fields}, recorded)

  it.each([
    ['at its place', ['name'], {...fields, name: MARK}],
    ['below', ['alerts'], {...fields, alerts: MARK}],
    [
      'above',
      ['alerts', '0', 'value'],
      {
        ...fields,
        alerts: [
          {name: 'latency', value: MARK},
          {name: 'throughput', value: MARK},
        ],
      },
    ],
    ['where what is live has another shape', ['name', 'text'], {...fields, name: MARK}],
    ['and nowhere else', ['gone'], fields],
  ])('is hidden %s', (_, pointer, seen) => {
    expect(former([...pointer])).toEqual(seen)
  })
})
