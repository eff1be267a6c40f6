/** Outputs as the ledgers recorded them. */
import type {StackDeclarations} from '../engine/declaration.ts'
import type {LedgerOutput} from '../engine/ledger.ts'
import type {Context} from './context.ts'
import {openStores} from './ledger-stores.ts'

export interface StackOutputs {
  readonly stack: string
  readonly outputs: Readonly<Record<string, LedgerOutput>>
}

export async function loadOutputs(context: Context, stacks: readonly StackDeclarations[]): Promise<StackOutputs[]> {
  const opened = openStores(context, stacks)
  try {
    return await Promise.all([...opened.stores].map(async ([stack, store]) => ({stack, outputs: (await store.load()).outputs})))
  } finally {
    await opened.close()
  }
}
