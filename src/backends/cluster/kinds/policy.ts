/** The cluster's policy (`/v1/cluster/policy`): there is always one, it can only be changed, and none of its fields are shown. */
import {z} from 'zod'
import {whenChanged} from '../../../engine/kinds/risk.ts'
import {defineKind} from '../../../engine/model/kind.ts'

export const clusterPolicy = defineKind({
  name: 'cluster.policy',
  api: 'cluster',
  noun: 'cluster policy',
  remote: 'cluster/policy',
  spec: z.looseObject({}),
  identity: {key: () => 'policy', ids: [], unique: true},
  fields: {'': {risk: whenChanged('changes the defaults of the whole cluster')}},
  verbs: {
    read: () => ({method: 'GET', path: '/v1/cluster/policy'}),
    update: (_, patch) => ({method: 'PUT', path: '/v1/cluster/policy', body: patch}),
  },
  absent: {
    create: 'a cluster always has a policy, it is only ever changed',
    delete: 'a cluster always has a policy, it is only ever changed',
  },
  singleton: true,
  code: {construct: 'ClusterPolicy', id: 'policy'},
})
