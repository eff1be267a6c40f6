/**
 * Somebody changes one value of a saved plan and makes its hash anew. Either the plan is refused (when it is read, or when
 * it is compared with what is there), or what it shows is what the server then gets.
 */
import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {AppError} from '../../../src/base/errors.ts'
import {isJsonObject, type Json, type JsonObject} from '../../../src/base/json.ts'
import {parsePointer, valueAt} from '../../../src/base/pointer.ts'
import type {Operation, Plan} from '../../../src/engine/model/plan.ts'
import {planSchemaWith} from '../../../src/engine/model/plan-schema.ts'
import {Secret} from '../../../src/engine/model/value.ts'
import {assertAgrees} from '../../../src/engine/plan/agree.ts'
import {assertSealed, sealed} from '../../../src/engine/plan/document.ts'
import {ledgerLocation} from '../../../src/ledger/backends/registry.ts'
import type {WorldEdit} from '../../../src/simulator/base/world-edit.ts'
import {Lab, stackOf} from '../../support/lab.ts'
import {seedOr} from '../../support/seed.ts'

const planSchema = planSchemaWith(ledgerLocation)

/** One of everything: create, update, replace, delete, adopt, forget, no-op, secrets, values to come. */
const before = () =>
  stackOf()
    .subscription('main')
    .database('cache', 'main', {memoryLimitInGb: 2, alerts: [{name: 'dataset-size', value: 80}]})
    .database('port', 'main', {port: 12_000})
    .database('gone', 'main')
    .rule('ro', 'gone')
    .clusterUser('viewer', {role: 'db_viewer'})
    .bdb('same')
const after = () =>
  stackOf()
    .subscription('main')
    .database('cache', 'main', {memoryLimitInGb: 100, alerts: [{name: 'dataset-size', value: 90}]})
    .database('port', 'main', {port: 12_001})
    .database('fresh', 'main', {memoryLimitInGb: 1, modules: [{name: 'json'}]})
    .rule('rw', 'fresh')
    .user('app', 'fresh', {role: 'rw', password: new Secret('geheim', '${var.pw}')}, ['rw'])
    .clusterUser('viewer', {role: 'admin'})
    .database('found', 'main')
    .bdb('same')

async function planned(lab: Lab): Promise<{readonly lab: Lab; readonly plan: Plan}> {
  await lab.apply([before()])
  lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'found', memoryLimitInGb: 1}})
  await lab.clock.sleep(10_000)
  const {plan} = await lab.plan([after()])
  lab.simulator.clearLog()
  return {lab, plan: read(plan)}
}

/** As a file gives it back. @throws when it is refused */
function read(plan: unknown): Plan {
  const parsed = planSchema.parse(JSON.parse(JSON.stringify(plan)))
  assertSealed(parsed)
  assertAgrees(parsed, kinds)
  return parsed
}

const asDocument = (plan: Plan): JsonObject => JSON.parse(JSON.stringify(plan)) as JsonObject

/** Every place of a document. */
function placesOf(value: Json, at: readonly string[] = []): (readonly string[])[] {
  const inner = value !== null && typeof value === 'object' ? Object.entries(value as JsonObject) : []
  return [...(at.length === 0 ? [] : [at]), ...inner.flatMap(([key, item]) => placesOf(item, [...at, key]))]
}

type Change = 'another' | 'gone' | 'twice'

/** The document with one value changed, taken away, or there twice. */
function altered(value: Json, [segment, ...rest]: readonly string[], how: Change): Json {
  if (segment === undefined) return another(value)
  if (Array.isArray(value)) {
    const items = [...(value as readonly Json[])]
    const at = Number(segment)
    const item = items[at] ?? null
    if (rest.length > 0) items[at] = altered(item, rest, how)
    else if (how === 'another') items[at] = another(item)
    else items.splice(at, 1, ...(how === 'gone' ? [] : [item, item]))
    return items
  }
  const {[segment]: item = null, ...others} = value as JsonObject
  if (rest.length > 0) return {...others, [segment]: altered(item, rest, how)}
  return how === 'gone' ? others : {...others, [segment]: another(item)}
}

