import type {Ledger, LedgerEntry} from '../../src/engine/model/ledger.ts'
import {bareEntry} from '../../src/engine/model/ledger-entry.ts'

export const entry = (address: string, remoteId: string, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
  ...bareEntry(address, 'cloud.database', remoteId),
  applied: {name: 'cache', memoryLimitInGb: 1.5},
  ...more,
})

export const ledgerOf = (entries: readonly LedgerEntry[], more: Partial<Ledger> = {}): Ledger => ({
  stack: 'shop',
  condition: 'absent',
  serial: 0,
  lineage: '',
  accounts: {},
  entries: new Map(entries.map(it => [it.address, it])),
  outputs: {},
  ...more,
})

/** One of everything a ledger can hold. */
export const fullLedger = (): Ledger =>
  ledgerOf(
    [
      entry('null_resource.orders', 'cloud/subscriptions/12', {
        kind: 'cloud.subscription',
        origin: 'imported',
        removal: 'retain',
        preventDestroy: true,
        exclusive: ['databases', 'peerings'],
        applied: {name: 'orders', cloudProviders: [{regions: [{region: 'eu-west-1'}], provider: null}]},
      }),
      entry('null_resource.cache[10]', 'cloud/subscriptions/12/databases/60', {dependsOn: ['shop:null_resource.orders']}),
      entry('null_resource.cache[9]', 'cloud/subscriptions/12/databases/59', {
        dependsOn: ['shop:null_resource.orders', 'shop:null_resource.cache[10]', 'network:null_resource.peer["eu"]'],
      }),
      entry('null_resource.cache[9] (deposed 0a1b2c3d)', 'cloud/subscriptions/12/databases/58'),
      entry('null_resource.users["o\'neil \\"x\\" $${y} ü"]', 'cloud/subscriptions/12/databases/51/acl/users/9', {
        kind: 'cloud.acl_user',
        origin: 'adopted',
        applied: {name: 'app'},
        secrets: {'/password': 'scrypt:abc', '/a~1b/0': 'version:2'},
        outputs: {id: '9', port: 6379, text: '6379', empty: null, 'endpoint/hosts': ['a', {z: 1, b: false}], flag: true},
      }),
      entry('null_resource.users["spelled ${otherwise}"]', 'cluster/users/4', {kind: 'cluster.user'}),
    ],
    {
      condition: 'present',
      serial: 7,
      lineage: '2c2f7c5e-1111-4222-8333-444455556666',
      accounts: {
        cluster: {address: 'https://10.0.0.1:9443', keyHash: 'k2'},
        cloud: {address: 'https://api.example.com/v1', keyHash: 'k1', account: '1001'},
      },
      outputs: {
        endpoint: {value: 'db.example.com:6379', sensitive: false},
        nothing: {value: null, sensitive: false},
        many: {value: {b: [1, 'two', null, {}], a: true, none: []}, sensitive: true},
      },
      secretSalt: 'salt',
      secretsDigest: 'digest',
      pending: {run: '20261121T101530123-3f9ab2', sent: [{key: 'shop:null_resource.cache[9]', at: 1}]},
    },
  )
