/** Whose accounts the stacks of an app speak to: what their ledgers remember, and what a request tells where they do not. */
import {APIS, type Api} from '../../base/apis.ts'
import {AppError} from '../../base/errors.ts'
import type {Connection} from '../../config/connection.ts'
import type {StackAccount} from '../../engine/model/accounts.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import type {Ledger} from '../../engine/model/ledger.ts'

type OpenedBy = (stack: string, api: Api) => {readonly connection: Connection; readonly account: () => Promise<string>} | undefined

/** Asks who a stack's account is only where a ledger of the same API tells of another address or key, and knows its account. */
export async function stackAccounts(
  stacks: readonly StackDeclarations[],
  ledgers: ReadonlyMap<string, Ledger>,
  otherLedgers: readonly Ledger[],
  opened: OpenedBy,
): Promise<StackAccount[]> {
  const others = otherLedgers.flatMap(({stack, accounts}): StackAccount[] =>
    APIS.flatMap(api => (accounts[api] ? [{stack, api, ...accounts[api]}] : [])),
  )
  const own: StackAccount[] = []
  for (const {name: stack, targets} of stacks) {
    for (const api of APIS) {
      const there = opened(stack, api)
      if (there === undefined) continue
      const {address, keyHash} = there.connection
      const recorded = targets[api]?.account ?? ledgers.get(stack)?.accounts[api]?.account
      const foreign = others.filter(it => it.api === api && it.account !== undefined)
      const known = foreign.find(it => it.address === address && it.keyHash === keyHash)?.account ?? recorded
      const account = known ?? (foreign.length > 0 ? await unlessRefused(there.account) : undefined)
      own.push({stack, api, address, keyHash, ...(account === undefined ? {} : {account})})
    }
  }
  return [...own, ...others]
}

/** An API that does not say whose account it is has its address to be known by. */
async function unlessRefused(account: () => Promise<string>): Promise<string | undefined> {
  try {
    return await account()
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