function another(value: Json): Json {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string') return /\d/.test(value) ? value.replace(/\d/, it => String((Number(it) + 1) % 10)) : `${value}x`
  return value === null ? 'x' : {}
}

/** What the plan says to whoever reads it, as far as it can be compared with requests. */
function shownWrites({operations}: Plan): string[] {
  const fields = (changes: Plan['operations'][number]['changes']) =>
    changes.flatMap(({path, after: to}) => (isMark(to) ? [] : [`${path} ${JSON.stringify(to)}`])).join(', ')
  return operations.flatMap(({action, kind, remoteId = '', changes}) => {
    const path = remoteId
      .replace(/^(cloud|cluster)/, '')
      .replace('/bdbs', '/v1/bdbs')
      .replace('/users', '/v1/users')
    if (action === 'create') return [`POST ${kind} ${fields(changes)}`]
    if (action === 'update') return [`PUT ${path} ${fields(changes)}`]
    if (action === 'delete') return [`DELETE ${path}`]
    return action === 'replace' ? [`DELETE ${path}`, `POST ${kind} ${fields(changes)}`] : []
  })
}

const isMark = (value: Json | undefined): boolean => isJsonObject(value) && ('secret' in value || 'unknown' in value)

/** The same of what the server got: of each request the fields that were shown of it. */
function sentWrites(lab: Lab, plan: Plan): string[] {
  const shown = shownWrites(plan)
  return lab.simulator.log
    .filter(it => it.method !== 'GET')
    .map(({method, path, body = null}) => {
      if (method === 'DELETE') return `DELETE ${path}`
      const begin = method === 'PUT' ? `PUT ${path} ` : `POST ${KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? path} `
      const hasAll = (text: string) =>
        text.startsWith(begin) &&
        text
          .slice(begin.length)
          .split(/, (?=\/)/)
          .every(
            field =>
              field === '' ||
              JSON.stringify(valueAt(body, parsePointer(field.slice(0, field.indexOf(' '))))) === field.slice(field.indexOf(' ') + 1),
          )
      return shown.find(hasAll) ?? `${method} ${path} ${JSON.stringify(body)}`
    })
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/\/acl\/rules$/, 'cloud.acl_rule'],
  [/\/acl\/users$/, 'cloud.acl_user'],
  [/^\/subscriptions\/\d+\/databases$/, 'cloud.database'],
]

/** Reads and applies it. @returns why it was refused, or nothing when it was carried out as it is shown */
async function carriedOut(lab: Lab, document: Json): Promise<string | undefined> {
  let plan: Plan
  try {
    plan = read(sealed(document as unknown as Plan))
    const built = await lab.recheck(plan, [after()])
    if (built.plan.guards.length > 0) return 'guards'
    await lab.execute(built, [after()])
  } catch (error) {
    if (
      !(error instanceof AppError) &&
      !(error instanceof Error && (error.name === 'ZodError' || / has no secret at /.test(error.message)))
    )
      throw error
    expect(lab.writes).toEqual([])
    return error.message
  }
  expect(sentWrites(lab, plan).sort()).toEqual(shownWrites(plan).sort())
  return undefined
}

