/**
 * What is deleted or replaced takes along what lives in it and cannot stay without it. Nothing goes that way that nobody
 * decided on: a child that is declared still (its parent named in text, or by another stack), that this run leaves out, or
 * of which the stack says that it is to stay, keeps what it lives in. So does one that came into a ledger since the plan
 * was saved that is checked again.
 */
import type {Declaration} from '../model/declaration.ts'
import {type Ids, isLostWithParent, type Kind, parentRemoteId, remoteIdOf} from '../model/kind.ts'
import type {Operation} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import {childrenOf} from './children-of.ts'
import {Claims} from './claims.ts'
import {LastWishes} from './kept.ts'
import {objectAt} from './object-names.ts'
import type {PlanInput} from './plan-input.ts'

type Input = Pick<PlanInput, 'observation' | 'ledgers' | 'otherLedgers' | 'kinds' | 'accountOf' | 'stacks' | 'selected' | 'destroy'>

interface Child {
  readonly key: Key
  readonly why:
    | 'is declared'
    | 'is left out of this run'
    | 'is to stay (removed block)'
    | 'is to stay (removalPolicy retain)'
    | `goes to its stack first: ${string}`
}

const KEPT = {'removed-block': 'is to stay (removed block)', retain: 'is to stay (removalPolicy retain)'} as const

/** What comes from another stack sends nothing in the run that brings it: whatever that is in can be replaced once it is there. */
function whyDeclared(operation: Operation | undefined, {parent}: Declaration, claims: Claims): Child['why'] {
  if (operation?.action !== 'move' || operation.from === undefined || parent?.by !== 'key') return 'is declared'
  const command = claims.transferOf(operation.from, operation, operation.remoteId)
  return `goes to its stack first: ${command ?? '--skip-blocked does that, and the next plan the rest'}`
}

export class TakenAlong {
  readonly #input: Input
  /** What stays, by account and remote path of what it lives in. */
  readonly #staying = new Map<string, Child[]>()
  readonly #claims: Claims

  /** @param declared - what becomes of the declared objects */
  constructor(input: Input, declared: readonly Operation[], claims = new Claims(input)) {
    this.#input = input
    this.#claims = claims
    const {observation, ledgers, otherLedgers = [], kinds} = input
    const operations = new Map(declared.map(it => [keyOfOperation(it), it]))
    const meant = new Set<string>()
    for (const [key, {declaration, match, parent, stray}] of observation.pairs) {
      const {stack} = declaration
      // What moves to another parent leaves its object to whoever else means that.
      if (stray && isLostWithParent(stray.kind, kinds) && claims.isDeclared(stack, stray))
        this.#stays(stack, stray.kind, stray.remoteId, {key, why: 'is declared'})
      // What is still to be made in a place that is named in text needs that place.
      if (match === undefined && parent !== undefined && declaration.parent?.by !== 'key')
        this.#staysIn(declaration.kind, parent, stack, {key, why: 'is declared'})
      if (match === undefined || !isLostWithParent(match.live.kind, kinds)) continue
      meant.add(objectAt(input, stack, match.live.kind.name, match.live.remoteId))
      const operation = operations.get(key)
      if (operation?.cause !== 'parent-replaced')
        this.#stays(stack, match.live.kind, match.live.remoteId, {key, why: whyDeclared(operation, declaration, claims)})
    }
    const wishes = new LastWishes(input)
    for (const orphan of observation.orphans) {
      const {stack, object, address, live, heldBy} = orphan
      if (live === undefined || heldBy !== undefined || !isLostWithParent(live.kind, kinds)) continue
      const kept = wishes.keeps(orphan)
      const why = kept !== undefined ? KEPT[kept] : claims.isDeclared(stack, live) ? 'is declared' : undefined
      if (why !== undefined) this.#stays(stack, live.kind, object.remoteId, {key: keyOf(stack, address), why})
    }
    const removed = new Set(observation.orphans.map(it => keyOf(it.stack, it.object.address)))
    const rest = otherLedgers.filter(it => ledgers.has(it.stack))
    for (const {stack, entries} of [...ledgers.values(), ...rest]) {
      for (const {address, kind: name, remoteId} of entries.values()) {
        const kind = kinds.get(name)
        if (kind === undefined || !isLostWithParent(kind, kinds)) continue
        const key = keyOf(stack, address)
        if (removed.has(key) || observation.pairs.has(key) || meant.has(objectAt(this.#input, stack, kind.name, remoteId))) continue
        this.#stays(stack, kind, remoteId, {key, why: 'is left out of this run'})
      }
    }
  }

  /** The operation as it may be: unchanged where nothing stays that lives in its object. */
  respected(operation: Operation): Operation {
    const {action, stack, remoteId} = operation
    const kind = this.#input.kinds.get(operation.kind)
    if (kind === undefined || remoteId === undefined || (action !== 'delete' && action !== 'replace')) return operation
    const staying = this.#staying.get(objectAt(this.#input, stack, kind.name, remoteId)) ?? []
    // In an order of its own: what is said must not hang on that of a file.
    const children = [...staying, ...this.#declaredIn(stack, kind, remoteId)].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    if (children.length === 0) return operation
    const names = children.map(({key, why}) => `${key}, which ${why}`).join(', ')
    return {...operation, action: 'blocked', wants: action, cause: 'not-empty', reason: `it would take along ${names}`}
  }

  /** Those that have to stay as they are. */
  heldBack(operations: readonly Operation[]): ReadonlyMap<Key, Operation> {
    return new Map(
      operations.flatMap(it => {
        const now = this.respected(it)
        return now === it ? [] : [[keyOfOperation(it), now] as const]
      }),
    )
  }

  /** What is there and no ledger has yet, and a declaration means that this run does not plan. */
  #declaredIn(stack: string, {name, api}: Kind, remoteId: string): Child[] {
    const {kinds, observation} = this.#input
    const below = [...kinds.values()].filter(it => it.parent?.kind === name && isLostWithParent(it, kinds)).map(it => it.name)
    return childrenOf(this.#input, stack, remoteId, below, () => true).flatMap((live): Child[] => {
      const key = observation.ownership.of(stack, api, live.remoteId) ? undefined : this.#claims.declaredAs(stack, live)?.key
      return key === undefined ? [] : [{key, why: 'is declared'}]
    })
  }

  #staysIn(kind: string, parent: Ids, stack: string, child: Child): void {
    const {kinds} = this.#input
    const above = kinds.get(kinds.get(kind)?.parent?.kind ?? '')
    if (above !== undefined) this.#keeps(objectAt(this.#input, stack, kind, remoteIdOf(above, parent)), child)
  }

  #stays(stack: string, kind: Kind, remoteId: string, child: Child): void {
    const parent = parentRemoteId(this.#input, remoteId)
    if (parent !== undefined) this.#keeps(objectAt(this.#input, stack, kind.name, parent), child)
  }

  #keeps(at: string, child: Child): void {
    const children = this.#staying.get(at)
    if (children) children.push(child)
    else this.#staying.set(at, [child])
  }
}
