/** What a ledger knows of as secret stays one, also where the declaration of it is gone, is another one or replaces it. */
import {describe, expect, it} from 'vitest'
import {cloudDatabase} from '../../../src/backends/cloud/kinds/database.ts'
import {isJsonObject, type Json} from '../../../src/base/json.ts'
import {isDeclaredClear} from '../../../src/engine/model/former-secret.ts'
import {Secret} from '../../../src/engine/model/value.ts'
import {formerOf} from '../../../src/engine/plan/former.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const VALUE = 'volatile-lru'
const MARK = {secret: true}

const main = () => stackOf('shop').subscription('main')
const cache = (...[spec, policy]: Parameters<StackBuilder['database']> extends [string, string, ...infer More] ? More : never) =>
  main().database('cache', 'main', spec, policy)
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

it('is in no digest of what a plan was made from', async () => {
  const digests = async (value: string) => {
    const lab = new Lab()
    return await lab.run(async () => {
      const stack = () => cache({dataEvictionPolicy: new Secret(value)})
      await lab.apply([stack()])
      return (await lab.plan([stack()])).plan.facts
    })
  }
  expect(await digests('noeviction')).toEqual(await digests(VALUE))
})

describe('a secret that is declared no more', () => {
  const SECRETS = {'/dataEvictionPolicy': 'former'}
  const kept = (lab: Lab, address = 'cache') => lab.entry('shop', address)?.secrets

  it('stays known as one through every change of its object that leaves it alone', async () => {
    await applied(async lab => {
      await lab.apply([cache({memoryLimitInGb: 2})])
      expect(kept(lab)).toEqual(SECRETS)
      await lab.apply([cache({memoryLimitInGb: 3})])
      expect(kept(lab)).toEqual(SECRETS)
      const {plan} = await lab.plan([main()])
      expect(JSON.stringify(plan)).not.toContain(VALUE)
    })
  })

  it('is marked as such by the next apply, where nothing else is changed', async () => {
    await applied(async lab => {
      const next = cache({port: 12_000})
      expect(active((await lab.plan([next])).plan.operations)).toMatchObject([{action: 'adopt', cause: 'ledger-older'}])
      await lab.apply([next])
      expect(kept(lab)).toEqual(SECRETS)
      expect(active((await lab.plan([next])).plan.operations)).toEqual([])
    })
  })

  it('stays known as one where a literal takes its place and is ignored', async () => {
    await applied(async lab => {
      await lab.apply([cache({dataEvictionPolicy: 'noeviction', memoryLimitInGb: 2}, {ignoreChanges: ['/dataEvictionPolicy']})])
      expect(kept(lab)).toEqual(SECRETS)
    })
  })

  it('is forgotten with a value that took its place, and with its object', async () => {
    await applied(async lab => {
      await lab.apply([cache({memoryLimitInGb: 2})])
      await lab.apply([cache({memoryLimitInGb: 2, dataEvictionPolicy: 'noeviction'})])
      expect(kept(lab)).toEqual({})
    })
  })

  it('is told whoever writes what is said, wherever it is seen', async () => {
    await applied(async lab => {
      await lab.apply([cache({memoryLimitInGb: 2})])
      const learned: Json[] = []
      await lab.plan([cache({memoryLimitInGb: 2})], {learnsSecret: value => learned.push(value)})
      expect(new Set(learned)).toEqual(new Set([VALUE]))
    })
  })
})

describe('a place in a specification', () => {
  const spec = {
    plain: 1,
    none: null,
    within: {other: 2, hidden: new Secret('x')},
    list: [{name: 'a'}, {name: 'b', value: 3}],
  }

  it.each([
    ['/plain', true],
    ['/none', true],
    ['/plain/that/is/no/object', true],
    ['/within', false],
    ['/within/other', true],
    ['/within/hidden/below', true],
    ['/within/gone', false],
    ['/gone', false],
    ['/list', true],
    ['/list/0/value', false],
    ['/list/1/value', true],
    ['/list/2/value', true],
  ])('%s is said in clear: %s', (pointer, clear) => {
    expect(isDeclaredClear(spec, pointer)).toBe(clear)
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