describe('a plan of which one value was changed, with its hash made anew', () => {
  it('is carried out as it is shown where nothing was changed', async () => {
    const {lab, plan} = await inLab()
    expect(plan.summary).toMatchObject({create: 3, update: 2, replace: 1, delete: 1, adopt: 1, forget: 1, 'no-op': 2})
    expect(await lab.run(() => carriedOut(lab, asDocument(plan)))).toBeUndefined()
  })

  const inOperation = (address: string, change: (it: Operation) => object) => (plan: Plan) => ({
    ...plan,
    operations: plan.operations.map(it => (it.address === `null_resource.${address}` ? change(it) : it)),
  })
  const declaring = (spec: JsonObject) => (it: Operation) => ({...it, declared: {...it.declared, spec: {...it.declared?.spec, ...spec}}})

  it.each<[string, (plan: Plan) => object, string]>([
    [
      'declares another value than it shows',
      inOperation('cache', declaring({memoryLimitInGb: 0.5})),
      '/memoryLimitInGb would be 100, and 0.5',
    ],
    ['creates another object than it shows', inOperation('fresh', declaring({memoryLimitInGb: 0.5})), 'it shows /memoryLimitInGb 1'],
    [
      'creates under another name',
      inOperation('fresh', it => ({...it, name: 'harmless'})),
      'it is called "harmless", and "fresh" is declared',
    ],
    ['sends a password in clear', inOperation('app', declaring({password: 'mine'})), '/password is a secret, and stands there in clear'],
    ['has an unknown kind', inOperation('cache', it => ({...it, kind: 'cloud.cache'})), 'there is no kind cloud.cache'],
    [
      'means an object of another kind',
      inOperation('cache', it => ({...it, remoteId: 'cloud/subscriptions/1'})),
      'cloud/subscriptions/1 is no',
    ],
    [
      'means an object of another parent',
      inOperation('cache', it => ({...it, remoteId: 'cloud/subscriptions/9/databases/1'})),
      'is not in cloud/subscriptions/1',
    ],
    ['hides what it waits for', inOperation('rw', it => ({...it, edges: [], because: []})), 'it hangs on shop:null_resource.fresh'],
    ['deletes what no ledger has', inOperation('gone', ({origin: _, ...it}) => it), 'no ledger has it'],
    [
      'plays a risk down',
      inOperation('cache', it => ({...it, changes: it.changes.map(change => ({...change, risk: 'none'}))})),
      'has another risk',
    ],
    ['counts other operations', plan => ({...plan, summary: {...plan.summary, delete: 0}}), 'the summary counts'],
    ['has an operation twice', plan => ({...plan, operations: [...plan.operations, ...plan.operations.slice(-1)]}), 'has two operations'],
    ['does not cover a stack', plan => ({...plan, stacks: []}), 'which the plan does not cover'],
    ['stands in another order', plan => ({...plan, operations: plan.operations.toReversed()}), 'do not stand in the order'],
    ['is for no account', plan => ({...plan, accounts: {}}), 'it names no account for the cloud API'],
    [
      'lifts no guard any more',
      plan => ({...plan, lifts: {...plan.lifts, allowDestroy: []}}),
      'it names the guards none, and G_PROTECTED refuse it',
    ],
    ['is a destroy all at once', plan => ({...plan, destroy: true}), 'is no part of a destroy'],
    ['selects, and covers all', plan => ({...plan, selectors: {target: ['cache'], exclude: []}}), 'its scope is all, with selectors'],
  ])('is refused when it %s', async (_, change, message) => {
    const {plan} = await inLab()
    expect(() => read(sealed(change(plan) as Plan))).toThrow(message)
  })

  it('is refused when its hash is the former one, whatever was changed', async () => {
    const {plan} = await inLab()
    expect(() => read({...plan, notAfter: '2030-01-01T00:00:00Z'})).toThrow('and the file says')
    expect(() => read({...plan, notes: ['all is well']})).toThrow('and the file says')
  })

  it('is refused with nothing sent, or is carried out as it is shown', {timeout: 120_000}, async () => {
    const document = asDocument((await inLab()).plan)
    const places = placesOf(document).filter(([top]) => top !== 'hash')
    const tally = {refused: 0, carriedOut: 0}
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), fc.constantFrom<Change>('another', 'another', 'gone', 'twice'), async (place, how) => {
        const {lab} = await inLab()
        const refused = await lab.run(() => carriedOut(lab, altered(document, place, how)))
        tally[refused === undefined ? 'carriedOut' : 'refused']++
      }),
      {numRuns: 120, seed: seedOr(20_261_122)},
    )
    expect(tally.refused).toBeGreaterThan(tally.carriedOut)
    expect(tally.carriedOut).toBeGreaterThan(0)
  })
})

async function inLab() {
  const lab = new Lab()
  return lab.run(() => planned(lab))
}

