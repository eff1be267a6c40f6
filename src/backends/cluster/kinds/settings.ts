/** The cluster's own record (`/v1/cluster`): there is always one, and it can only be changed. */
import {z} from 'zod'
import {whenChanged} from '../../../engine/kinds/risk.ts'
import {defineKind} from '../../../engine/model/kind.ts'

const spec = z.looseObject({
  /** The cluster's name. */
  name: z.string().min(1).optional(),
  /** The license text. Never shown. */
  license: z.string().min(1).optional(),
})

export const clusterSettings = defineKind({
  name: 'cluster.settings',
  api: 'cluster',
  noun: 'cluster settings',
  remote: 'cluster/settings',
  spec,
  identity: {key: () => 'settings', ids: [], unique: true},
  fields: {
    '': {risk: whenChanged('changes the whole cluster')},
    // Clusters differ in whether they show it.
    '/license': {secret: true, mayBeAbsent: true},
  },
  verbs: {
    read: () => ({method: 'GET', path: '/v1/cluster'}),
    update: (_, patch) => ({method: 'PUT', path: '/v1/cluster', body: patch}),
  },
  absent: {
    create: 'a cluster always has settings, they are only ever changed',
    delete: 'a cluster always has settings, they are only ever changed',
  },
  singleton: true,
  code: {construct: 'ClusterSettings', id: 'settings'},
})
