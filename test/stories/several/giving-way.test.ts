/** An address that means another object from now on, while who had it is left out of the run: its ledger goes on having both. */
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack} from '../../support/stack-json.ts'

const DATABASE = 'cloud/subscriptions/1/databases/1'
const PEERING = 'cloud/subscriptions/1/peerings/pcx-1'

let here: Inside
const on = () => ['--synth-dir', join(here.folder, 'shop')]
const fast = (...words: string[]) => here.fast([...words, ...on()])
const apply = (...words: string[]) => fast('apply', '--auto-approve', '-o', 'json', ...words)
const applyFile = (file: string, ...words: string[]) => here.fast(['apply', file, '--auto-approve', '-o', 'json', ...words])
const owned = async () => {
  const {resources} = documentOf(await here.run(['state', 'list', '-o', 'json', ...on()]))
  return Object.fromEntries(resources.map((it: {address: string; remoteId: string}) => [it.remoteId, it.address]))
}
/** `cache` was a database, and is a peering. */
const reused = (address = 'cache'): JsonStack =>
  jsonStack('shop')
    .subscription('main')
    .add(
      'cloud.peering',
      address,
      {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1', awsAccountId: '1', vpcCidr: '10.0.0.0/24'},
      {expressions: {'/subscription': '${null_resource.main.id}'}},
    )

beforeEach(async () => {
  here = await inside()
  saveStack(here.folder, jsonStack('shop').subscription('main').database('cache', 'main', {port: 12_000, memoryLimitInGb: 2}))
  expect((await apply()).code).toBe(0)
})
afterEach(() => here.close())

describe('an object whose address is another one’s', () => {
  it.each(['--safe-only', '--no-destroy'])(
    'stays in the ledger where %s leaves its deletion out, and the next apply deletes it',
    async word => {
      saveStack(here.folder, reused())
      const done = await apply(word)
      expect([0, 2], done.stderr).toContain(done.code)
      const both = await owned()
      expect([both[PEERING], both[DATABASE]]).toEqual(['null_resource.cache', expect.stringMatching(/^null_resource\.cache \(deposed /)])
      expect((await apply('--allow-destroy', '*')).code).toBe(0)
      expect(here.writes.at(-1)).toBe('DELETE /subscriptions/1/databases/1')
      expect(Object.keys(await owned())).not.toContain(DATABASE)
    },
  )

  it.each(['--safe-only', '--no-destroy'])('has its new address where %s leaves out what else is done to it', async word => {
    const port = word === '--no-destroy' ? 12_001 : 12_000
    saveStack(here.folder, reused().database('moved', 'main', {name: 'cache', port, memoryLimitInGb: 1}))
    const done = await apply(word)
    expect([0, 2], done.stderr).toContain(done.code)
    expect(await owned()).toMatchObject({[PEERING]: 'null_resource.cache', [DATABASE]: 'null_resource.moved'})
    if (word === '--safe-only') {
      const rest = await applyFile(documentOf(done).residualPlan)
      expect([rest.code, here.writes.at(-1)], rest.stderr).toEqual([0, 'PUT /subscriptions/1/databases/1'])
    }
  })

  it('stays in the ledger where import --all takes in the one that is called so now', async () => {
    saveStack(here.folder, reused())
    const body = {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1', awsAccountId: '1', vpcCidr: '10.0.0.0/24'}
    const made = await here.run(['api', 'cloud', 'post', '/subscriptions/1/peerings', '--data', JSON.stringify(body), '--wait'])
    expect(made.code, made.stderr).toBe(0)
    const imported = await here.run(['import', '--all', '-o', 'json', ...on()])
    expect(imported.code, imported.stderr).toBe(0)
    expect(Object.keys(await owned())).toEqual(expect.arrayContaining([PEERING, DATABASE]))
  })

  it('stays in the ledger where a saved plan leaves its deletion out', async () => {
    saveStack(here.folder, reused())
    const file = join(here.folder, 'shop.plan')
    await fast('plan', '--no-destroy', '--out', file)
    expect((await applyFile(file)).code).toBe(0)
    expect(Object.keys(await owned())).toEqual(expect.arrayContaining([PEERING, DATABASE]))
  })

  it('keeps it while it is held, also where --safe-only leaves its deletion out', async () => {
    // Held under another address than it has by now: the new object is not what is held.
    await here.run(['hold', 'cache', '--until', '4h', '--reason', 'load test', ...on()])
    const database = {name: 'cache', port: 12_000, memoryLimitInGb: 2}
    saveStack(here.folder, jsonStack('shop').subscription('main').database('store', 'main', database))
    expect((await apply('--break-glass', 'the rename cannot wait')).code).toBe(0)
    saveStack(here.folder, reused('store'))
    const done = documentOf(await apply('--safe-only'))
    expect(done.operations.find((it: {action: string}) => it.action === 'create')).toMatchObject({
      state: 'skipped',
      error: {code: 'E_HELD'},
    })
    expect(await owned()).toMatchObject({[DATABASE]: 'null_resource.store'})
  })
})
