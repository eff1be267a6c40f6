/**
 * What the compiler must refuse in a stack. Never run: `tsc` reads it, and an expectation that no longer holds is an
 * error of its own.
 */
import {Fn, type TerraformStack, TerraformVariable} from 'cdktf'
import {
  AclRule,
  AclUser,
  CloudTarget,
  ClusterDatabase,
  ClusterNode,
  ClusterPolicy,
  ClusterUser,
  Database,
  Subscription,
  secret,
  unchecked,
  unlisted,
  VpcPeering,
} from '../../../src/index.ts'

export function accepted(stack: TerraformStack): void {
  const number = new TerraformVariable(stack, 'number', {type: 'number'})
  const flag = new TerraformVariable(stack, 'flag', {type: 'bool'})
  const text = new TerraformVariable(stack, 'text', {type: 'string'})
  const list = new TerraformVariable(stack, 'list', {type: 'list(object({name = string}))'})
  const subscription = new Subscription(stack, 's', {name: 's', exclusive: ['databases', 'peerings'], ...unlisted({unknown_field: 1})})
  new Subscription(stack, 'c', {name: 'c', cloudProviders: [{provider: 'AWS', ...unlisted({cloudAccountId: 1})}]})
  const database = new Database(stack, 'd', {
    subscription,
    name: `d-${number.numberValue}`,
    memoryLimitInGb: number.numberValue,
    replication: flag.booleanValue,
    modules: list.value,
    alerts: Fn.concat([list.value]),
    backup: {interval: number.numberValue, enabled: flag.booleanValue},
    lifecycle: {preventDestroy: true},
    protocol: 'memcached',
    dataPersistence: text.value,
    dataEvictionPolicy: unchecked(text.stringValue),
    throughputMeasurement: {by: unchecked(Fn.lower(text.stringValue)), value: 1},
  })
  database.spec.replication = false
  new AclUser(stack, 'u', {database, name: 'u', password: secret(stack, 'pw', {version: 2})})
  new AclUser(stack, 'v', {database: database.instance('a'), name: 'v'})
  new Subscription(stack, 'f', {fromFile: 'body.json'})
  new VpcPeering(stack, 'p1', {subscription, region: 'us-east-1', awsAccountId: '1', vpcId: text.stringValue, vpcCidr: '10.0.0.0/24'})
  new VpcPeering(stack, 'p2', {subscription, region: 'us-east-1', awsAccountId: '1', vpcId: 'vpc-1', vpcCidrs: ['10.0.0.0/24']})
  new VpcPeering(stack, 'p3', {subscription, provider: 'GCP', vpcProjectUid: 'net', vpcNetworkName: 'main'})
  new VpcPeering(stack, 'p4', {subscription, provider: 'Azure', ...unlisted({vnetId: 'net'})})
  new ClusterPolicy(stack, 'cp', {default_shards_placement: 'sparse'})
  new ClusterDatabase(stack, 'b', {uid: 3, memory_size: '1.5 GB'})
}

export function refused(stack: TerraformStack): void {
  const subscription = new Subscription(stack, 's', {name: 's'})
  const database = new Database(stack, 'd', {subscription, name: 'd', memoryLimitInGb: 1})
  const rule = new AclRule(stack, 'r', {database, name: 'r'})

  // @ts-expect-error a required field is missing
  new Database(stack, 'e1', {subscription, name: 'd'})
  // @ts-expect-error the parent is missing
  new Database(stack, 'e2', {name: 'd', memoryLimitInGb: 1})
  // @ts-expect-error a typo in a field of a kind whose fields are all known
  new Database(stack, 'e3', {subscription, name: 'd', memoryLimitInGb: 1, memoryLimitInGB: 2})
  // @ts-expect-error a number is wanted
  new Database(stack, 'e4', {subscription, name: 'd', memoryLimitInGb: '1'})
  // @ts-expect-error a typo deep inside
  new Database(stack, 'e5', {subscription, name: 'd', memoryLimitInGb: 1, modules: [{nam: 'json'}]})
  // @ts-expect-error a typo in an option
  new Database(stack, 'e6', {subscription, name: 'd', memoryLimitInGb: 1, removalPolicy: 'keep'})
  // @ts-expect-error a pointer begins with a slash
  new Database(stack, 'e7', {subscription, name: 'd', memoryLimitInGb: 1, ignoreChanges: ['port']})
  // @ts-expect-error the parent of a database is a subscription
  new Database(stack, 'e8', {subscription: database, name: 'd', memoryLimitInGb: 1})
  // @ts-expect-error the parent of a rule is a database
  new AclRule(stack, 'e9', {database: subscription, name: 'r'})
  // @ts-expect-error a role is named by text: rule.name
  new AclUser(stack, 'e10', {database, name: 'u', role: rule})
  // @ts-expect-error a peering has a subscription
  new VpcPeering(stack, 'e11', {provider: 'AWS'})
  // @ts-expect-error a subscription is exclusive in databases and peerings
  new Subscription(stack, 'e12', {name: 's', exclusive: ['users']})
  // @ts-expect-error a known field of the wrong type, in a kind that takes unknown ones
  new Subscription(stack, 'e13', {name: 's', paymentMethodId: 'one'})
  // @ts-expect-error a subscription has a name, or a file that has one
  new Subscription(stack, 'e14', {paymentMethodId: 1})
  // @ts-expect-error a size has a unit
  new ClusterDatabase(stack, 'e15', {name: 'b', memory_size: '4'})
  // @ts-expect-error G is no unit
  new ClusterDatabase(stack, 'e16', {name: 'b', memory_size: '4G'})
  // @ts-expect-error a name or a uid is needed
  new ClusterDatabase(stack, 'e17', {memory_size: '4GiB'})
  // @ts-expect-error a node is found by its uid
  new ClusterNode(stack, 'e18', {rack_id: 'a'})
  // @ts-expect-error a user has a name
  new ClusterUser(stack, 'e19', {email: 'a@example.com'})
  // @ts-expect-error there is no such option
  new CloudTarget(stack, 'e20', {profil: 'prod'})
  // @ts-expect-error a typo in a field of a kind that has unlisted ones too
  new Subscription(stack, 'e21', {name: 's', paymentMethd: 'credit-card'})
  // @ts-expect-error a typo deep in such a kind
  new Subscription(stack, 'e22', {name: 's', cloudProviders: [{provder: 'AWS'}]})
  // @ts-expect-error a typo in a kind of the cluster
  new ClusterUser(stack, 'e23', {name: 'u', emial: 'a@example.com'})
  // @ts-expect-error there is no such protocol
  new Database(stack, 'e24', {subscription, name: 'd', memoryLimitInGb: 1, protocol: 'reds'})
  // @ts-expect-error there is no such persistence
  new Database(stack, 'e25', {subscription, name: 'd', memoryLimitInGb: 1, dataPersistence: 'aof'})
  // @ts-expect-error there is no such policy
  new Database(stack, 'e26', {subscription, name: 'd', memoryLimitInGb: 1, dataEvictionPolicy: 'allkeys_lru'})
  // @ts-expect-error there is no such measure
  new Database(stack, 'e27', {subscription, name: 'd', memoryLimitInGb: 1, throughputMeasurement: {by: 'shards'}})
  // @ts-expect-error of a network of AWS four things are needed
  new VpcPeering(stack, 'e28', {subscription, provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24'})
  // @ts-expect-error of a network of GCP two
  new VpcPeering(stack, 'e29', {subscription, vpcProjectUid: 'net'})
  // @ts-expect-error a database has no such field
  database.spec.memory = 1
}
