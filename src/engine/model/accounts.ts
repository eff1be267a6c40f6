/** Which stacks speak to one account: by the account's own id, or by address and key where the id is not known. */
import type {Api} from '../../base/apis.ts'
import type {LedgerAccount} from './ledger.ts'
import type {AccountOf} from './ownership.ts'

export interface StackAccount extends LedgerAccount {
  readonly stack: string
  readonly api: Api
}

/**
 * Whether an id tells an account, wherever it is and for good: a service gives its ids out, and a cluster is called what its
 * owner likes, today (contract section 4, `PUT /v1/cluster`).
 */
export const isKnownById = (api: string): boolean => api !== 'cluster'

/**
 * Records that share an address and the account's id there, or address and key, are of one account: an id is one server's
 * (two clusters may have one name, and both a `cluster/bdbs/1`). At one address there is one cluster, whoever speaks to it and whatever
 * it was called then. A record without an id that shares neither counts for the account that others have at its address: better one object too many that is left alone.
 */
export function accountGroups(records: readonly StackAccount[]): AccountOf {
  const groups = new Groups()
  const nodeOf = ({api, stack}: {readonly api: Api; readonly stack: string}) => `stack ${api} ${stack}`
  const keyOf = ({api, address, keyHash}: StackAccount) => `key ${api} ${address} ${keyHash}`
  const withId = new Set<string>()
  for (const it of records) {
    groups.join(nodeOf(it), keyOf(it))
    if (!isKnownById(it.api)) groups.join(nodeOf(it), `address ${it.api} ${it.address}`)
    if (it.account === undefined) continue
    groups.join(nodeOf(it), `account ${it.api} ${it.address} ${it.account}`)
  }
  for (const it of records) if (it.account !== undefined) withId.add(groups.of(nodeOf(it)))
  const byAddress = new Map<string, string>()
  for (const it of records) {
    const at = `${it.api} ${it.address}`
    const known = withId.has(groups.of(nodeOf(it)))
    if (known && !byAddress.has(at)) byAddress.set(at, nodeOf(it))
  }
  for (const it of records) {
    if (withId.has(groups.of(nodeOf(it)))) continue
    groups.join(nodeOf(it), byAddress.get(`${it.api} ${it.address}`) ?? `address ${it.api} ${it.address}`)
  }
  // A stack that nothing is known of speaks to whatever the others speak to, where that is one account.
  const roots = new Map<Api, Set<string>>()
  for (const it of records) roots.set(it.api, (roots.get(it.api) ?? new Set()).add(groups.of(nodeOf(it))))
  return (stack, api) => {
    const [only, another] = roots.get(api) ?? []
    const node = nodeOf({stack, api})
    return groups.has(node) || only === undefined || another !== undefined ? groups.of(node) : only
  }
}

/** The first record of another stack whose account is called the same at another address: nobody knows whether it is one. */
export const namesakeOf = (
  records: readonly StackAccount[],
  accountOf: AccountOf,
  {stack, api}: Pick<StackAccount, 'stack' | 'api'>,
  has: (stack: string) => boolean,
): {readonly own: StackAccount; readonly other: StackAccount} | undefined => {
  const own = records.find(it => it.stack === stack && it.api === api && it.account !== undefined)
  const other = records.find(
    it =>
      it.api === api &&
      it.account === own?.account &&
      it.address !== own?.address &&
      accountOf(it.stack, api) !== accountOf(stack, api) &&
      has(it.stack),
  )
  return own && other && {own, other}
}

/** Sets that grow together. */
class Groups {
  readonly #parents = new Map<string, string>()

  has(node: string): boolean {
    return this.#parents.has(node)
  }

  of(node: string): string {
    let at = node
    for (let up = this.#parents.get(at); up !== undefined && up !== at; up = this.#parents.get(at)) at = up
    // Thousands of stacks may have one key: the way is as long as that once.
    for (let next = node; next !== at; ) {
      const up = this.#parents.get(next) ?? at
      this.#parents.set(next, at)
      next = up
    }
    return at
  }

  join(a: string, b: string): void {
    const [first, second] = [this.of(a), this.of(b)]
    this.#parents.set(first, first)
    this.#parents.set(second, first)
    if (!this.#parents.has(a)) this.#parents.set(a, first)
    if (!this.#parents.has(b)) this.#parents.set(b, first)
  }
}
