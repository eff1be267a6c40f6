/** A plan that has something of everything, as a report: what pages and pictures are made of. */
import type {Operation} from '../../src/engine/model/plan.ts'
import {planReport} from '../../src/report/document/of-plan.ts'
import type {Report} from '../../src/report/report.ts'
import {created, deleted, madePlan, operation, updated} from './made-plan.ts'

const SECONDS: Readonly<Record<string, number>> = {'cloud.subscription': 240, 'cloud.database': 95}
export const FRAME = {command: 'plan', key: '0123456789ab', run: 812} as const
export const OPTIONS = {
  kinds: [
    {name: 'cloud.database', api: 'cloud'},
    {name: 'cloud.peering', api: 'cloud'},
  ],
  stepSeconds: (kind: string) => SECONDS[kind] ?? 12,
} as const

/** What lies in another object of the plan, and waits for it. */
export const inside = (local: string): Partial<Operation> => ({
  edges: [{key: `shop:null_resource.${local}`, reason: 'parent'}],
  because: [`null_resource.${local}`],
  declared: {
    spec: {},
    parent: {by: 'key', key: `shop:null_resource.${local}`},
    dependsOn: [],
    policy: {exclusive: [], removal: 'delete', ignoreChanges: [], preventDestroy: false, createBeforeDestroy: false},
    outputs: [],
  },
})

export function sampleReport(): Report {
  const waits = inside('eu-cache')
  const plan = madePlan({
    operations: [
      deleted('legacy-sessions', {
        construct: 'shop/legacy/sessions',
        takes: ['cloud/subscriptions/1/databases/7/acl/rules/1', 'cloud/subscriptions/1/databases/7/acl/users/2'],
      }),
      operation('orders', {
        action: 'replace',
        construct: 'shop/orders/cache',
        cause: 'immutable-field',
        reason: '/port cannot be changed in place',
        remoteId: 'cloud/subscriptions/12/databases/51',
        changes: [{path: '/port', before: 12_000, after: 13_000}],
      }),
      updated('carts', {
        construct: 'shop/carts/cache',
        changes: [
          {path: '/memoryLimitInGb', before: 8, after: 4, risk: 'less memory: data may be evicted', moved: 'in git'},
          {path: '/replication', before: true, after: false, risk: 'replication off: one node less keeps the data', moved: 'in git'},
        ],
      }),
      updated('search', {
        construct: 'shop/search/index',
        changes: [{path: '/throughputMeasurement/value', before: 10_000, after: 25_000, moved: 'outside'}],
      }),
      operation('eu', {
        kind: 'cloud.subscription',
        construct: 'shop/eu',
        changes: [
          {path: '/name', after: 'eu'},
          {path: '/paymentMethodId', after: 812},
        ],
      }),
      created('eu-cache', 6, {construct: 'shop/eu/cache', ...inside('eu')}),
      created('eu-queue', 5, {construct: 'shop/eu/queue', ...inside('eu')}),
      operation('reader', {
        kind: 'cloud.acl_rule',
        construct: 'shop/eu/cache/reader',
        changes: [{path: '/rule', after: '+@read ~*'}],
        ...waits,
      }),
      operation('app', {
        kind: 'cloud.acl_user',
        construct: 'shop/eu/cache/app',
        changes: [{path: '/password', after: {secret: true}}],
        ...waits,
        edges: [...(waits.edges ?? []), {key: 'shop:null_resource.reader', reason: 'reference'}],
      }),
      operation('peer', {
        kind: 'cloud.peering',
        action: 'blocked',
        wants: 'update',
        cause: 'no-update',
        construct: 'shop/us/peering',
        reason: 'a peering cannot be changed',
      }),
      operation('metrics', {action: 'adopt', cause: 'found-by-name', construct: 'shop/metrics', reason: 'a live object has its name'}),
    ],
    guards: [
      {
        code: 'G_PROTECTED',
        addresses: ['null_resource.legacy-sessions', 'null_resource.orders'],
        allow: '--allow-destroy null_resource.legacy-sessions --allow-destroy null_resource.orders',
        message: '3 objects with data would be deleted or replaced',
      },
    ],
    more: {
      source: {repository: 'acme/shop', commit: 'c0ffee0123456789c0ffee0123456789c0ffee01'},
      unmanaged: 4,
      notAfter: '2026-11-23T08:00:00.000Z',
      written: {'shop:null_resource.carts': 'stacks/shop.ts:41'},
    },
  })
  return planReport(FRAME, plan, {...OPTIONS, apply: `svcctl apply shop.plan --approve ${plan.hash.slice(0, 12)}@c0ffee012345`})
}
