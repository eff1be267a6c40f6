import {describe, expect, it} from 'vitest'
import type {Ledger, LedgerEntry} from '../../src/engine/model/ledger.ts'
import {decodeLedger, encodeLedger} from '../../src/ledger/tfstate.ts'
import {entry, fullLedger, ledgerOf} from './sample-ledger.ts'

const where = {place: '/srv/terraform.shop.tfstate', stack: 'shop', setAside: 'mv a b'}
const reason = (content: string): string => {
  try {
    decodeLedger(content, where)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return `${error.code}: ${error.message}`
  }
  return 'it was read'
}
const changed = (edit: (state: Record<string, unknown>) => unknown): string => {
  const state = JSON.parse(encodeLedger(fullLedger()))
  return JSON.stringify(edit(state) ?? state)
}

describe('a ledger as Terraform state', () => {
  it('comes back exactly as it was written', () => {
    const ledger = fullLedger()
    expect(decodeLedger(encodeLedger(ledger), where)).toEqual(ledger)
  })

  it('keeps how far the audit has come, which older versions pass over', () => {
    const head = {seq: 7, hash: 'f'.repeat(64)}
    const audit = {...head, files: [{file: 'f00'.repeat(4), ...head, place: '0'.repeat(12)}], last: ['{"a":"1"}'], same: {serial: 3, as: 2}}
    expect(decodeLedger(encodeLedger({...fullLedger(), audit}), where).audit).toEqual(audit)
    const short = {...head, files: []}
    expect(decodeLedger(encodeLedger({...fullLedger(), audit: short}), where).audit).toEqual(short)
    expect(JSON.parse(encodeLedger({...fullLedger(), audit})).svcctl.format).toBe(1)
  })

  it('says which former ledgers it was made from, and of no more than are ever remembered', () => {
    const madeFrom = Array.from({length: 16}, (_, serial) => ({serial, lineage: `former-${serial}`}))
    expect(decodeLedger(encodeLedger({...fullLedger(), madeFrom}), where).madeFrom).toEqual(madeFrom)
    expect(reason(encodeLedger({...fullLedger(), madeFrom: [...madeFrom, {serial: 1, lineage: 'one-more'}]}))).toMatch(
      /^E_LEDGER_DAMAGED: /,
    )
  })

  it('carries no more lines of an audit along than are ever written', () => {
    const head = {seq: 7, hash: 'f'.repeat(64)}
    for (const last of [Array<string>(101).fill('{}'), ['x'.repeat(48_001)]])
      expect(reason(encodeLedger({...fullLedger(), audit: {...head, files: [], last}}))).toMatch(/^E_LEDGER_DAMAGED: /)
    expect(reason(encodeLedger({...fullLedger(), audit: {...head, files: [], last: Array<string>(100).fill('{}')}}))).toBe('it was read')
  })

  it('says of an audit only what was ever written, and of secrets where they are in an object', () => {
    const head = {seq: 7, hash: 'f'.repeat(64)}
    const file = {file: '0'.repeat(12), ...head}
    const read = (audit: Ledger['audit'] & object) => reason(encodeLedger({...fullLedger(), audit}))
    expect(read({...head, files: Array<typeof file>(16).fill(file)})).toBe('it was read')
    for (const audit of [
      {...head, files: Array<typeof file>(17).fill(file)},
      {...head, hash: 'f'.repeat(400_000), files: []},
      {...head, files: [{...file, file: 'f'.repeat(400_000)}]},
      {...head, files: [{...file, place: 'here'}]},
    ])
      expect(read(audit)).toMatch(/^E_LEDGER_DAMAGED: /)
    for (const place of ['/a'.repeat(200_000), `/${'a'.repeat(70_000)}`]) {
      const [[address, entry]] = [...fullLedger().entries] as [[string, LedgerEntry]]
      const entries = new Map([[address, {...entry, secrets: {[place]: 'scrypt:0'}}]])
      expect(reason(encodeLedger({...fullLedger(), entries}))).toMatch(/^E_LEDGER_DAMAGED: .*the place of one of its secrets has more than/)
    }
  })

  it('has the same bytes whatever the order in which it was put together', () => {
    const ledger = fullLedger()
    const other = {
      ...ledger,
      entries: new Map(
        [...ledger.entries].reverse().map(([key, it]) => [key, {...it, outputs: Object.fromEntries(Object.entries(it.outputs).reverse())}]),
      ),
      outputs: Object.fromEntries(Object.entries(ledger.outputs).reverse()),
      accounts: Object.fromEntries(Object.entries(ledger.accounts).reverse()),
    }
    expect(encodeLedger(other)).toBe(encodeLedger(ledger))
    expect(encodeLedger(decodeLedger(encodeLedger(ledger), where))).toBe(encodeLedger(ledger))
  })

  it('spells an object the way Terraform does', () => {
    const text = encodeLedger(
      ledgerOf(
        [
          entry('null_resource.cache["eu"]', 'cloud/subscriptions/12/databases/51', {
            applied: {name: 'cache', port: 12000},
            secrets: {'/password': 'scrypt:x'},
            dependsOn: ['shop:null_resource.orders'],
            outputs: {mod: '51', port: 12000},
          }),
        ],
        {serial: 3, lineage: 'l', condition: 'present', outputs: {host: {value: 'h', sensitive: true}}},
      ),
    )
    expect(JSON.parse(text)).toEqual({
      version: 4,
      terraform_version: '1.0.0',
      serial: 3,
      lineage: 'l',
      outputs: {host: {value: 'h', type: 'string', sensitive: true}},
      resources: [
        {
          mode: 'managed',
          type: 'null_resource',
          name: 'cache',
          provider: 'provider["registry.terraform.io/hashicorp/null"]',
          instances: [
            {
              index_key: 'eu',
              schema_version: 0,
              attributes: {
                id: 'cloud/subscriptions/12/databases/51',
                triggers: {
                  depends_on: '["null_resource.orders"]',
                  json_outputs: '["port"]',
                  kind: 'cloud.database',
                  origin: 'created',
                  'out/mod': '51',
                  'out/port': '12000',
                  'secret/password': 'scrypt:x',
                  spec: '{"name":"cache","port":12000}',
                },
              },
              sensitive_attributes: [],
              dependencies: ['null_resource.orders'],
            },
          ],
        },
      ],
      check_results: null,
      svcctl: {format: 1, stack: 'shop', accounts: {}},
    })
  })

  it('keeps instances in the order of their numbers, and what was replaced behind what is there now', () => {
    const text = encodeLedger(fullLedger())
    expect([...text.matchAll(/"index_key": (\d+),\n +("deposed")?/g)].map(it => [it[1], it[2]])).toEqual([
      ['9', undefined],
      ['9', '"deposed"'],
      ['10', undefined],
    ])
  })

  it('refuses to hold an address that is none of ours', () => {
    expect(() => encodeLedger(ledgerOf([entry('module.a.null_resource.b', 'cluster/bdbs/1')]))).toThrow(RangeError)
  })
})

