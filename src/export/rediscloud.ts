/**
 * Which resource of the vendor's Terraform provider stands for which kind, and which of its attributes for which field:
 * `RedisLabs/rediscloud` 2.11, as its documentation has it. What it requires and no answer shows is asked for.
 */
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {type Body, type HclBlock, type HclValue, isHclValue} from './hcl.ts'
import type {ExportedObject} from './model.ts'

export const PROVIDER = {source: 'RedisLabs/rediscloud', version: '~> 2.11'} as const

/** Asks for a value that nobody has seen: a variable without a default. */
export type Ask = (attribute: string, type: 'string' | 'number') => HclValue

export interface ProviderResource {
  readonly type: string
  /** The id that its import takes, from the ids in the remote path. */
  readonly importId: (ids: readonly string[]) => string
  /** Without the attribute that names the parent. */
  readonly body: (object: ExportedObject, ask: Ask) => Body
}

const byDashes = (ids: readonly string[]): string => ids.join('/')

/** By kind. The rest has no resource, or (ACL) one that means something else. */
export const RESOURCES: Readonly<Record<string, ProviderResource>> = {
  'cloud.subscription': {type: 'rediscloud_subscription', importId: byDashes, body: subscription},
  'cloud.database': {type: 'rediscloud_subscription_database', importId: byDashes, body: database},
  'cloud.peering': {type: 'rediscloud_subscription_peering', importId: byDashes, body: peering},
}

export const ACL_RULE = {kind: 'cloud.acl_rule', type: 'rediscloud_acl_rule'} as const
export const ACL_ROLE = {type: 'rediscloud_acl_role'} as const
export const ACL_USER = {kind: 'cloud.acl_user', type: 'rediscloud_acl_user'} as const

type Attributes = (readonly [string, HclValue])[]

/** Attributes for the fields that are there, in the provider's spelling. */
const renamed = (spec: JsonObject, names: Readonly<Record<string, string>>): Attributes =>
  Object.entries(names).flatMap(([field, attribute]) => {
    const value = spec[field]
    return isHclValue(value) ? [[attribute, value] as const] : []
  })

const listed = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : []

function subscription({spec, live}: ExportedObject, ask: Ask): Body {
  const id = spec.paymentMethodId
  const attributes: Attributes = [
    ...renamed(spec, {name: 'name', paymentMethod: 'payment_method'}),
    ...(isHclValue(id) ? [['payment_method_id', String(id)] as const] : []),
  ]
  const seen = listed(live.fields.cloudProviders)
  const providers = listed(spec.cloudProviders)
  const regions = (provider: JsonObject, at: number): readonly HclBlock[] =>
    listed(provider.regions).map(({region}, place) => ({
      type: 'region',
      attributes: [
        ['region', isHclValue(region) ? region : ''],
        ['networking_deployment_cidr', cidrOf(seen, provider, region) ?? ask(numbered('networking_deployment_cidr', at, place), 'string')],
      ],
    }))
  const blocks: readonly HclBlock[] =
    providers.length > 0
      ? providers.map((it, at) => ({type: 'cloud_provider', attributes: renamed(it, {provider: 'provider'}), blocks: regions(it, at)}))
      : [
          {
            type: 'cloud_provider',
            attributes: [['provider', ask('cloud_provider', 'string')]],
            blocks: [
              {
                type: 'region',
                attributes: [
                  ['region', ask('region', 'string')],
                  ['networking_deployment_cidr', ask('networking_deployment_cidr', 'string')],
                ],
              },
            ],
          },
        ]
  return {attributes, blocks}
}

const numbered = (attribute: string, ...places: readonly number[]): string =>
  [attribute, ...places.filter(it => it > 0).map(it => it + 1)].join('_')

/** Where the answer shows the network that the subscription's databases stand in. */
function cidrOf(seen: readonly JsonObject[], {provider}: JsonObject, region: Json | undefined): string | undefined {
  const details = seen
    .filter(it => it.provider === provider)
    .flatMap(it => listed(it.regions))
    .find(it => it.region === region)
  const [network] = listed(details?.networking)
  const cidr = network?.deploymentCIDR ?? network?.deploymentCidr
  return typeof cidr === 'string' ? cidr : undefined
}

function database({spec, live}: ExportedObject, ask: Ask): Body {
  const {modules, alerts} = spec
  const throughput = isJsonObject(spec.throughputMeasurement) ? spec.throughputMeasurement : {}
  const dataset = live.fields.datasetSizeInGb
  const attributes: Attributes = [
    ...renamed(spec, {name: 'name', protocol: 'protocol', port: 'port'}),
    ...(typeof dataset === 'number' ? [['dataset_size_in_gb', dataset] as const] : renamed(spec, {memoryLimitInGb: 'memory_limit_in_gb'})),
    ...renamed(spec, {replication: 'replication', dataPersistence: 'data_persistence', dataEvictionPolicy: 'data_eviction'}),
    ['throughput_measurement_by', isHclValue(throughput.by) ? throughput.by : ask('throughput_measurement_by', 'string')],
    ['throughput_measurement_value', isHclValue(throughput.value) ? throughput.value : ask('throughput_measurement_value', 'number')],
    ...(listed(modules).length === 0
      ? []
      : [['modules', listed(modules).map(({name}) => ({name: isHclValue(name) ? name : ''}))] as const]),
  ]
  const alert = listed(alerts).map((it): HclBlock => ({type: 'alert', attributes: renamed(it, {name: 'name', value: 'value'})}))
  return {attributes, blocks: [...alert, ...backup(spec.backup, ask)]}
}

function backup(value: Json | undefined, ask: Ask): readonly HclBlock[] {
  if (!isJsonObject(value) || value.enabled === false || typeof value.interval !== 'number') return []
  return [
    {
      type: 'remote_backup',
      attributes: [
        ['interval', `every-${value.interval}-hours`],
        ['storage_type', ask('backup_storage_type', 'string')],
        ['storage_path', ask('backup_storage_path', 'string')],
      ],
    },
  ]
}

function peering({spec}: ExportedObject): Body {
  const cidrs = spec.vpcCidrs
  return {
    attributes: [
      ...renamed(spec, {
        provider: 'provider_name',
        region: 'region',
        awsAccountId: 'aws_account_id',
        vpcId: 'vpc_id',
        vpcCidr: 'vpc_cidr',
      }),
      ...(Array.isArray(cidrs) ? [['vpc_cidrs', (cidrs as readonly Json[]).filter(isHclValue)] as const] : []),
      ...renamed(spec, {vpcProjectUid: 'gcp_project_id', vpcNetworkName: 'gcp_network_name'}),
    ],
  }
}
