/** What the ordinary planner sees of a way back: the wishes as stacks, and the ledgers cut down to what they are about. */
import type {StackDeclarations} from '../model/declaration.ts'
import {stackOf} from '../model/journal.ts'
import {keysNow} from '../model/keys-now.ts'
import {parentRemoteId} from '../model/kind.ts'
import type {Ledger} from '../model/ledger.ts'
import type {PlannedStack} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import {liveKey, type UndoInput, type UndoOperation} from './undo-wish.ts'

/** What would go and holds, or is needed by, what came since or stays: nothing goes that nobody decided on. */
export function heldBack(
  {ledgers, others, kinds}: Pick<UndoInput, 'ledgers' | 'others' | 'kinds'>,
  wishes: readonly UndoOperation[],
): ReadonlyMap<Key, string> {
  const going = new Map(wishes.flatMap(it => (it.removes === 'delete' ? it.entries.map(key => [key, keyOfOperation(it.of)] as const) : [])))
  // What goes back to what it was hangs on what it hung on then.
  const hangsOn = new Map(
    wishes.flatMap(({declaration, entries}) =>
      entries.flatMap(key => (declaration ? [[key, declaration.dependsOn.map(it => it.key)] as const] : [])),
    ),
  )
  const objects = new Map<string, Key>()
  for (const {stack, entries} of ledgers.values())
    for (const {address, remoteId} of entries.values())
      if (going.has(keyOf(stack, address))) objects.set(liveKey(stack, remoteId), keyOf(stack, address))
  const holders = (stack: string, remoteId: string): Key[] => {
    const above: Key[] = []
    for (let id = parentRemoteId({kinds}, remoteId); id !== undefined; id = parentRemoteId({kinds}, id)) {
      const holder = objects.get(liveKey(stack, id))
      if (holder !== undefined) above.push(holder)
    }
    return above
  }
  const now = keysNow([...others, ...ledgers.values()])
  const held = new Map<Key, string>()
  for (let more = true; more; ) {
    more = false
    const isGoing = (key: Key) => going.has(key) && !held.has(going.get(key) ?? '')
    for (const {stack, entries} of [...ledgers.values(), ...others]) {
      for (const {address, remoteId, dependsOn} of entries.values()) {
        const key = keyOf(stack, address)
        if (isGoing(key)) continue
        for (const it of [...(hangsOn.get(key) ?? dependsOn.map(now)), ...holders(stack, remoteId)].filter(isGoing)) {
          held.set(going.get(it) ?? '', `${key} hangs on it by now`)
          more = true
        }
      }
    }
  }
  return held
}

/** What the wishes declare, stack by stack, with the ledgers cut down to what they are about. */
export function undoStacks(
  stacks: readonly PlannedStack[],
  wishes: readonly UndoOperation[],
  outputsOf: (stack: string) => StackDeclarations['outputs'],
): StackDeclarations[] {
  return stacks.map(({name, targets, ledger}) => {
    const own = wishes.filter(it => stackOf(it.key) === name)
    return {
      name,
      targets,
      ledger,
      declarations: own.flatMap(it => it.declaration ?? []),
      outputs: outputsOf(name),
      moved: own.flatMap(it => (it.movedFrom === undefined ? [] : [{from: it.movedFrom, to: it.key.slice(name.length + 1)}])),
      removed: own.flatMap(it => (it.removes === 'forget' ? [{from: it.key.slice(name.length + 1), destroy: false}] : [])),
      warnings: [],
    }
  })
}

export const undoLedger = (ledger: Ledger, wishes: readonly UndoOperation[]): Ledger => cut(ledger, wishes, true)

/** The rest of it: nothing of that is undone, and it is owned all the same. */
export const undoRest = (ledger: Ledger, wishes: readonly UndoOperation[]): Ledger => cut(ledger, wishes, false)

function cut(ledger: Ledger, wishes: readonly UndoOperation[], isAbout: boolean): Ledger {
  const wanted = new Set(wishes.flatMap(it => it.entries))
  return {...ledger, entries: new Map([...ledger.entries].filter(([address]) => wanted.has(keyOf(ledger.stack, address)) === isAbout))}
}
