/** The ledgers of stacks, opened without any connection to the APIs. */
import {hostname, userInfo} from 'node:os'
import type {StackDeclarations} from '../engine/declaration.ts'
import type {ManagedLedgerStore} from '../ledger/managed-store.ts'
import {openLedgerStore} from '../ledger/open-ledger.ts'
import {createTransport, type NetworkTransport} from '../transport/undici-transport.ts'
import type {Context} from './context.ts'

export interface OpenedStores {
  readonly stores: ReadonlyMap<string, ManagedLedgerStore>
  close(): Promise<void>
}

export function openStores(context: Context, stacks: readonly StackDeclarations[], stateFile: string | undefined): OpenedStores {
  const networks: NetworkTransport[] = []
  const stores = stacks.map(
    stack =>
      [
        stack.name,
        openLedgerStore(stack.ledger, {
          stack: stack.name,
          folder: context.cwd,
          ...(stateFile === undefined ? {} : {stateFile}),
          environment: context.environment.all,
          transport: ({insecure}) => {
            const network = createTransport({insecure})
            networks.push(network)
            return network.send
          },
          clock: context.clock,
          random: context.random,
          pid: process.pid,
          host: hostname(),
          user: userName(),
          version: context.version,
          notice: text => context.log.warn(text),
        }),
      ] as const,
  )
  return {
    stores: new Map(stores),
    close: async () => {
      await Promise.all(networks.map(it => it.close()))
    },
  }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // No entry for this user id, as in many containers.
    return 'unknown'
  }
}
