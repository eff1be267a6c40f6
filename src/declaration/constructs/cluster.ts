/** The objects of a self-hosted cluster. Field names are the API's own; what each field means is said by its kind. */
import {Token} from 'cdktf'
import type {clusterDatabase} from '../../backends/cluster/kinds/database.ts'
import type {clusterNode} from '../../backends/cluster/kinds/node.ts'
import type {clusterPolicy} from '../../backends/cluster/kinds/policy.ts'
import type {clusterSettings} from '../../backends/cluster/kinds/settings.ts'
import type {clusterUser} from '../../backends/cluster/kinds/user.ts'
import {parseSizeBytes, type SizeText} from '../../base/units.ts'
import type {PolicyOptions, ResourceOptions, SpecOf} from './authored.ts'
import {ManagedObject} from './managed-object.ts'

export type ClusterSettingsProps = SpecOf<typeof clusterSettings> & PolicyOptions & ResourceOptions

/** The cluster's own record. There is always one; removing the declaration only forgets it. */
export class ClusterSettings extends ManagedObject<'cluster.settings', ClusterSettingsProps> {
  readonly kind = 'cluster.settings'

  /** The cluster's name, as a reference. */
  get name(): string {
    return this.output('name')
  }
}

export type ClusterPolicyProps = SpecOf<typeof clusterPolicy> & PolicyOptions & ResourceOptions

/** The cluster's policy. There is always one; removing the declaration only forgets it. */
export class ClusterPolicy extends ManagedObject<'cluster.policy', ClusterPolicyProps> {
  readonly kind = 'cluster.policy'
}

interface InBytesOrText {
  /** Memory limit in bytes, or as text with its unit: `'4GiB'` is 4294967296, `'4GB'` is 4000000000. */
  memory_size?: number | SizeText | undefined
}

type ByNameOrUid = {name: string} | {uid: number}

export type ClusterDatabaseProps = Omitted<SpecOf<typeof clusterDatabase>, 'memory_size'> &
  InBytesOrText &
  ByNameOrUid &
  PolicyOptions &
  ResourceOptions

/** Omit, but for types that also take unknown fields: those would lose the known ones. */
type Omitted<T, Name extends string> = {[Field in keyof T as Exclude<Field, Name>]: T[Field]}

/** A database of the cluster, found by its name, or by `uid` where that is declared. */
export class ClusterDatabase extends ManagedObject<'cluster.database', ClusterDatabaseProps> {
  readonly kind = 'cluster.database'

  /** Its name, as a reference. */
  get name(): string {
    return this.output('name')
  }

  /** Its number, known once it exists. */
  get uid(): string {
    return this.output('uid')
  }

  protected override renderedSpec(): Readonly<Record<string, unknown>> {
    const spec = super.renderedSpec()
    const size = spec.memory_size
    return typeof size === 'string' && !Token.isUnresolved(size) ? {...spec, memory_size: parseSizeBytes(size)} : spec
  }
}

export type ClusterNodeProps = SpecOf<typeof clusterNode> & PolicyOptions & ResourceOptions

/** A machine of the cluster, found by its `uid`. Nodes are never created or deleted: one that is not there is an error. */
export class ClusterNode extends ManagedObject<'cluster.node', ClusterNodeProps> {
  readonly kind = 'cluster.node'
}

export type ClusterUserProps = SpecOf<typeof clusterUser> & PolicyOptions & ResourceOptions

/** Someone who may sign in to the cluster. */
export class ClusterUser extends ManagedObject<'cluster.user', ClusterUserProps> {
  readonly kind = 'cluster.user'
  protected override readonly containers = ['/role_uids']

  /** Its name, as a reference. */
  get name(): string {
    return this.output('name')
  }
}
