/** A self-hosted cluster that keeps a replica of the shop's cache near its users. */
import {TerraformOutput, TerraformStack} from 'cdktf'
import type {Construct} from 'constructs'
import {ClusterDatabase, ClusterNode, ClusterPolicy, ClusterSettings, ClusterTarget, ClusterUser, secret, unlisted} from '../src/index.ts'

export interface EdgeProps {
  /** What is no longer declared: `operator`. */
  readonly retired: ReadonlySet<string>
  /** `host:port` of the database to replicate; of another stack, and known once that is applied. */
  readonly cacheEndpoint: string
}

export class Edge extends TerraformStack {
  constructor(scope: Construct, id: string, {retired, cacheEndpoint}: EdgeProps) {
    super(scope, id)
    new ClusterTarget(this, 'cluster')

    new ClusterSettings(this, 'settings', {name: 'edge.example.com'})
    new ClusterPolicy(this, 'policy', {default_shards_placement: 'sparse'})
    for (const [uid, rack] of [
      [1, 'rack-a'],
      [2, 'rack-b'],
      [3, 'rack-c'],
    ] as const) {
      new ClusterNode(this, `node_${uid}`, {uid, rack_id: rack})
    }

    const replica = new ClusterDatabase(this, 'replica', {
      name: 'cache-replica',
      memory_size: '2GiB',
      port: 12000,
      shards_placement: 'sparse',
      ...unlisted({replica_sources: [{uri: `redis://${cacheEndpoint}`}]}),
    })

    if (!retired.has('operator')) {
      new ClusterUser(this, 'operator', {
        name: 'operator',
        email: 'operator@example.com',
        role: 'db_viewer',
        // Given as TF_VAR_operator_password. A new value is sent when the version is raised, not before.
        password: secret(this, 'operator_password', {version: 1}),
      })
    }

    new TerraformOutput(this, 'replica_uid', {value: replica.uid, staticId: true})
  }
}
