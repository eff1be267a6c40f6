/**
 * Whose a live object is: over the ledgers of the run and those of every other stack of the app, selected or not.
 *
 * A remote path names an object within one account. Two stacks that speak to two clusters may both have a
 * `cluster/bdbs/3`, and neither has the other's.
 */
import type {Api} from '../../base/apis.ts'
import {addTo} from '../../base/many.ts'
import type {Backend} from './backend.ts'
import type {Ids, Kinds} from './kind.ts'
import type {Ledger, LedgerEntry} from './ledger.ts'

export interface Owner {
  readonly stack: string
  readonly entry: LedgerEntry
}

/** A name for the account that a stack speaks to: equal for stacks that share one. */
export type AccountOf = (stack: string, api: Api) => string

/** The account that an operation is in, as a name for it. */
export const accountsOfOperations =
  (kinds: Kinds, accountOf: AccountOf = () => '') =>
  ({stack, kind}: {readonly stack: string; readonly kind: string}): string => {
    const api = kinds.get(kind)?.api
    return api === undefined ? '' : `${api} ${accountOf(stack, api)}`
  }

/** An object that an unfinished run has asked for. */
export interface BeingMade {
  readonly stack: string
  readonly run: string
  readonly kind: string
  /** Absent: nobody knows yet what came of it. */
  readonly remoteId?: string
  /** Its natural key, where it has one. */
  readonly name?: string
  /** What it is in; absent where nobody can tell. */
  readonly parent?: Ids
}

export interface OwnershipInput {
  /** Of the stacks of this run. */
  readonly ledgers: ReadonlyMap<string, Ledger>
  /** Of stacks that are not selected, and of ledgers whose stack the app does not have any more. Read only. */
  readonly otherLedgers?: readonly Ledger[]
  /** Stacks whose ledgers cannot be read, with the reason: what they have is not known. */
  readonly unreadLedgers?: ReadonlyMap<string, string>
  /** What runs of stacks that are not selected began to make, and no ledger has yet. */
  readonly beingMade?: readonly BeingMade[]
  readonly accountOf?: AccountOf
  readonly kinds: Kinds
}

export class Ownership {
  readonly #accountOf: AccountOf
  readonly #accounts = new Map<Backend, string>()
  /** By account and remote path; almost always of one ledger. */
  readonly #owners = new Map<string, Map<string, Owner[]>>()

  constructor({ledgers, otherLedgers = [], accountOf = () => '', kinds}: OwnershipInput) {
    this.#accountOf = accountOf
    for (const [stack, ledger] of ledgers) this.#index(stack, ledger, kinds)
    for (const ledger of otherLedgers) this.#index(ledger.stack, ledger, kinds)
  }

  /** Notes that what this backend shows is in the account of that stack. */
  speaksFor(backend: Backend, stack: string, api: Api): void {
    if (!this.#accounts.has(backend)) this.#accounts.set(backend, this.#accountOf(stack, api))
  }

  accountAt(backend: Backend): string {
    return this.#accounts.get(backend) ?? ''
  }

  account(stack: string, api: Api): string {
    return this.#accountOf(stack, api)
  }

  /** Whoever has an object that this backend shows. */
  at(backend: Backend, remoteId: string): Owner | undefined {
    return this.#owners.get(this.accountAt(backend))?.get(remoteId)?.[0]
  }

  /** The ledger that has it: the stack's own, where several do. */
  of(stack: string, api: Api, remoteId: string): Owner | undefined {
    const owners = this.#at(stack, api, remoteId)
    return owners.length < 2 ? owners[0] : (owners.find(it => it.stack === stack) ?? owners[0])
  }

  /** The ledger of another stack that has it. */
  elsewhere(stack: string, api: Api, remoteId: string): Owner | undefined {
    return this.#at(stack, api, remoteId).find(it => it.stack !== stack)
  }

  #at(stack: string, api: Api, remoteId: string): readonly Owner[] {
    return this.#owners.get(this.#accountOf(stack, api))?.get(remoteId) ?? NOBODY
  }

  #index(stack: string, ledger: Ledger, kinds: Kinds): void {
    for (const entry of ledger.entries.values()) {
      const api = kinds.get(entry.kind)?.api
      if (api === undefined) continue
      const account = this.#accountOf(stack, api)
      const ofAccount = this.#owners.get(account) ?? new Map<string, Owner[]>()
      if (ofAccount.size === 0) this.#owners.set(account, ofAccount)
      // What one ledger has twice it has by its first entry.
      if (ofAccount.get(entry.remoteId)?.at(-1)?.stack !== stack) addTo(ofAccount, entry.remoteId, {stack, entry})
    }
  }
}

const NOBODY: readonly Owner[] = []
