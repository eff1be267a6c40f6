/** `--target` and `--exclude`: which objects a run is about. What is left out still counts as declared. */
import {addAll, addTo} from '../../base/many.ts'
import {type Declaration, neededBy, type StackDeclarations} from '../model/declaration.ts'
import {keysNow} from '../model/keys-now.ts'
import {type Kinds, meansAnother, parentRemoteId} from '../model/kind.ts'
import type {Ledger, LedgerEntry} from '../model/ledger.ts'
import {plainPart} from '../model/resolve.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import {formerAddresses} from './former-addresses.ts'
import {ALL, type Named, Words} from './selector.ts'

export interface Selection {
  readonly target: readonly string[]
  readonly exclude: readonly string[]
}

export interface SelectInput {
  readonly stacks: readonly StackDeclarations[]
  readonly ledgers: ReadonlyMap<string, Ledger>
  /** Of stacks that are not selected: they tell where objects went that others hang on. */
  readonly otherLedgers?: readonly Ledger[]
  readonly kinds: Kinds
  readonly selection: Selection
  /** Everything that goes is deleted, and then the arrows point the other way. */
  readonly destroy?: boolean
}

/**
 * A target takes what it depends on along; an exclusion takes its dependants away. Where everything goes, a target takes
 * its dependants along instead, and what an excluded object stands on stays too.
 *
 * @param objects - what words may mean
 * @param holders - of undeclared objects: the declaration that says they have to go
 */
export function selected(input: SelectInput, objects: readonly Named[], holders: ReadonlyMap<Key, Key> = new Map()): (key: Key) => boolean {
  const {exclude} = input.selection
  // Everything is more than `objects`, which are not gathered for that word alone.
  if (exclude.includes(ALL)) return () => false
  const target = input.selection.target.includes(ALL) ? [] : input.selection.target
  if (target.length === 0 && exclude.length === 0) return () => true
  const keys = (words: readonly string[]) => {
    const meaning = new Words(words, objects, input.kinds)
    return objects.filter(it => meaning.mean(it)).map(keyOfOperation)
  }
  const {needs, followers, same, maybe, moving} = arrowsOf(input, holders)
  const wanted = target.length === 0 ? undefined : closure(keys(target), input.destroy ? [followers, same] : [needs, same])
  const unwanted = closure(keys(exclude), [followers, same, maybe, moving])
  if (input.destroy) for (const key of closure(keys(exclude), [needs, same])) unwanted.add(key)
  return key => (wanted?.has(key) ?? true) && !unwanted.has(key)
}

type Arrows = ReadonlyMap<Key, readonly Key[]>

interface AllArrows {
  readonly needs: Arrows
  readonly followers: Arrows
  /** Between the two addresses of one object that was renamed in the stack: neither is chosen without the other. */
  readonly same: Arrows
  /**
   * From what may be the new address of an object to the old one, where nobody can tell yet whether it is in the same
   * parent: whoever leaves the new one out leaves the old one out, but who asks for the new one asks for no deletion.
   */
  readonly maybe: Arrows
  /** The same between two stacks: who leaves one half out gets no move. */
  readonly moving: Arrows
}

function arrowsOf(input: SelectInput, holders: ReadonlyMap<Key, Key>): AllArrows {
  const {stacks, ledgers, otherLedgers = [], destroy} = input
  const needs = new Map<Key, Key[]>()
  const followers = new Map<Key, Key[]>()
  const same = new Map<Key, Key[]>()
  for (const it of stacks.flatMap(stack => stack.declarations)) {
    for (const need of neededBy(it)) {
      add(needs, it.key, need)
      add(followers, need, it.key)
    }
  }
  const now = keysNow([...otherLedgers, ...ledgers.values()])
  const again = stacks.flatMap(stack => renamed(input, stack))
  // What is declared hangs on what its declaration says; what it hung on once is nothing to it any more.
  const kindNow = new Map(stacks.flatMap(stack => stack.declarations.map(it => [it.key, it.kind] as const)))
  const formerly = new Set(again.filter(it => it.sure).map(it => it.from))
  for (const [stack, {entries}] of ledgers) {
    for (const {address, kind, dependsOn} of entries.values()) {
      const key = keyOf(stack, address)
      if (!destroy && (kindNow.get(key) === kind || formerly.has(key))) continue
      for (const need of dependsOn.map(now)) {
        if (destroy) add(needs, key, need)
        add(followers, need, key)
      }
    }
  }
  for (const [key, holder] of holders) {
    add(needs, key, holder)
    add(followers, holder, key)
  }
  const maybe = new Map<Key, Key[]>()
  for (const {to, from, sure} of again) {
    add(sure ? same : maybe, to, from)
    add(same, from, to)
  }
  const moving = new Map<Key, Key[]>()
  for (const [one, other] of movedOver(input)) {
    add(moving, one, other)
    add(moving, other, one)
  }
  return {needs, followers, same, maybe, moving}
}

/**
 * What is owned under an address that nobody declares any more, and declared under another one that nothing is owned
 * under in that place: by a `moved` block, or by its natural key. Chosen apart, one half of a rename would be a deletion.
 */
