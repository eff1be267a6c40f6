/** The ledgers of a run while it goes on: changed in memory at once, written now and then and at the end. */

import {canonicalJson, type Json} from '../base/json.ts'
import type {Ledger, LedgerEntry, LedgerOutput, LedgerStore} from './ledger.ts'
import type {Secret} from './value.ts'

/** Secrets of one stack: by address, then by JSON pointer. */
export type StackSecrets = ReadonlyMap<string, ReadonlyMap<string, Secret>>

/** Puts digests of a stack's secrets into its ledger. */
export type SealSecrets = (ledger: Ledger) => Promise<Ledger>

export class LedgerBook {
  readonly #ledgers: Map<string, Ledger>
  readonly #stores: ReadonlyMap<string, LedgerStore>
  readonly #seal: SealSecrets
  readonly #secrets = new Map<string, Map<string, ReadonlyMap<string, Secret>>>()
  readonly #dirty = new Set<string>()
  #writing: Promise<void> = Promise.resolve()

  constructor(ledgers: ReadonlyMap<string, Ledger>, stores: ReadonlyMap<string, LedgerStore>, seal: SealSecrets) {
    this.#ledgers = new Map(ledgers)
    this.#stores = stores
    this.#seal = seal
  }

  ledger(stack: string): Ledger | undefined {
    return this.#ledgers.get(stack)
  }

  /** What was applied in this run, in clear. */
  secretsOf(stack: string): StackSecrets {
    return this.#secrets.get(stack) ?? new Map()
  }

  record(stack: string, entry: LedgerEntry, secrets: ReadonlyMap<string, Secret>, formerAddress?: string): void {
    this.#edit(stack, entries => {
      if (formerAddress !== undefined && formerAddress !== entry.address) entries.delete(formerAddress)
      entries.set(entry.address, entry)
    })
    const ofStack = this.#secrets.get(stack) ?? new Map<string, ReadonlyMap<string, Secret>>()
    this.#secrets.set(stack, ofStack)
    ofStack.set(entry.address, secrets)
  }

  drop(stack: string, address: string): void {
    this.#edit(stack, entries => entries.delete(address))
    this.#secrets.get(stack)?.delete(address)
  }

  setOutputs(stack: string, outputs: Readonly<Record<string, LedgerOutput>>): void {
    this.#replace(stack, ledger => ({...ledger, outputs}))
  }

  setAccounts(stack: string, accounts: Ledger['accounts']): void {
    this.#replace(stack, ledger => ({...ledger, accounts}))
  }

  /** The head of the running apply's journal, for ledgers that outlive the disk. */
  setPending(stack: string, pending: Json | undefined): void {
    this.#replace(stack, ({pending: _, ...ledger}) => (pending === undefined ? ledger : {...ledger, pending}))
  }

  /** Writes what changed; one write at a time, the last one wins. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    for (const stack of [...this.#dirty]) {
      const ledger = this.#ledgers.get(stack)
      const store = this.#stores.get(stack)
      if (ledger === undefined || store === undefined) continue
      this.#dirty.delete(stack)
      const secrets = this.#secrets.get(stack)
      const sealed = secrets && secrets.size > 0 ? await this.#seal(ledger) : ledger
      try {
        const saved = await store.save(sealed)
        const now = this.#ledgers.get(stack)
        // What was recorded while it was being written stays; the rest is as written.
        this.#ledgers.set(
          stack,
          now === ledger || now === undefined ? saved : {...now, serial: saved.serial, lineage: saved.lineage, condition: 'present'},
        )
      } catch (error) {
        this.#dirty.add(stack)
        throw error
      }
    }
  }

  #edit(stack: string, change: (entries: Map<string, LedgerEntry>) => void): void {
    const ledger = this.#ledgers.get(stack)
    if (ledger === undefined) return
    // One map per run and stack, edited in place: copying it for each of thousands of objects would be quadratic.
    const entries = ledger.entries as Map<string, LedgerEntry>
    change(entries)
    this.#ledgers.set(stack, {...ledger, entries})
    this.#dirty.add(stack)
  }

  #replace(stack: string, change: (ledger: Ledger) => Ledger): void {
    const ledger = this.#ledgers.get(stack)
    if (ledger === undefined) return
    const changed = change(ledger)
    const {entries: _, ...rest} = changed
    const {entries: _before, ...before} = ledger
    if (canonicalJson(rest) === canonicalJson(before)) return
    this.#ledgers.set(stack, changed)
    this.#dirty.add(stack)
  }
}
