/**
 * Objects of the world by their remote path (`cloud/subscriptions/12/databases/51/acl/rules/7`, `cluster/bdbs/3`):
 * finding them, changing them, and the effects that wait for their moment.
 */
import {branchAt, clusterCollection} from './collections.ts'
import type {Effect, Entries, Entry, Fields, World, WorldChange} from './world.ts'

/** The collection a path names, `undefined` when its parent does not exist or it names none. */
export function collection(world: World, path: string): Entries | undefined {
  const parts = path.split('/')
  if (parts[0] === 'cluster' && parts.length === 2) {
    const name = clusterCollection(parts[1])
    return name && world.cluster[name]
  }
  if (parts[0] !== 'cloud' || parts[1] !== 'subscriptions') return undefined
  let entries: Entries = world.cloud.subscriptions
  let at = 2
  while (at < parts.length) {
    const parent = alive(entries[parts[at] ?? ''])
    const branch = branchAt(parts[at + 1], parts[at + 2])
    if (!parent || !branch) return undefined
    entries = parent.children[branch] ??= {}
    at += branch.includes('/') ? 3 : 2
  }
  return entries
}

const alive = (entry: Entry | undefined): Entry | undefined => (entry?.gone === undefined ? entry : undefined)

/** An object that exists now. */
export function find(world: World, path: string): Entry | undefined {
  const cut = path.lastIndexOf('/')
  const entries = collection(world, path.slice(0, cut))
  return alive(entries?.[path.slice(cut + 1)])
}

export const statusOf = (entry: Entry, now: number): string => (entry.busy && now < entry.busy.until ? entry.busy.status : entry.status)

/** A collection as a list that lags shows it: ids with the fields of that time. */
export function listed(entries: Entries, now: number, lagMs: number): {id: string; entry: Entry; fields: Fields}[] {
  const then = now - lagMs
  const rows: {id: string; entry: Entry; fields: Fields}[] = []
  for (const [id, entry] of Object.entries(entries)) {
    if (entry.gone !== undefined && then >= entry.gone) {
      delete entries[id]
      continue
    }
    if (entry.born > then) continue
    const older = entry.past.find(version => version.until > then)
    rows.push({id, entry, fields: older?.fields ?? entry.fields})
  }
  return rows
}

/**
 * Whether an object of the collection has the name, one whose creation was accepted and that cannot be seen yet
 * included. Loops, because it runs once per create over all that is in flight.
 */
export function nameTaken(world: World, collectionPath: string, name: unknown, except?: string): boolean {
  const entries = collection(world, collectionPath) ?? {}
  const itself = except === undefined ? undefined : entries[except]
  // Not by their ids: each would become a text of its own.
  for (const entry of Object.values(entries)) if (entry.gone === undefined && entry !== itself && entry.fields.name === name) return true
  return isAwaited(world, collectionPath, entry => entry.fields.name === name)
}

/** Whether an object of the collection is still to appear. */
export function isAwaited(world: World, collectionPath: string, fits: (entry: Entry) => boolean = () => true): boolean {
  for (const effect of world.effects) {
    if (effect.do !== 'add' || !effect.path.startsWith(collectionPath)) continue
    if (effect.path.lastIndexOf('/') === collectionPath.length && fits(effect.entry)) return true
  }
  return false
}

/** Makes the change now, or lets it wait for its moment. */
export function schedule(world: World, now: number, at: number, change: WorldChange, lagMs: number): void {
  if (at <= now) {
    apply(world, at, change, lagMs)
    return
  }
  const effect: Effect = {...change, at}
  let slot = world.effects.length
  while (slot > 0) {
    const before = world.effects[slot - 1]
    if (before === undefined || before.at <= at) break
    slot--
  }
  world.effects.splice(slot, 0, effect)
}

/** Lets everything happen whose moment has come. */
export function settle(world: World, now: number, lagMs: (path: string) => number): void {
  let due = 0
  for (const effect of world.effects) {
    if (effect.at > now) break
    due++
  }
  for (const effect of world.effects.splice(0, due)) apply(world, effect.at, effect, lagMs(effect.path))
}

function apply(world: World, at: number, change: WorldChange, lagMs: number): void {
  const cut = change.path.lastIndexOf('/')
  const entries = collection(world, change.path.slice(0, cut))
  const id = change.path.slice(cut + 1)
  if (!entries) return
  if (change.do === 'add') {
    entries[id] = {...change.entry, born: at}
    return
  }
  const entry = alive(entries[id])
  if (!entry) return
  if (change.do === 'remove') {
    if (lagMs > 0) entry.gone = at
    else delete entries[id]
    return
  }
  revise(entry, at, {...entry.fields, ...change.set}, lagMs)
  Object.assign(entry.secrets, change.secrets)
  if (change.status !== undefined) entry.status = change.status
}

/** New fields for an object; lists that lag go on showing the old ones for a while. */
export function revise(entry: Entry, at: number, fields: Fields, lagMs: number): void {
  if (lagMs > 0) entry.past = [...entry.past.filter(version => version.until > at - lagMs), {until: at, fields: entry.fields}]
  entry.fields = fields
}
