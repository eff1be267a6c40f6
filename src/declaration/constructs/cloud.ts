/** The objects of the cloud API. Field names and units are the API's own; what each field means is said by its kind. */

import {readFileSync} from 'node:fs'
import type {Construct} from 'constructs'
import type {cloudAclRule} from '../../backends/cloud/kinds/acl-rule.ts'
import type {cloudAclUser} from '../../backends/cloud/kinds/acl-user.ts'
import type {cloudDatabase} from '../../backends/cloud/kinds/database.ts'
import type {cloudPeering} from '../../backends/cloud/kinds/peering.ts'
import type {cloudSubscription} from '../../backends/cloud/kinds/subscription.ts'
import {parseAnyJson} from '../../base/bounded-json.ts'
import {isJsonObject, type JsonObject} from '../../base/json.ts'
import type {ExclusiveCollection, PolicyOptions, ResourceOptions, SpecOf, Unlisted} from './authored.ts'
import {ConstructError} from './construct-error.ts'
import {ManagedObject, type ParentOf} from './managed-object.ts'

interface OfSubscription {
  /** The subscription it belongs to: its construct, or for one that no stack declares its name, numeric id or remote path. */
  subscription: ParentOf<'cloud.subscription'>
}

interface OfDatabase {
  /** The database it belongs to: its construct, or the remote path of one that no stack declares. */
  database: ParentOf<'cloud.database'>
}

const OF_SUBSCRIPTION = {field: 'subscription', kind: 'cloud.subscription'} as const
const OF_DATABASE = {field: 'database', kind: 'cloud.database'} as const

/** `fromFile` does not hold a JSON object. */
export class SubscriptionFileError extends ConstructError {
  constructor(path: string, file: string, problem: string, cause?: unknown) {
    super(path, {
      code: 'E_SUBSCRIPTION_FILE',
      problem: `${file} ${problem}`,
      suggestion: 'Name a file with one JSON object, relative to the folder of cdktf.json.',
      cause,
    })
  }
}

type SubscriptionSpec = SpecOf<typeof cloudSubscription>

interface SubscriptionOptions extends PolicyOptions, ResourceOptions {
  /** Collections in which everything that no stack of the app declares is deleted. */
  readonly exclusive?: readonly ExclusiveCollection<typeof cloudSubscription>[]
}

interface FromFile {
  /**
   * A file with the create body as JSON, relative to the folder of cdktf.json. Read when the stack is synthesized;
   * fields written here win over those in it.
   */
  fromFile: string
}

export type SubscriptionProps = SubscriptionOptions & (SubscriptionSpec | (Partial<SubscriptionSpec> & FromFile))

/** A subscription: the account's unit of billing and placement. */
export class Subscription extends ManagedObject<'cloud.subscription', SubscriptionOptions & SubscriptionSpec> {
  readonly kind = 'cloud.subscription'
  protected override readonly containers = [
    '/cloudProviders',
    '/cloudProviders/*',
    '/cloudProviders/*/regions',
    '/cloudProviders/*/regions/*',
    '/databases',
    '/databases/*',
  ]

  constructor(scope: Construct, id: string, props: SubscriptionProps) {
    super(scope, id, withFile(`${scope.node.path}/${id}`, props))
  }

  /** Its name, as a reference. */
  get name(): string {
    return this.output('name')
  }
}

function withFile(path: string, props: SubscriptionProps): SubscriptionOptions & SubscriptionSpec
function withFile(path: string, {fromFile, ...props}: object & {readonly fromFile?: unknown}): object {
  return typeof fromFile === 'string' ? {...readBody(path, fromFile), ...props} : props
}

function readBody(path: string, file: string): JsonObject {
  let body: unknown
  try {
    body = parseAnyJson(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new SubscriptionFileError(path, file, cause instanceof SyntaxError ? 'is not JSON' : 'cannot be read', cause)
  }
  if (!isJsonObject(body)) throw new SubscriptionFileError(path, file, 'holds something else than an object')
  return body
}

export type DatabaseProps = SpecOf<typeof cloudDatabase> & OfSubscription & PolicyOptions & ResourceOptions

/** A database of a subscription. `memoryLimitInGb` is in gigabytes. */
export class Database extends ManagedObject<'cloud.database', DatabaseProps> {
  readonly kind = 'cloud.database'
  protected override readonly containers = ['/throughputMeasurement', '/modules', '/modules/*', '/alerts', '/alerts/*', '/backup']

  protected override readonly parent = OF_SUBSCRIPTION

  /** Its name, as a reference. */
  get name(): string {
    return this.output('name')
  }

  /** `host:port`, known once the database exists. */
  get publicEndpoint(): string {
    return this.output('publicEndpoint')
  }

  /** `host:port` inside the subscription's own network, known once the database exists. */
  get privateEndpoint(): string {
    return this.output('privateEndpoint')
  }
}

type PeeringSpec = SpecOf<typeof cloudPeering>

/** Fields that must be there, of those a peering may have. */
type With<Field extends keyof PeeringSpec> = PeeringSpec & {readonly [Name in Field]-?: NonNullable<PeeringSpec[Name]>}

/** What tells the other network: a group for each provider, or fields that svcctl does not list. */
type OtherNetwork =
  | (With<'region' | 'awsAccountId' | 'vpcId'> & (With<'vpcCidr'> | With<'vpcCidrs'>))
  | With<'vpcProjectUid' | 'vpcNetworkName'>
  | (PeeringSpec & Unlisted)

export type VpcPeeringProps = OtherNetwork & OfSubscription & PolicyOptions & ResourceOptions

/** A network peering of a subscription. The API cannot change one: a changed field replaces it. */
export class VpcPeering extends ManagedObject<'cloud.peering', VpcPeeringProps> {
  readonly kind = 'cloud.peering'
  protected override readonly containers = ['/vpcCidrs']
  protected override readonly parent = OF_SUBSCRIPTION
}

export type AclRuleProps = SpecOf<typeof cloudAclRule> & OfDatabase & PolicyOptions & ResourceOptions

/** An ACL rule of a database. The API can create rules, but neither change nor delete them. */
export class AclRule extends ManagedObject<'cloud.acl_rule', AclRuleProps> {
  readonly kind = 'cloud.acl_rule'
  protected override readonly parent = OF_DATABASE

  /** Its name, as a reference: a user whose `role` it is waits for the rule. */
  get name(): string {
    return this.output('name')
  }
}

export type AclUserProps = SpecOf<typeof cloudAclUser> & OfDatabase & PolicyOptions & ResourceOptions

/** An ACL user of a database. The API can create users, but neither change nor delete them. */
export class AclUser extends ManagedObject<'cloud.acl_user', AclUserProps> {
  readonly kind = 'cloud.acl_user'
  protected override readonly parent = OF_DATABASE

  /** Its name, as a reference. */
  get name(): string {
    return this.output('name')
  }
}
