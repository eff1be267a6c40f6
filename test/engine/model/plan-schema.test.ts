import {readFileSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {beforeImageSchema} from '../../../src/engine/model/before-image.ts'
import {CAUSES} from '../../../src/engine/model/cause.ts'
import {ACTIONS} from '../../../src/engine/model/plan.ts'
import {planSchemaWith} from '../../../src/engine/model/plan-schema.ts'
import {ledgerLocation} from '../../../src/ledger/backends/registry.ts'

const planSchema = planSchemaWith(ledgerLocation)

const hash = 'a'.repeat(64)

const smallest = {
  format: 'svcctl.plan/1',
  tool: 'svcctl 0.1.0',
  stacks: [],
  accounts: {},
  declarationsDigest: hash,
  scope: 'all',
  selectors: {target: [], exclude: []},
  lifts: {allowDestroy: [], adopt: [], accept: [], skipBlocked: false, onDrift: 'overwrite', noDestroy: false, refuseRisky: false},
  facts: [],
  operations: [],
  summary: Object.fromEntries(ACTIONS.map(action => [action, 0])),
  unmanaged: 0,
  notes: [],
  guards: [],
  requests: {used: 0, avoided: 0},
  bill: {requests: 0, seconds: 0, bound: 'rate', ready: {requests: 0, seconds: 0, bound: 'rate'}},
  hash,
}
const operation = {
  stack: 'shop',
  address: 'null_resource.cache',
  kind: 'cloud.database',
  action: 'update',
  cause: 'differs',
  reason: 'differs from the declaration',
  changes: [{path: '/memoryLimitInGb', before: 4, after: 2}],
  because: [],
  edges: [],
}
const issuesOf = (document: unknown) => planSchema.safeParse(document).error?.issues.map(it => it.path.join('/')) ?? []

describe('the schema of a plan', () => {
  it('accepts a plan and changes nothing in it', () => {
    const plan = {...smallest, operations: [operation]}
    expect(planSchema.parse(structuredClone(plan))).toEqual(plan)
  })

  it('names the place of everything that does not fit', () => {
    const plan = {...smallest, scope: 'some', operations: [operation, {...operation, action: 'destroy', changes: [{}]}]}
    expect(issuesOf(plan)).toEqual(['scope', 'operations/1/action', 'operations/1/changes/0/path'])
  })

  it('has no place for a bill that nobody can pay', () => {
    const bill = {...smallest.bill, seconds: 1e308, ready: {...smallest.bill.ready, requests: 1e300}}
    expect(issuesOf({...smallest, bill})).toEqual(['bill/seconds', 'bill/ready/requests'])
  })

  it('refuses a field it does not know, for the hash covers it and nobody would honour it', () => {
    expect(planSchema.safeParse({...smallest, extra: true}).success).toBe(false)
    expect(planSchema.safeParse({...smallest, operations: [{...operation, force: true}]}).success).toBe(false)
  })
})

describe('a place in a plan', () => {
  const policy = {exclusive: [], removal: 'delete', ignoreChanges: [] as string[], preventDestroy: false, createBeforeDestroy: false}
  const holding: readonly (readonly [string, (pointer: string) => object])[] = [
    ['changes/0/path', path => ({changes: [{path}]})],
    ['later/0', pointer => ({later: [pointer]})],
    ['kept/0', pointer => ({kept: [pointer]})],
    ['secretsKept/0', pointer => ({secretsKept: [pointer]})],
    ['deferred/0/path', path => ({deferred: [{path}]})],
    ['secrets/0/path', path => ({secrets: [{path}]})],
    [
      'declared/policy/ignoreChanges/0',
      pointer => ({declared: {spec: {}, dependsOn: [], outputs: [], policy: {...policy, ignoreChanges: [pointer]}}}),
    ],
  ]

  it.each(holding)('%s is a JSON pointer that the program can walk', (place, withPointer) => {
    const issuesWith = (pointer: string) => issuesOf({...smallest, operations: [{...operation, ...withPointer(pointer)}]})
    for (const pointer of ['', '/', '/a~1b/0', '/line\nbreak/x', '/a'.repeat(1_000)]) expect(issuesWith(pointer)).toEqual([])
    for (const pointer of ['x', ' /x', '\n/x', '/a'.repeat(1_001), `/${'a'.repeat(65_536)}`, '/'.repeat(1_000_000)])
      expect(issuesWith(pointer)).toEqual([`operations/0/${place}`])
  })

  it('is one in what a run had before it, too', () => {
    const entry = {
      address: 'null_resource.cache',
      kind: 'cloud.database',
      remoteId: 'cloud/subscriptions/1/databases/1',
      origin: 'created',
      applied: {},
      secrets: {'/password': 'version:1'},
      dependsOn: [],
      removal: 'delete',
      preventDestroy: false,
      exclusive: [],
      outputs: {},
    }
    const image = (it: object) => ({format: 'svcctl.before/1', stacks: {shop: {serial: 1, entries: [it], outputs: {}}}})
    expect(beforeImageSchema.safeParse(image(entry)).success).toBe(true)
    expect(beforeImageSchema.safeParse(image({...entry, secrets: {password: 'version:1'}})).success).toBe(false)
  })
})

describe('the cause of an operation', () => {
  it('is one word of a list that the documents explain', () => {
    const concepts = readFileSync(new URL('../../../docs/concepts.md', import.meta.url), 'utf8').replaceAll(/ +/g, ' ')
    for (const [word, meaning] of Object.entries(CAUSES)) expect(concepts).toContain(`| \`${word}\` | ${meaning} |`)
    expect(issuesOf({...smallest, operations: [{...operation, cause: 'because'}]})).toEqual(['operations/0/cause'])
  })
})
