/**
 * The way back from a run, as declarations: what the ledgers had before it, of everything that it did and nobody has changed
 * since. The ordinary planner makes operations of them, so that what is shown, refused, checked again and sent of an undo is
 * what it is of any plan. Pure; who looks at the world calls it again with what was seen, and with what came of it.
 */
import type {JsonObject} from '../../base/json.ts'
import type {Declaration} from '../model/declaration.ts'
import {stackOf} from '../model/journal.ts'
import {keysNow} from '../model/keys-now.ts'
import {type Kind, kindCalled, parentRemoteId} from '../model/kind.ts'
import {isUntouchedSince, type LedgerEntry} from '../model/ledger.ts'
import type {Operation} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import {leadsTo} from './leads-to.ts'
import {changedSince, type FieldLeft, fieldsBack, seenBack, type Touched} from './undo-fields.ts'
import {heldBack} from './undo-view.ts'
import {type Left, liveKey, type UndoDraft, type UndoInput, type UndoOperation} from './undo-wish.ts'

type Verdict = {readonly wish?: UndoOperation; readonly conflicts?: readonly FieldLeft[]; readonly impossible?: readonly FieldLeft[]}

const conflict = (why: string): Verdict => ({conflicts: [{path: '', why}]})
const impossible = (why: string): Verdict => ({impossible: [{path: '', why}]})

const DATA_GONE = 'what was in it is gone; --recreate makes it again, empty'
const EMPTY = 'made again and empty: what was in it is gone'

export function draftUndo(input: UndoInput): UndoDraft {
  const back = new WayBack(input)
  const found = input.plan.operations.flatMap(operation => {
    const verdict = back.of(operation)
    return verdict === undefined ? [] : [{key: keyOfOperation(operation), kind: operation.kind, ...verdict}]
  })
  const wishes = back.withStanding(found.flatMap(it => it.wish ?? []))
  const held = heldBack(input, wishes)
  const all = (of: (it: Verdict) => readonly FieldLeft[] | undefined): Left[] =>
    found.flatMap(it => (of(it) ?? []).map(left => ({key: it.key, kind: it.kind, ...left})))
  return {
    wishes: wishes.filter(it => !held.has(keyOfOperation(it.of))),
    conflicts: [
      ...all(it => it.conflicts),
      ...found.flatMap(({key, kind}) => (held.has(key) ? [{key, kind, path: '', why: held.get(key) ?? ''}] : [])),
    ],
    impossible: all(it => it.impossible),
  }
}

class WayBack {
  readonly #input: UndoInput
  readonly #keyNow: (key: Key) => Key
  readonly #before = new Map<Key, LedgerEntry>()
  /** Addresses that get free on the way back, since their objects go to others. */
  readonly #leaving: Set<Key>
  /** What the run has destroyed, by the remote paths of the object and of its successor. */
  readonly #destroyers = new Map<string, Operation>()
  readonly #verdicts = new Map<Key, Verdict>()
  /** What hangs on something else now than before the run, by the key of its wish: of what stays so something may stand on that. */
  readonly #standing = new Map<Key, readonly Key[]>()

  /** By stack and remote path. */
  readonly #owned = new Map<string, Located>()

