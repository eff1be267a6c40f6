/**
 * Ledgers that a run does not write and has to know: of the stacks of the app that were not selected, and of stacks
 * that left a file beside these and are not in the app any more (a renamed one, or one of another app). They are read
 * without a lock.
 */
import {readdir} from 'node:fs/promises'
import {basename, dirname, join, resolve} from 'node:path'
import {AppError} from '../../base/errors.ts'
import {readKeptFile} from '../../base/whole-file.ts'
import type {LedgerLocation, StackDeclarations} from '../../engine/model/declaration.ts'
import type {Ledger} from '../../engine/model/ledger.ts'
import type {LedgerPlaceOptions} from '../../ledger/backends/backend.ts'
import {localLedger} from '../../ledger/backends/local.ts'
import {fileOf} from '../../ledger/backends/registry.ts'
import type {ManagedLedgerStore} from '../../ledger/managed-store.ts'
import {decodeLedger, stackIn} from '../../ledger/tfstate.ts'

/** A stack as far as its ledger is concerned. */
export interface LedgerOf {
  readonly name: string
  readonly ledger: LedgerLocation
}

export interface OtherLedgers {
  readonly ledgers: readonly Ledger[]
  /** Stacks of the app whose ledgers cannot be read, each with the reason. */
  readonly unread: ReadonlyMap<string, string>
  /** Of those that could be read. */
  readonly stores: ReadonlyMap<string, ManagedLedgerStore>
  /** Where those are. */
  readonly places: readonly LedgerOf[]
}

export type OpenOther = (stack: LedgerOf) => ManagedLedgerStore

/**
 * @param selected - of the run: their ledgers are no others
 * @param others - the rest of the app
 */
export async function readOtherLedgers(
  folder: LedgerPlaceOptions['folder'],
  selected: readonly LedgerOf[],
  others: readonly LedgerOf[],
  open: OpenOther,
): Promise<OtherLedgers> {
  const unread = new Map<string, string>()
  const stores = new Map<string, ManagedLedgerStore>()
  const left = await leftBehind(folder, [...selected, ...others])
  const read = async (stack: LedgerOf): Promise<Ledger | undefined> => {
    try {
      const store = open(stack)
      const ledger = await store.load()
      stores.set(stack.name, store)
      return ledger
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      unread.set(stack.name, error.message)
      return undefined
    }
  }
  const all = await Promise.all([...others, ...left].map(read))
  const places = [...others, ...left].filter(it => stores.has(it.name))
  return {ledgers: all.filter(it => it !== undefined), unread, stores, places}
}

/** Ledgers in files beside those of the app, whose stacks the app does not have. */
export async function leftBehind(folder: string, known: readonly Pick<StackDeclarations, 'name' | 'ledger'>[]): Promise<LedgerOf[]> {
  const names = new Set(known.map(it => it.name))
  const found: LedgerOf[] = []
  // One after the other: whoever brings a repository along can put any number of large files there.
  for (const path of await filesBeside(folder, known)) {
    const name = await stackOf(path)
    if (name !== undefined && !names.has(name)) found.push({name, ledger: localLedger(path)})
  }
  return found
}

async function filesBeside(folder: string, known: readonly Pick<LedgerOf, 'ledger'>[]): Promise<string[]> {
  const files = known.flatMap(({ledger}) => fileOf(ledger) ?? []).map(file => resolve(folder, file))
  const folders = new Set([folder, ...files.map(it => dirname(it))])
  return (await Promise.all([...folders].map(statesIn))).flat().filter(path => !files.includes(path))
}

async function statesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(it => it.endsWith('.tfstate')).map(it => join(folder, it))
  } catch {
    // There is no such folder yet, or it may not be listed: whoever reads the stack's own ledger says so.
    return []
  }
}

/** Of a stack whose ledger is in another place now. */
export interface FormerLedger {
  readonly stack: string
  readonly path: string
  /** How many it has still. */
  readonly objects: number
}

/** Files beside the ledgers of the app that belong to one of its stacks and are not its ledger. */
export async function formerLedgers(folder: string, known: readonly LedgerOf[]): Promise<FormerLedger[]> {
  const names = new Set(known.map(it => it.name))
  const found: FormerLedger[] = []
  for (const path of await filesBeside(folder, known)) {
    const ledger = await ledgerIn(path)
    if (ledger !== undefined && names.has(ledger.stack) && ledger.entries.size > 0)
      found.push({stack: ledger.stack, path, objects: ledger.entries.size})
  }
  return found
}

/** What cannot be read, or is another program's, is no ledger of ours. */
async function stackOf(path: string): Promise<string | undefined> {
  try {
    const content = (await readKeptFile(path)).bytes.toString()
    return stackIn(content) ?? rewritten(content, path)?.stack
  } catch {
    return undefined
  }
}

async function ledgerIn(path: string): Promise<Ledger | undefined> {
  try {
    const content = (await readKeptFile(path)).bytes.toString()
    const stack = stackIn(content)
    return stack === undefined ? rewritten(content, path) : decodeLedger(content, {place: path, stack, setAside: ''})
  } catch {
    return undefined
  }
}

/** Terraform leaves out whose ledger it writes: then the name of the file says so, where all in it is ours. */
function rewritten(content: string, path: string): Ledger | undefined {
  const stack = /^terraform\.(.+)\.tfstate$/.exec(basename(path))?.[1]
  if (stack === undefined) return undefined
  const ledger = decodeLedger(content, {place: path, stack, setAside: ''})
  return ledger.entries.size === 0 ? undefined : ledger
}
