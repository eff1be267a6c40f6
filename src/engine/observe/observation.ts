/** What is read for, and what was seen: pairs of a declaration and its live object, and what is left over. */
import type {Api} from '../../base/apis.ts'
import type {Problem} from '../../base/errors.ts'
import type {Json, JsonObject} from '../../base/json.ts'
import type {Backend} from '../model/backend.ts'
import type {Declaration, Evaluate, StackDeclarations} from '../model/declaration.ts'
import type {Ids} from '../model/kind.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import type {Collection, LiveObject} from '../model/live.ts'
import type {Ownership, OwnershipInput} from '../model/ownership.ts'
import type {Key, ValueObject} from '../model/value.ts'
import type {Doubt} from './absence.ts'
import type {Match} from './pair.ts'

export interface ObserveInput extends OwnershipInput {
  /** Every stack of the app: what is not selected still counts as declared. */
  readonly stacks: readonly StackDeclarations[]
  /** The stacks this run is about. */
  readonly selected: ReadonlySet<string>
  readonly backendOf: (stack: string, api: Api) => Backend
  readonly evaluate: Evaluate
  readonly variable: (stack: string, name: string) => JsonObject[string] | undefined
  /** Narrows the read-set (`--target`, `apply PLAN`); default: everything selected. */
  readonly wants?: (key: Key) => boolean
  /** An apply has just ended, and lists may not show yet what it wrote. */
  readonly maybeLate?: boolean
  /** Deleted by a run that has just ended: lists may show it still. */
  readonly deleted?: readonly Deleted[]
  /** Told of what stands where a ledger knows of a secret. */
  readonly learnsSecret?: (value: Json, of: string) => void
  /** Looked at as if they were owned: a saved plan deletes them. */
  readonly going?: readonly Going[]
  /** By address, objects that another declaration means, which a saved plan leaves out. */
  readonly meantBesides?: ReadonlyMap<Key, string>
  /** Objects that the state of another program names by their ids: looked up like those of a ledger, and owned by nobody. */
  readonly expected?: readonly ExpectedObject[]
  /** Takes nothing as declared: everything the ledgers own is an orphan. */
  readonly destroy?: boolean
}

export interface Paired {
  readonly declaration: Declaration
  /** The spec with everything filled in that is known before the apply. */
  readonly spec: ValueObject
  readonly match?: Match
  /** Ids of the parent; absent when the parent does not exist yet. */
  readonly parent?: Ids
  /** The ledger's object for this address where it lives in another parent than the declared one. */
  readonly stray?: LiveObject
  /** The ledger's object for this address is there, and another declaration of the run means it. */
  readonly givenAway?: true
  /** Why nobody can tell whether it is there. */
  readonly doubt?: Doubt
  /** Not chosen itself: read because something chosen hangs on it, and otherwise left alone. */
  readonly context: boolean
}

/** Where an object stands: in a ledger, or in a plan that is about an object no ledger has. */
export type Placed = Pick<LedgerEntry, 'address' | 'kind' | 'remoteId'>

/** An object that no ledger has, and that is to go all the same: an undeclared one in an exclusive collection. */
export interface Going extends Placed {
  readonly stack: string
}

/** An object that a run deleted, and whose stack did so. */
export interface Deleted extends Pick<Placed, 'kind' | 'remoteId'> {
  readonly stack: string
}

/** An object that the state of another program names. */
export interface ExpectedObject extends Pick<Placed, 'kind' | 'remoteId'> {
  /** By whose connection it is looked up. */
  readonly stack: string
  /** The declaration that means it if it is there. */
  readonly meantBy?: Key
}

/** What no declaration stands for any more and is to go, with what is left of it. */
export interface Orphan {
  readonly stack: string
  readonly object: Placed
  /** What its ledger has of it; absent where none has it. */
  readonly entry?: LedgerEntry
  /** Where it stands in the plan: beside its own address where that is declared and means another object now. */
  readonly address: string
  readonly live?: LiveObject
  /** Why nobody can tell whether it is there. */
  readonly doubt?: Doubt
  /** Who has the same object: a ledger may hold it under two addresses, and it is not this one's to touch. */
  readonly heldBy?: Key
}

export interface Observation {
  readonly pairs: ReadonlyMap<Key, Paired>
  readonly orphans: readonly Orphan[]
  readonly collections: readonly Collection[]
  readonly ownership: Ownership
  readonly ambiguous: readonly Problem[]
  readonly problems: readonly Problem[]
}
