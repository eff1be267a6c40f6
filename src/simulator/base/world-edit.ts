/** Changes made behind everybody's back: somebody at a console, another tool. */
import {z} from 'zod'
import type {JsonObject} from '../../base/json.ts'
import {collection, find, revise} from './store.ts'
import {type Entry, entry, type Fields, newId, type World} from './world.ts'

export const worldEdit = z.strictObject({
  /** A remote path: `cloud/subscriptions/1/databases/2`, `cluster/settings`. With `create`, a collection: `cloud/subscriptions`. */
  path: z.string().min(1),
  /** Fields to set; `null` takes a field away. */
  set: z.record(z.string(), z.json()).optional(),
  status: z.string().optional(),
  delete: z.boolean().optional(),
  /** A new object with these fields. */
  create: z.record(z.string(), z.json()).optional(),
})

export interface WorldEdit {
  readonly path: string
  readonly set?: JsonObject | undefined
  readonly status?: string | undefined
  readonly delete?: boolean | undefined
  readonly create?: JsonObject | undefined
}

/** There is nothing at the path of an edit. */
export class NoSuchObject extends Error {}

/** @returns the path of the object, new ones included */
export function applyEdit(world: World, now: number, lagMs: number, edit: WorldEdit): string {
  if (edit.create) {
    const entries = collection(world, edit.path)
    if (!entries) throw new NoSuchObject(`There is no collection ${edit.path}.`)
    const id = newId(world, edit.path)
    entries[id] = entry({...edit.create}, now - lagMs, edit.status ?? 'active')
    return `${edit.path}/${id}`
  }
  if (edit.path === 'cluster/settings' || edit.path === 'cluster/policy') {
    const singleton = edit.path === 'cluster/settings' ? world.cluster.settings : world.cluster.policy
    const fields = changed(singleton, edit.set ?? {})
    for (const key of Object.keys(singleton)) delete singleton[key]
    Object.assign(singleton, fields)
    return edit.path
  }
  const found = find(world, edit.path)
  if (!found) throw new NoSuchObject(`There is nothing at ${edit.path}.`)
  if (edit.delete) removeEntry(world, edit.path, found, now, lagMs)
  if (edit.set) revise(found, now, changed(found.fields, edit.set), lagMs)
  if (edit.status !== undefined) found.status = edit.status
  return edit.path
}

function changed(fields: Fields, set: JsonObject): Fields {
  return Object.fromEntries(Object.entries({...fields, ...set}).filter(([, value]) => value !== null))
}

function removeEntry(world: World, path: string, found: Entry, now: number, lagMs: number): void {
  const cut = path.lastIndexOf('/')
  if (lagMs > 0) found.gone = now
  else delete collection(world, path.slice(0, cut))?.[path.slice(cut + 1)]
}
