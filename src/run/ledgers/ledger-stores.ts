/** The ledgers of stacks, opened without any connection to the APIs. */
import {existsSync} from 'node:fs'
import {resolve} from 'node:path'
import {AppError, EXIT} from '../../base/errors.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import {locationOf} from '../../ledger/backends/open-ledger.ts'
import {fileOf} from '../../ledger/backends/registry.ts'
import type {ManagedLedgerStore, Notice} from '../../ledger/managed-store.ts'
import type {Host} from '../host/host.ts'
import type {LedgerOf} from './other-ledgers.ts'
import {ownApp} from './own-app.ts'
import {StateStores} from './state-store.ts'

export interface OpenedStores {
  readonly stores: ReadonlyMap<string, ManagedLedgerStore>
  /** Of a stack of this app that is not of this run. */
  own(stack: LedgerOf): ManagedLedgerStore
  /** Of a stack of another run or app, whose objects are left alone: what is said of how it is reached is not said here. @throws HttpBackendError */
  other(stack: LedgerOf): ManagedLedgerStore
  /** One that a stack had before its backend changed; `undefined` where it would be a file, and there is none. @throws NotAFileError */
  former(stack: string, state: string): ManagedLedgerStore | undefined
  /** The same where the mark of a transfer names it, and no person: not of another app. */
  marked(stack: string, state: string): ManagedLedgerStore | undefined
  /** What makes two ways to name a ledger one. @throws NotAFileError, HttpBackendError */
  keyOf(stack: LedgerOf): string
  close(): Promise<void>
}

/** Two stacks behind one ledger would delete each other's objects in turn. */
export class SharedLedgerError extends AppError {
  constructor(place: string, one: string, other: string) {
    super(`the stacks ${one} and ${other} would keep their ledgers in one place: ${place}`, {
      code: 'E_LEDGER_SHARED',
      exit: EXIT.usage,
      suggestions: ['Choose one with --stack NAME where --state is given, or give each stack a backend of its own.'],
    })
  }
}

/** @throws SharedLedgerError, HttpBackendError */
export function openStores(host: Host, stacks: readonly StackDeclarations[]): OpenedStores {
  const states = new StateStores(host)
  const app = ownApp(host)
  const say = (text: string) => host.log.warn(text)
  const openAny = (stack: LedgerOf, notice: Notice): ManagedLedgerStore => states.open(stack, {notice, onWait: say})
  const open = (stack: LedgerOf, notice: Notice): ManagedLedgerStore =>
    states.open(stack, {notice, onWait: say, ...(app === undefined ? {} : {app})})
  const stores = stacks.map(stack => [stack.name, open(stack, say)] as const)
  const owners = new Map<string, string>()
  for (const [stack, store] of stores) {
    const other = owners.get(store.key)
    if (other !== undefined) throw new SharedLedgerError(store.place, other, stack)
    owners.set(store.key, stack)
  }
  const formerAt = (name: string, state: string, as: typeof openAny): ManagedLedgerStore | undefined => {
    const ledger = locationOf(state)
    const file = fileOf(ledger)
    return file !== undefined && !existsSync(resolve(host.cwd, file)) ? undefined : as({name, ledger}, say)
  }
  return {
    stores: new Map(stores),
    own: stack => open(stack, () => {}),
    other: stack => {
      const store = openAny(stack, () => {})
      const owner = owners.get(store.key)
      if (owner !== undefined) throw new SharedLedgerError(store.place, owner, stack.name)
      return store
    },
    // Whose it was: a stack may come here from another app.
    former: (name, state) => formerAt(name, state, openAny),
    // A mark in a ledger may name any place: what another app has there is left as it is until a person says so.
    marked: (name, state) => formerAt(name, state, open),
    keyOf: stack => openAny(stack, () => {}).key,
    close: () => states.close(),
  }
}
