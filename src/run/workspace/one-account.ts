/**
 * One cluster answers at the address of each of its nodes, and nothing that it shows tells two clusters of one name apart. So
 * two addresses are two accounts; where both seem to have the very same object, that is worth a word.
 */
import {kinds} from '../../backends/kinds.ts'
import {namesakeOf} from '../../engine/model/accounts.ts'
import {kindCalled} from '../../engine/model/kind.ts'
import type {Operation} from '../../engine/model/plan.ts'
import {keyOfOperation} from '../../engine/model/value.ts'
import {stackAccounts} from '../ledgers/stack-accounts.ts'
import type {Workspace} from './workspace.ts'

/** For each account that may be another stack's under another address: what would be done to an object that both have. */
export async function maybeOneAccount(workspace: Workspace, operations: readonly Operation[]): Promise<string[]> {
  const {stacks, ledgers, otherLedgers, allLedgers, accountOf} = workspace
  const doing = operations.filter(it => it.action !== 'no-op' && it.remoteId !== undefined)
  if (doing.length === 0 || allLedgers.size < 2) return []
  const records = await stackAccounts(stacks, ledgers, otherLedgers, (stack, api) => workspace.connectionOf(stack, api))
  const said = new Map<string, string>()
  for (const it of doing) {
    const {api, identity} = kindCalled(kinds, it.kind)
    const isThere = (stack: string) =>
      [...(allLedgers.get(stack)?.entries.values() ?? [])].some(
        entry => entry.remoteId === it.remoteId && entry.kind === it.kind && identity.key(entry.applied) === it.name,
      )
    const found = namesakeOf(records, accountOf, {stack: it.stack, api}, isThere)
    if (found === undefined) continue
    const {own, other} = found
    said.set(
      `${own.address} ${other.address}`,
      `${keyOfOperation(it)} (${it.remoteId ?? ''}) may be what stack ${other.stack} has: both speak to a ${api} called ${own.account ?? ''}, at ${own.address} and at ${other.address}. If that is one ${api}, give both stacks one address, so that each leaves alone what the other has; if they are two, all is well`,
    )
  }
  return [...said.values()]
}
