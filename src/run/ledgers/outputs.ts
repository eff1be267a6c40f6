/** Outputs as the ledgers recorded them. */
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import type {LedgerOutput} from '../../engine/model/ledger.ts'
import {openLeaves} from '../../engine/model/resolve.ts'
import {Secret} from '../../engine/model/value.ts'
import type {Host} from '../host/host.ts'
import {openStores} from './ledger-stores.ts'

export interface StackOutputs {
  readonly stack: string
  readonly outputs: Readonly<Record<string, LedgerOutput>>
  /** Declared ones that are made of secrets: no ledger has their values. */
  readonly secret: readonly string[]
}

export async function loadOutputs(host: Host, stacks: readonly StackDeclarations[]): Promise<StackOutputs[]> {
  const opened = openStores(host, stacks)
  try {
    return await Promise.all(
      [...opened.stores].map(async ([stack, store]) => {
        const {outputs, condition} = await store.load()
        return {stack, outputs, secret: condition === 'present' ? secretsOf(stacks, stack) : []}
      }),
    )
  } finally {
    await opened.close()
  }
}

const secretsOf = (stacks: readonly StackDeclarations[], stack: string): string[] =>
  (stacks.find(it => it.name === stack)?.outputs ?? []).flatMap(({name, value}) =>
    openLeaves(value).some(({leaf}) => leaf instanceof Secret || leaf.secret) ? [name] : [],
  )