  constructor(input: UndoInput) {
    this.#input = input
    for (const {stack, entries} of input.ledgers.values())
      for (const entry of entries.values())
        this.#owned.set(liveKey(stack, entry.remoteId), {stack, key: keyOf(stack, entry.address), entry})
    this.#keyNow = keysNow([...input.others, ...input.ledgers.values()])
    for (const [stack, {entries}] of Object.entries(input.image.stacks))
      for (const it of entries) this.#before.set(keyOf(stack, it.address), it)
    const ours = input.plan.operations.filter(it => input.done.has(keyOfOperation(it)))
    for (const it of ours.filter(destroys)) {
      const key = keyOfOperation(it)
      for (const id of [this.#beforeAt(it)?.remoteId, input.done.get(key)?.remoteId])
        if (id !== undefined) this.#destroyers.set(liveKey(it.stack, id), it)
    }
    const movers = ours.filter(it => (it.movedFrom !== undefined || it.from !== undefined) && !input.left.has(keyOfOperation(it)))
    this.#leaving = new Set(movers.map(keyOfOperation))
    // Who has to stay keeps its address, and whoever had that one before stays for it.
    for (let before = -1; before !== this.#leaving.size; ) {
      before = this.#leaving.size
      for (const it of movers) if (!this.#leaves(it)) this.#leaving.delete(keyOfOperation(it))
    }
  }

  /** What there is to be done for an operation of the run; `undefined`: nothing came of it, or it stays as it is. */
  of(operation: Operation): Verdict | undefined {
    const key = keyOfOperation(operation)
    const done = this.#input.done.get(key)
    if (done === undefined || this.#input.left.has(key)) return undefined
    const known = this.#verdicts.get(key)
    if (known !== undefined) return known
    const verdict = this.#verdictOn(operation, done)
    this.#verdicts.set(key, verdict)
    return verdict
  }

  /** What is not back as a whole hangs on what it hangs on now, too, unless that is to hang on it again. */
  withStanding(wishes: readonly UndoOperation[]): UndoOperation[] {
    const needs = new Map(wishes.map(it => [it.key, new Set(it.declaration?.dependsOn.map(on => on.key))]))
    const parents = new Map(wishes.map(({key, declaration: {parent} = {}}) => [key, parent?.by === 'key' ? parent.key : undefined]))
    for (const [key, standing] of this.#standing) {
      const others = standing.filter(it => it !== parents.get(key) && !leadsTo(it, key, at => needs.get(at) ?? []))
      for (const it of others) needs.get(key)?.add(it)
    }
    return wishes.map(({declaration, ...it}) =>
      declaration === undefined
        ? it
        : {...it, declaration: {...declaration, dependsOn: [...(needs.get(it.key) ?? [])].map(key => ({key, reason: 'depends_on'}))}},
    )
  }

  #verdictOn(operation: Operation, {remoteId}: {readonly remoteId?: string}): Verdict {
    switch (operation.action) {
      case 'create':
        return this.#created(operation, remoteId)
      case 'update':
        return this.#updated(operation)
      case 'move':
        return this.#moved(operation)
      case 'adopt':
        return this.#adopted(operation)
      case 'replace':
      case 'delete':
        return this.#destroyed(operation, remoteId)
      case 'forget':
        return this.#forgotten(operation)
      case 'no-op':
      case 'blocked':
        return {}
      default:
        return operation.action satisfies never
    }
  }

  #created(operation: Operation, remoteId: string | undefined): Verdict {
    const at = this.#located(operation, remoteId)
    if (at === undefined) return conflict('no ledger of these stacks has it any more')
    const since = changedSince(this.#touched(operation, at))
    if (since !== undefined) return conflict(`${since}, and to undo it is to delete it`)
    return {wish: {of: operation, key: at.key, removes: 'delete', entries: [at.key], secretsKept: []}}
  }

  #updated(operation: Operation): Verdict {
    const at = this.#located(operation, operation.remoteId)
    if (at === undefined) return conflict('no ledger of these stacks has it any more')
    const before = this.#beforeOf(operation)
    const touched = this.#touched(operation, at)
    const back = before === undefined ? seenBack(touched) : fieldsBack({...touched, before})
    const stays =
      before === undefined
        ? [{path: '', why: `it was nobody's before, and stays in the ledger: svcctl forget ${at.key} lets it go once it is as it was`}]
        : []
    const home = this.#home(operation, at)
    const was = before ?? at.entry
    if (back.conflicts.length + back.impossible.length > 0) this.#standing.set(home.key, at.entry.dependsOn.map(this.#keyNow))
    return {
      wish: this.#declared(operation, at, was, back.spec, home.key),
      conflicts: [...back.conflicts, ...home.conflicts],
      impossible: [...back.impossible, ...stays],
    }
  }

  #moved(operation: Operation): Verdict {
    const at = this.#located(operation, operation.remoteId)
    if (at === undefined) return conflict('no ledger of these stacks has it any more')
    const home = this.#home(operation, at)
    if (home.key === at.key) return {conflicts: home.conflicts}
    return {wish: this.#declared(operation, at, this.#beforeOf(operation) ?? at.entry, at.entry.applied, home.key)}
  }

  #adopted(operation: Operation): Verdict {
    // What it had before it has still: only the record of it is another one.
    if (this.#beforeOf(operation) !== undefined) return {}
    const at = this.#located(operation, operation.remoteId)
    if (at === undefined) return {}
    return {wish: {of: operation, key: at.key, removes: 'forget', entries: [at.key], secretsKept: []}}
  }

  #destroyed(operation: Operation, remoteId: string | undefined): Verdict {
    const before = this.#beforeAt(operation)
    if (!this.#input.recreate) return impossible(DATA_GONE)
    if (before === undefined) return impossible('what was in it is gone, and no ledger had it')
    if (Object.keys(before.secrets).length > 0)
      return impossible('its secrets are kept nowhere: what it was is made again by an apply of the code that declared it')
    const above = this.#destroyerOf(operation.stack, before.remoteId)
    if (above !== undefined && this.of(above)?.wish === undefined)
      return impossible(`${keyOfOperation(above)}, which it was in, is not made again`)
    const key = keyOf(operation.stack, before.address)
    const there = this.#input.ledgers.get(operation.stack)?.entries.get(before.address)
    if (operation.action !== 'replace') {
      if (there !== undefined) return conflict(`${key} is another object by now (${there.remoteId})`)
      return {wish: {...this.#wish(operation, key, before, before.applied), entries: [], risk: EMPTY}}
    }
    const at = this.#located(operation, remoteId)
    if (at === undefined) return conflict('no ledger of these stacks has its successor any more')
    const since = changedSince(this.#touched(operation, at))
    if (since !== undefined) return conflict(`${since}, and to undo it is to replace it`)
    return {wish: {...this.#declared(operation, at, before, before.applied, at.key), risk: EMPTY}}
  }

  #forgotten(operation: Operation): Verdict {
    const before = this.#beforeAt(operation)
    if (operation.cause === 'goes-with-parent') return this.#destroyed({...operation, action: 'delete'}, undefined)
    if (before === undefined || !LET_GO.includes(operation.cause)) return {}
    const key = keyOf(operation.stack, before.address)
    if (this.#entryOf(operation.stack, before.remoteId) !== undefined) return conflict('a ledger has it again')
    if (this.#input.ledgers.get(operation.stack)?.entries.has(before.address)) return conflict(`${key} is another object by now`)
    const wish = this.#wish(operation, key, before, before.applied)
    const declaration = wish.declaration && {...wish.declaration, importId: before.remoteId}
    return {wish: {...wish, ...(declaration ? {declaration} : {}), entries: []}}
  }

  /** The address that an object had before the run, where it can have it again. */
  #home(operation: Operation, at: Located): {readonly key: Key; readonly conflicts: readonly FieldLeft[]} {
    const former =
      operation.from !== undefined
        ? keyOfOperation(operation.from)
        : operation.movedFrom !== undefined
          ? keyOf(operation.stack, operation.movedFrom)
          : undefined
    if (former === undefined) return {key: at.key, conflicts: []}
    const stays = (why: string) => ({key: at.key, conflicts: [{path: '', why: `it stays at its address: ${why}`}]})
    if (at.key !== keyOfOperation(operation)) return stays(`it was given the address ${at.key} since`)
    if (this.#has(former) && !this.#leaving.has(former)) return stays(`${former} is another object by now`)
    return {key: former, conflicts: []}
  }

  #leaves(operation: Operation): boolean {
    const at = this.#located(operation, operation.remoteId)
    return at !== undefined && this.#home(operation, at).key !== at.key
  }

  /** The operation of the run that has destroyed what an object was in, or is in now. */
  #destroyerOf(stack: string, remoteId: string): Operation | undefined {
    const parent = parentRemoteId(this.#input, remoteId)
    return parent === undefined ? undefined : this.#destroyers.get(liveKey(stack, parent))
  }

  #has(key: Key): boolean {
    const cut = key.indexOf(':')
    return this.#input.ledgers.get(key.slice(0, cut))?.entries.has(key.slice(cut + 1)) === true
  }

  /** What the ledger had before of what goes, or is let go of: also where something else comes to its address, or it to another's. */
  #beforeAt(operation: Operation): LedgerEntry | undefined {
    return operation.remoteId === undefined ? this.#before.get(keyOfOperation(operation)) : this.#beforeOf(operation)
  }

  #beforeOf(operation: Operation): LedgerEntry | undefined {
    const {stack, movedFrom, from, remoteId} = operation
    const keys = [
      keyOfOperation(operation),
      ...(movedFrom === undefined ? [] : [keyOf(stack, movedFrom)]),
      ...(from ? [keyOfOperation(from)] : []),
    ]
    return keys.flatMap(key => this.#before.get(key) ?? []).find(it => it.remoteId === remoteId)
  }

  /** Where the ledgers have an object by now: another run may have given it another address, or another stack. */
  #located(operation: Operation, remoteId: string | undefined): Located | undefined {
    if (remoteId === undefined) return undefined
    const own = this.#entryOf(operation.stack, remoteId)
    if (own !== undefined) return own
    const stack = stackOf(this.#keyNow(keyOfOperation(operation)))
    return stack === operation.stack ? undefined : this.#entryOf(stack, remoteId)
  }

  #entryOf(stack: string, remoteId: string): Located | undefined {
    return this.#owned.get(liveKey(stack, remoteId))
  }

  #touched(operation: Operation, {stack, entry}: Located): Touched {
    const {ledgers, versions, live, secretsLeft} = this.#input
    const ledger = ledgers.get(stack)
    return {
      kind: this.#kind(operation),
      operation,
      now: entry,
      untouched: ledger !== undefined && isUntouchedSince(ledger, versions.get(stack)),
      live: live.get(liveKey(stack, entry.remoteId)),
      secretsLeft: secretsLeft.get(keyOfOperation(operation)),
    }
  }

  #kind({kind: name}: Operation): Kind {
    return kindCalled(this.#input.kinds, name)
  }

  #declared(operation: Operation, at: Located, before: LedgerEntry, spec: JsonObject, key: Key): UndoOperation {
    const wish = this.#wish(operation, key, before, spec)
    return {
      ...wish,
      entries: [...new Set([at.key, key])],
      secretsKept: Object.keys(at.entry.secrets).sort(),
      ...(key !== at.key && stackOf(key) === at.stack ? {movedFrom: at.entry.address} : {}),
    }
  }

  /** As it was applied before, at this address; it hangs on what it hung on then, whatever that is called now. */
  #wish(operation: Operation, key: Key, before: LedgerEntry, spec: JsonObject): UndoOperation {
    const stack = stackOf(key)
    const kind = this.#kind(operation)
    const parent = parentRemoteId(this.#input, before.remoteId)
    const above = this.#input.recreate ? this.#destroyerOf(stack, before.remoteId) : undefined
    const remade = above && this.of(above)?.wish?.key
    const needs = [...new Set(before.dependsOn.map(this.#keyNow))].filter(it => it !== key && it !== remade)
    const declaration: Declaration = {
      stack,
      address: key.slice(stack.length + 1),
      key,
      kind: kind.name,
      spec,
      ...(remade !== undefined
        ? {parent: {by: 'key', key: remade}}
        : parent !== undefined
          ? {parent: {by: 'remoteId', remoteId: parent}}
          : {}),
      dependsOn: needs.map(it => ({key: it, reason: 'depends_on'})),
      policy: {
        exclusive: before.exclusive,
        removal: before.removal,
        preventDestroy: before.preventDestroy,
        ignoreChanges: operation.declared?.policy.ignoreChanges ?? [],
        createBeforeDestroy: operation.declared?.policy.createBeforeDestroy ?? false,
      },
      outputs: Object.keys(before.outputs).sort(),
      source: operation.construct === undefined ? {} : {construct: operation.construct},
      clearSecrets: [],
    }
    return {of: operation, key, declaration, entries: [key], secretsKept: []}
  }
}

interface Located {
  readonly stack: string
  readonly key: Key
  readonly entry: LedgerEntry
}

/** Why an object was let go that is still there. */
const LET_GO: readonly Operation['cause'][] = ['removed-block', 'retain', 'never-deleted', 'undone']

const destroys = ({action, cause}: Operation): boolean => action === 'delete' || action === 'replace' || cause === 'goes-with-parent'