describe('a ledger that cannot be used', () => {
  it.each([
    ['an empty file', '', 'E_LEDGER_DAMAGED: The ledger /srv/terraform.shop.tfstate is damaged: it is empty.'],
    [
      'a file cut short',
      encodeLedger(fullLedger()).slice(0, 900),
      'E_LEDGER_DAMAGED: The ledger /srv/terraform.shop.tfstate is damaged: it is no JSON.',
    ],
    ['a text', '"hello"', 'E_LEDGER_DAMAGED: The ledger /srv/terraform.shop.tfstate is damaged: it is no Terraform state.'],
    [
      'a state Terraform wrote, of things that are none of ours',
      changed(({svcctl, ...state}) => ({
        ...state,
        terraform_version: '1.11.4',
        resources: [
          {mode: 'managed', type: 'null_resource', name: 'x', instances: [{attributes: {id: '5577006791947779410', triggers: {}}}]},
        ],
      })),
      'E_LEDGER_NOT_OURS: The ledger /srv/terraform.shop.tfstate was written by Terraform 1.11.4, and not all of it is ours: null_resource.x: "5577006791947779410" is no remote path.',
    ],
    [
      'a later state format',
      changed(state => ({...state, version: 5})),
      'E_LEDGER_NEWER: The ledger /srv/terraform.shop.tfstate was written by a newer version (state format 5).',
    ],
    [
      'a later ledger format',
      changed(state => ({...state, svcctl: {format: 2}})),
      'E_LEDGER_NEWER: The ledger /srv/terraform.shop.tfstate was written by a newer version (ledger format 2).',
    ],
    [
      'an older state format',
      changed(state => ({...state, version: 3})),
      'E_LEDGER_DAMAGED: The ledger /srv/terraform.shop.tfstate is damaged: state format 3 was never written by svcctl.',
    ],
    [
      'the ledger of another stack',
      changed(state => ({...state, svcctl: {format: 1, stack: 'billing', accounts: {}}})),
      'E_LEDGER_FOREIGN: The ledger /srv/terraform.shop.tfstate belongs to the stack "billing", not to "shop".',
    ],
    [
      'an id that is no remote path',
      encodeLedger(fullLedger()).replace('"cloud/subscriptions/12"', '"5577006791947779410"'),
      'E_LEDGER_DAMAGED: The ledger /srv/terraform.shop.tfstate is damaged: null_resource.orders: "5577006791947779410" is no remote path.',
    ],
    [
      'an id that would make a request one for the subscription itself',
      encodeLedger(fullLedger()).replace(/"cloud\/subscriptions\/12\/databases\/[^"]+"/, '"cloud/subscriptions/12/databases/.."'),
      '"cloud/subscriptions/12/databases/.." is no remote path',
    ],
    [
      'a spec that is no JSON',
      changed(state => JSON.parse(JSON.stringify(state).replace('"spec":"{', '"spec":"('))),
      'E_LEDGER_DAMAGED: The ledger /srv/terraform.shop.tfstate is damaged: null_resource.cache[9]: one of its triggers is no JSON.',
    ],
    [
      'resources of another type',
      encodeLedger(fullLedger()).replace('"type": "null_resource"', '"type": "aws_instance"'),
      'E_LEDGER_DAMAGED: The ledger /srv/terraform.shop.tfstate is damaged: resources.0.type: Invalid input: expected "null_resource"',
    ],
  ])('is told apart from a good one: %s', (_what, content, expected) => {
    expect(reason(content)).toContain(expected)
  })

  it('names the command that puts it aside, and what happens then', () => {
    try {
      decodeLedger('', where)
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({
        exit: 1,
        suggestions: [
          'mv a b, then run "svcctl plan --stack shop": it finds every object again by its name. Nothing is deleted or created twice for it.',
        ],
      })
    }
  })
})