describe('a plan that deletes', () => {
  const stack = () => stackOf().subscription('main').database('cache', 'main').database('queue', 'main', {port: 12_000, replication: false})
  const less = () => stackOf().subscription('main').database('queue', 'main', {port: 12_001})
  const staleAfter = async (edit: WorldEdit) => {
    const lab = new Lab()
    return lab.run(async () => {
      await lab.apply([stack()])
      const {plan} = await lab.plan([less()])
      expect(plan.summary).toMatchObject({delete: 1, replace: 1})
      expect((await lab.recheck(read(plan), [less()])).plan.summary).toEqual(plan.summary)
      lab.simulator.edit(edit)
      await lab.clock.sleep(10_000)
      lab.simulator.clearLog()
      const error = await lab.recheck(read(plan), [less()]).catch(it => it)
      expect(lab.writes).toEqual([])
      return error
    })
  }
  const cache = 'cloud/subscriptions/1/databases/1'

  it.each<[string, WorldEdit, string]>([
    ['has another name', {path: cache, set: {name: 'billing'}}, 'it is called "billing", and was "cache" when planned'],
    ['holds other data', {path: cache, set: {memoryLimitInGb: 64}}, '/memoryLimitInGb is 64, and was 1 when planned'],
    ['is replaced and holds other data', {path: cache.replace(/1$/, '2'), set: {replication: true}}, '/replication is true'],
  ])('is stale when the object %s, and nothing is sent', async (_, edit, message) => {
    expect(await staleAfter(edit)).toMatchObject({code: 'E_PLAN_STALE', exit: 5, message: expect.stringContaining(message)})
  })

  it('is stale when something has come into it meanwhile', async () => {
    const lab = new Lab()
    const inline = stackOf().subscription('main', {databases: [{name: 'spare', memoryLimitInGb: 1}]})
    await lab.run(async () => {
      await lab.apply([inline])
      for (const name of ['stranger', 'spare']) {
        const {plan} = await lab.plan([stackOf()], {destroy: true})
        expect(plan.summary.delete).toBeGreaterThan(0)
        const path = lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name, memoryLimitInGb: 1}})
        await lab.clock.sleep(10_000)
        await expect(lab.recheck(read(plan), [])).rejects.toMatchObject({code: 'E_PLAN_STALE'})
        lab.simulator.edit({path: String(path), delete: true})
        await lab.clock.sleep(10_000)
      }
      expect(lab.writes.filter(it => it.startsWith('DELETE'))).toEqual([])
    })
  })

  it('says fields of what it deletes that a stack could declare, and no secret', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().clusterUser('viewer')])
      const {plan} = await lab.plan([stackOf()], {destroy: true})
      expect(plan.operations).toMatchObject([{action: 'delete', cause: 'destroy', former: {name: 'viewer', role: 'db_viewer'}}])
    })
  })
})

describe('a plan whose parent stays as it is', () => {
  it('is stale when the ledger has another object there by now: nothing is put into it', async () => {
    const lab = new Lab()
    const next = stackOf().subscription('main').database('cache', 'main')
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main')])
      const other = lab.simulator.edit({path: 'cloud/subscriptions', create: {name: 'other'}})
      await lab.clock.sleep(10_000)
      const {plan} = await lab.plan([next])
      const operations = plan.operations.map(it => (it.action === 'no-op' ? {...it, remoteId: String(other)} : it))
      await expect(lab.recheck(read(sealed({...plan, operations})), [next])).rejects.toThrow('and the ledger has cloud/subscriptions/1')
      expect(lab.requests.filter(it => it.includes('databases') && it.startsWith('POST'))).toEqual([])
    })
  })
})

describe('a plan that empties a stack', () => {
  it('is refused where its count says that something is declared, for that would lift G_EMPTY', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([before()])
      const {plan} = await lab.plan([stackOf()])
      expect(plan.guards.map(it => it.code)).toEqual(['G_EMPTY'])
      const forged = {...plan, stacks: plan.stacks.map(it => ({...it, declared: 3})), guards: []}
      expect(() => read(sealed(forged))).toThrow('shop declares 3 objects, and none of them is planned')
    })
  })
})
