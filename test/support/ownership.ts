/** Who has what: read from every ledger, before a run and after it. */
import {expect} from 'vitest'
import type {LedgerEntry} from '../../src/engine/model/ledger.ts'
import type {Operation, Plan} from '../../src/engine/model/plan.ts'
import {keyOf, keyOfOperation} from '../../src/engine/model/value.ts'
import type {Lab} from './lab.ts'
import {objectsOf, told, type WorldObject} from './promises.ts'

/** The keys under which the ledgers have each object. */
export type Owners = ReadonlyMap<string, readonly string[]>

export function ownersIn(lab: Lab): Owners {
  const all = new Map<string, string[]>()
  for (const [stack, {ledger}] of lab.stores)
    for (const {remoteId, address} of ledger.entries.values()) all.set(remoteId, [...(all.get(remoteId) ?? []), keyOf(stack, address)])
  return all
}

export const entriesIn = (lab: Lab): ReadonlyMap<string, LedgerEntry> =>
  new Map([...lab.stores.values()].flatMap(it => [...it.ledger.entries.values()].map(entry => [entry.remoteId, entry] as const)))

/** No object has come to have two owners, and what is there and had one has one still, but for what was let go of. */
export function ownershipIsKept(lab: Lab, before: Owners, operations: readonly Operation[]): void {
  const after = ownersIn(lab)
  const shared = [...after].filter(([remoteId, who]) => who.length > 1 && (before.get(remoteId)?.length ?? 0) < 2)
  expect(shared, 'has two owners').toEqual([])
  const there = new Set(objectsOf(lab.simulator).map(it => it.remoteId))
  const lost = [...before].filter(([remoteId]) => there.has(remoteId) && !after.has(remoteId))
  const letGo = ([remoteId, who]: readonly [string, readonly string[]]) =>
    operations.some(it => {
      const former = it.movedFrom === undefined ? [] : [keyOf(it.stack, it.movedFrom)]
      return it.action === 'forget' && (it.remoteId === remoteId || [keyOfOperation(it), ...former].some(key => who.includes(key)))
    })
  expect(
    lost.filter(it => !letGo(it)),
    `is nobody's now: ${told(operations).join('\n')}`,
  ).toEqual([])
}

/** Whatever was made has an owner, unless it was made by a run that died and the next one lets go of it. */
export function nothingMadeIsNobodys(lab: Lab, before: readonly WorldObject[], operations: readonly Operation[] = []): void {
  const known = new Set([...before.map(it => it.remoteId), ...ownersIn(lab).keys()])
  for (const it of operations) if (it.action === 'forget' && it.remoteId !== undefined) known.add(it.remoteId)
  expect(objectsOf(lab.simulator).filter(it => !known.has(it.remoteId))).toEqual([])
}

/** What is to be retained is not deleted, and what must not be destroyed is destroyed by no plan without a guard. */
export function policiesAreKept(entries: ReadonlyMap<string, LedgerEntry>, {operations, guards}: Plan): void {
  const guarded = guards.some(it => it.code === 'G_PREVENT_DESTROY')
  const broken = operations.filter(it => {
    const entry = it.remoteId === undefined ? undefined : entries.get(it.remoteId)
    const goes = it.action === 'delete' || it.cause === 'goes-with-parent'
    // What was replaced has had its successor made: it goes, whatever becomes of that one.
    const retained = entry?.removal === 'retain' && it.cause !== 'deposed'
    return goes && (retained || (entry?.preventDestroy === true && !guarded))
  })
  expect(told(broken)).toEqual([])
}
