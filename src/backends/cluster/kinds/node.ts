/** A machine of the cluster. Nodes are never created or deleted through the API: one that is not there is an error. */
import {z} from 'zod'
import {idIn} from '../../../base/id-in.ts'
import {collectionVerbs} from '../../../engine/kinds/collection-verbs.ts'
import {defineKind} from '../../../engine/model/kind.ts'

const spec = z.looseObject({
  /** The node's number, which tells which node is meant. */
  uid: z.int().positive(),
  /** The rack or zone the node stands in. */
  rack_id: z.string().optional(),
})

export const clusterNode = defineKind({
  name: 'cluster.node',
  api: 'cluster',
  noun: 'node',
  remote: 'cluster/nodes/*',
  spec,
  identity: {key: it => idIn(it, 'uid', 'id'), ids: ['uid', 'id'], declaredId: it => idIn(it, 'uid'), unique: true},
  fields: {'/uid': {immutable: true}},
  verbs: collectionVerbs('/v1/nodes', ['list', 'read', 'update']),
  absent: {
    create: 'a node joins the cluster on its own machine, the API cannot create one',
    delete: 'a node leaves the cluster on its own machine, the API cannot delete one',
  },
  adoptOnly: true,
  code: {construct: 'ClusterNode', id: 'node_{id}'},
})