function renamed({ledgers, kinds}: SelectInput, stack: StackDeclarations): Renamed[] {
  const ledger = ledgers.get(stack.name)
  if (ledger === undefined) return []
  const declared = new Map(stack.declarations.map(it => [it.address, it.kind]))
  const left = [...ledger.entries.values()].filter(it => declared.get(it.address) !== it.kind)
  const fresh = stack.declarations.filter(it => {
    const entry = ledger.entries.get(it.address)
    return (
      entry?.kind !== it.kind ||
      isAnother(it, entry, kinds) ||
      (it.parent !== undefined && parentRemoteId({kinds}, entry.remoteId) !== parentOf(it, ledgers))
    )
  })
  if (left.length === 0 || fresh.length === 0) return []
  const byName = new Map<string, LedgerEntry[]>()
  const called = (kind: string, name: string | undefined) => (name === undefined ? undefined : `${kind} ${name}`)
  for (const it of left) {
    const name = called(it.kind, kinds.get(it.kind)?.identity.key(it.applied))
    if (name !== undefined) addTo(byName, name, it)
  }
  const byAddress = new Map(left.map(it => [it.address, it]))
  return fresh.flatMap(it => {
    const name = called(it.kind, kinds.get(it.kind)?.identity.key(plainPart(it.spec)))
    const parent = parentOf(it, ledgers)
    const moved = formerAddresses(stack.moved, it.address).flatMap(address => byAddress.get(address) ?? [])
    const alike = (byName.get(name ?? '') ?? []).filter(entry => parent === undefined || entry.remoteId.startsWith(`${parent}/`))
    const told = (entry: LedgerEntry, sure: boolean): Renamed => ({to: it.key, from: keyOf(stack.name, entry.address), sure})
    return [...moved.map(entry => told(entry, true)), ...alike.map(entry => told(entry, it.parent === undefined || parent !== undefined))]
  })
}

interface Renamed {
  readonly to: Key
  readonly from: Key
  /** Whether both are in one parent, as far as ledgers tell. */
  readonly sure: boolean
}

/** What one stack owns and does not declare, and another one declares and does not own: the same name in the same place. */
function movedOver({stacks, ledgers, kinds}: SelectInput): [Key, Key][] {
  // What it owns in another parent is not what it is to be.
  const owns = (it: Declaration) => {
    const entry = ledgers.get(it.stack)?.entries.get(it.address)
    return (
      entry?.kind === it.kind &&
      !isAnother(it, entry, kinds) &&
      (it.parent === undefined || parentRemoteId({kinds}, entry.remoteId) === parentOf(it, ledgers))
    )
  }
  const fresh = new Map<string, Declaration>()
  for (const it of stacks.flatMap(stack => stack.declarations)) {
    const parent = it.parent === undefined ? '' : parentOf(it, ledgers)
    const name = kinds.get(it.kind)?.identity.key(plainPart(it.spec))
    if (!owns(it) && parent !== undefined && name !== undefined) fresh.set(JSON.stringify([it.kind, parent, name]), it)
  }
  if (fresh.size === 0) return []
  return stacks.flatMap(stack => {
    const declared = new Map(stack.declarations.map(it => [it.address, it.kind]))
    return [...(ledgers.get(stack.name)?.entries.values() ?? [])].flatMap((entry): [Key, Key][] => {
      if (declared.get(entry.address) === entry.kind) return []
      const name = kinds.get(entry.kind)?.identity.key(entry.applied)
      const other = fresh.get(JSON.stringify([entry.kind, parentRemoteId({kinds}, entry.remoteId) ?? '', name]))
      return other === undefined || other.stack === stack.name ? [] : [[other.key, keyOf(stack.name, entry.address)]]
    })
  })
}

/** Whether a declaration says by its id that it means another object than what the ledger has. */
const isAnother = ({kind: name, spec}: Declaration, {remoteId}: LedgerEntry, kinds: Kinds): boolean => {
  const kind = kinds.get(name)
  return kind !== undefined && meansAnother(kind, plainPart(spec), remoteId)
}

/** Where the parent is, as far as that is known before anything is read. */
function parentOf({parent}: Declaration, ledgers: ReadonlyMap<string, Ledger>): string | undefined {
  if (parent?.by === 'remoteId') return parent.remoteId
  if (parent?.by !== 'key') return undefined
  const at = parent.key.indexOf(':')
  return ledgers.get(parent.key.slice(0, at))?.entries.get(parent.key.slice(at + 1))?.remoteId
}

function add(arrows: Map<Key, Key[]>, from: Key, to: Key): void {
  const list = arrows.get(from)
  if (list) list.push(to)
  else arrows.set(from, [to])
}

function closure(start: readonly Key[], arrows: readonly Arrows[]): Set<Key> {
  const reached = new Set<Key>()
  const open = [...start]
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (reached.has(key)) continue
    reached.add(key)
    for (const it of arrows) addAll(open, it.get(key) ?? [])
  }
  return reached
}
