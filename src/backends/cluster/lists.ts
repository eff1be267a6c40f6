import type {KnownList} from '../known-list.ts'

/** What the cluster API lists beside the objects of kinds. */
export const clusterLists: readonly KnownList[] = [
  {path: '/v2/bdbs', ids: ['uid']},
  {path: '/v1/modules', ids: ['uid']},
  {path: '/v2/modules', ids: ['uid']},
  {path: '/v1/roles', ids: ['uid'], onlyShown: true},
  {path: '/v1/logs', arrays: ['logs', 'events'], onlyShown: true},
]
