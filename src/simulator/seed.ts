/** Puts objects of real servers into a world, under their own ids: for rehearsing a plan against what is there now. */
import type {JsonObject} from '../base/json.ts'
import {COUNTED, ofEachCollection} from './base/collections.ts'
import {collection} from './base/store.ts'
import {entry, type World} from './base/world.ts'

export interface SeedObject {
  /** `cloud/subscriptions/12/databases/51`, `cluster/policy` */
  readonly remoteId: string
  readonly fields: JsonObject
}

/** Parents come before their children, whatever the order they are given in. */
export function seedWorld(world: World, objects: readonly SeedObject[], now: number): void {
  world.cloud.subscriptions = {}
  Object.assign(
    world.cluster,
    ofEachCollection(() => ({})),
  )
  for (const {remoteId, fields} of objects.toSorted((a, b) => depth(a) - depth(b))) {
    if (remoteId === 'cluster/settings') Object.assign(world.cluster.settings, fields)
    else if (remoteId === 'cluster/policy') Object.assign(world.cluster.policy, fields)
    else {
      const cut = remoteId.lastIndexOf('/')
      const id = remoteId.slice(cut + 1)
      const entries = collection(world, remoteId.slice(0, cut))
      if (entries === undefined) continue
      entries[id] = entry({...fields}, now, typeof fields.status === 'string' ? fields.status : 'active')
      const number = Number(id)
      // New ids begin after every one that is taken, of whatever kind.
      if (Number.isSafeInteger(number)) for (const kind of COUNTED) world.counters[kind] = Math.max(world.counters[kind] ?? 0, number)
    }
  }
}

const depth = ({remoteId}: SeedObject): number => remoteId.split('/').length
