/** What an audit tells of single objects: which lines are about the same one, under whatever names it went. */
import type {AuditEntry, AuditPlace} from './entry.ts'

/** The lines of several stacks in the order in which they were written: each stack's by number, all together by time. */
export function inWrittenOrder(entries: Iterable<AuditEntry>): AuditEntry[] {
  const byStack = new Map<string, AuditEntry[]>()
  for (const it of entries) {
    const own = byStack.get(it.stack) ?? []
    own.push(it)
    byStack.set(it.stack, own)
  }
  const queues = [...byStack.values()].map(own => own.sort((a, b) => b.seq - a.seq))
  const all: AuditEntry[] = []
  for (;;) {
    let first: AuditEntry[] | undefined
    for (const queue of queues) {
      const [at, least] = [queue.at(-1)?.at, first?.at(-1)?.at]
      if (at !== undefined && (least === undefined || at < least)) first = queue
    }
    const next = first?.pop()
    if (next === undefined) return all
    all.push(next)
  }
}

const keyOf = ({stack, address}: AuditPlace): string => `${stack}:${address}`

/**
 * The objects that lines are about, by number. A remote id names an object for as long as it lives in one stack, and an
 * address whatever stands there; what moves takes its number along.
 *
 * @param entries - in order
 * @returns for each line the object it is about; absent for those about none
 */
export function objectsOf(entries: readonly AuditEntry[]): ReadonlyMap<AuditEntry, number> {
  const objects = new Map<AuditEntry, number>()
  const byKey = new Map<string, number>()
  const byRemote = new Map<string, number>()
  let count = 0
  for (const entry of entries) {
    const {stack, address, remoteId, from, to} = entry
    if (address === undefined) continue
    const key = keyOf({stack, address})
    const remote = (of: string): string | undefined => (remoteId === undefined ? undefined : `${of} ${remoteId}`)
    const known = [remote(stack), from && remote(from.stack)].map(it => (it === undefined ? undefined : byRemote.get(it)))
    const object = known.find(it => it !== undefined) ?? (from && byKey.get(keyOf(from))) ?? byKey.get(key) ?? count++
    objects.set(entry, object)
    // Its former address may be another object's by now.
    if (from !== undefined && byKey.get(keyOf(from)) === object) byKey.delete(keyOf(from))
    if (to !== undefined && byKey.get(key) === object) byKey.delete(key)
    byKey.set(to === undefined ? key : keyOf(to), object)
    for (const of of [stack, to?.stack]) {
      const id = of === undefined ? undefined : remote(of)
      if (id !== undefined) byRemote.set(id, object)
    }
  }
  return objects
}
