import type {KnownList} from '../known-list.ts'

/** What the cloud API lists beside the objects of kinds. */
export const cloudLists: readonly KnownList[] = [
  {path: '/tasks', ids: ['taskId']},
  {path: '/payment-methods', ids: ['paymentMethodId'], onlyShown: true},
  {path: '/regions', ids: ['regionId'], onlyShown: true},
]
