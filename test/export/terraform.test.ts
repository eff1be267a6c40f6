/** The way out: HCL for the vendor's provider, as `terraform fmt` writes it, and with every value in it. */
import {execFileSync} from 'node:child_process'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {parse} from '@cdktf/hcl2json'
import {describe, expect, it} from 'vitest'
import {hclText} from '../../src/export/hcl.ts'
import {terraformFiles} from '../../src/export/terraform.ts'
import {world} from '../../src/simulator/index.ts'
import {Lab} from '../support/lab.ts'
import {lacks} from '../support/tools.ts'
import {exported} from './exported.ts'

const build = world()
  .subscription('orders', {
    paymentMethod: 'credit-card',
    paymentMethodId: 7,
    cloudProviders: [
      {provider: 'AWS', regions: [{region: 'us-east-1', networking: [{deploymentCIDR: '10.1.0.0/24'}]}, {region: 'eu-west-1'}]},
    ],
  })
  .database('My DB & Co. "${x}" %{y}\n日本', {
    memoryLimitInGb: 2.5,
    replication: true,
    port: 12_000,
    modules: [{name: 'json'}, {name: 'search'}],
    alerts: [{name: 'dataset-size', value: 80}],
    throughputMeasurement: {by: 'operations-per-second', value: 1000},
    dataEvictionPolicy: 'noeviction',
    backup: {interval: 6, enabled: true},
  })
  .rule('ro', '+@read ~cache:*')
  .user('app', {role: 'ro'})
  .database('plain')
  .peering({provider: 'AWS', region: 'us-east-1', awsAccountId: '123', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24'})
  .bdb('sessions')

async function files(): Promise<ReadonlyMap<string, string>> {
  const lab = new Lab({perMinute: 1e9, burst: 1e9})
  build.into(lab.simulator)
  return terraformFiles((await exported(lab)).model, it => it)
}

// biome-ignore lint/suspicious/noExplicitAny: documents of another program, looked into by name
const read = (text = ''): Promise<any> => parse('a.tf', text)

describe('the HCL of an export', () => {
  it('has every value of what the provider has a place for', async () => {
    const all = await files()
    expect([...all.keys()]).toEqual(['versions.tf', 'orders.tf', 'imports.tf', 'variables.tf', 'acl.tf.example'])
    const {resource} = await read(all.get('orders.tf'))
    expect(resource.rediscloud_subscription.orders).toEqual([
      {
        name: 'orders',
        payment_method: 'credit-card',
        payment_method_id: '7',
        cloud_provider: [
          {
            provider: 'AWS',
            region: [
              {region: 'eu-west-1', networking_deployment_cidr: expect.stringContaining('var.orders_networking_deployment_cidr')},
              {region: 'us-east-1', networking_deployment_cidr: '10.1.0.0/24'},
            ],
          },
        ],
      },
    ])
    const [name = ''] = Object.keys(resource.rediscloud_subscription_database)
    expect(resource.rediscloud_subscription_database[name]).toEqual([
      {
        subscription_id: '${rediscloud_subscription.orders.id}',
        name: 'My DB & Co. "$${x}" %%{y}\n日本',
        port: 12_000,
        memory_limit_in_gb: 2.5,
        replication: true,
        data_eviction: 'noeviction',
        throughput_measurement_by: 'operations-per-second',
        throughput_measurement_value: 1000,
        modules: [{name: 'json'}, {name: 'search'}],
        alert: [{name: 'dataset-size', value: 80}],
        remote_backup: [
          {
            interval: 'every-6-hours',
            storage_type: `\${var.${name}_backup_storage_type}`,
            storage_path: `\${var.${name}_backup_storage_path}`,
          },
        ],
      },
    ])
    expect(resource.rediscloud_subscription_peering.orders_peering_pcx_1).toEqual([
      {
        subscription_id: '${rediscloud_subscription.orders.id}',
        provider_name: 'AWS',
        region: 'us-east-1',
        aws_account_id: '123',
        vpc_id: 'vpc-1',
        vpc_cidr: '10.0.0.0/24',
      },
    ])
  })

  it('imports each object by the id that the provider takes, and asks for what it requires and nobody has seen', async () => {
    const all = await files()
    const {import: imports} = await read(all.get('imports.tf'))
    expect(imports.map((it: {id: string}) => it.id).toSorted()).toEqual(['1', '1/1', '1/2', '1/pcx-1'])
    const {variable} = await read(all.get('variables.tf'))
    expect(variable.orders_plain_throughput_measurement_value).toEqual([{type: '${number}'}])
    for (const [it] of Object.values(variable) as {default?: unknown}[][]) expect(it).not.toHaveProperty('default')
    const used = [...all].flatMap(([path, text]) => (path.endsWith('.tf') ? [...text.matchAll(/var\.(\w+)/g)] : [])).map(it => it[1] ?? '')
    expect([...new Set(used)].toSorted()).toEqual(Object.keys(variable).toSorted())
  })

  it.each(['none', 'subscription'] as const)('has one resource of each name, with its own parent: --split %s', async split => {
    const lab = new Lab({perMinute: 1e9, burst: 1e9})
    world().subscription('shop').database('eu_cache').subscription('shop_eu').database('cache').subscription('shop').into(lab.simulator)
    const all = terraformFiles((await exported(lab, {split})).model, it => it)
    const files = await Promise.all([...all].filter(([name]) => name.endsWith('.tf')).map(([, text]) => read(text)))
    const ofType = (type: string) => files.flatMap(it => Object.entries<object[]>(it.resource?.[type] ?? {}))
    const [subscriptions, databases] = [ofType('rediscloud_subscription'), ofType('rediscloud_subscription_database')]
    expect([subscriptions.length, databases.length]).toEqual([3, 2])
    for (const resources of [subscriptions, databases]) {
      expect(new Set(resources.map(([name]) => name)).size).toBe(resources.length)
      for (const [, blocks] of resources) expect(blocks.length).toBe(1)
    }
    const targets = files.flatMap(it => it.import ?? []).map((it: {to: string}) => it.to)
    expect(new Set(targets).size).toBe(5)
    const parents = databases.map(([, [it]]) => (it as {subscription_id: string}).subscription_id)
    expect(new Set(parents).size).toBe(2)
    for (const parent of parents) expect(subscriptions.map(([name]) => `\${rediscloud_subscription.${name}.id}`)).toContain(parent)
  })

  it('has ACLs as an example that Terraform does not load', async () => {
    const {resource} = await read((await files()).get('acl.tf.example'))
    const [[rule]] = Object.values(resource.rediscloud_acl_rule) as [[{rule: string}]]
    expect(rule.rule).toBe('+@read ~cache:*')
  })

  it.skipIf(lacks('terraform fmt of exported HCL', 'terraform'))('is as terraform fmt writes it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svcctl-hcl-'))
    try {
      for (const [path, text] of await files()) writeFileSync(join(folder, path.replace('.example', '')), text)
      expect(execFileSync('terraform', ['fmt', '-check', '-diff'], {cwd: folder, encoding: 'utf8'})).toBe('')
    } finally {
      rmSync(folder, {recursive: true})
    }
  })

  it('hides nothing in a text', () => {
    expect(hclText('a"b\\c\n${d}%{e}\u202e\u0007😀')).toBe('"a\\"b\\\\c\\n$${d}%%{e}\\u202e\\u0007\\U0001f600"')
  })
})
