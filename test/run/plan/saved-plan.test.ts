import {describe, expect, it} from 'vitest'
import {AppError, EXIT} from '../../../src/base/errors.ts'
import type {LedgerAccount} from '../../../src/engine/model/ledger.ts'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {assertTarget} from '../../../src/run/plan/saved-plan.ts'
import {stackOf} from '../../support/lab.ts'

const account = (name: string) => ({address: 'https://api.example.com/v1', keyHash: name})
/** @param ids - what the API says of keys that no ledger knows */
const configured = (keys: Readonly<Record<string, string>>, ids: Readonly<Record<string, string>> = {}, recorded: LedgerAccount[] = []) => {
  const asked: string[] = []
  return {
    asked,
    stacks: Object.keys(keys).map(name => stackOf(name).build()),
    allLedgers: new Map(recorded.map((cloud, at) => [`ledger-${at}`, {accounts: {cloud}}])),
    apisOf: () => ['cloud' as const],
    connectionOf: (stack: string) => ({
      connection: account(keys[stack] ?? ''),
      account: () => {
        asked.push(stack)
        const id = ids[keys[stack] ?? '']
        return id === undefined ? Promise.reject(new UnauthorizedForTest()) : Promise.resolve(id)
      },
    }),
  }
}

/** Each of these stacks has a subscription in the plan. */
const touching = (...stacks: readonly string[]): Operation[] =>
  stacks.map(stack => ({
    stack,
    address: 'null_resource.main',
    kind: 'cloud.subscription',
    action: 'no-op',
    cause: 'as-declared',
    reason: 'as declared',
    changes: [],
    edges: [],
    because: [],
  }))

class UnauthorizedForTest extends AppError {
  constructor() {
    super('GET / was refused (401)', {code: 'E_TEST', exit: EXIT.unauthorized, suggestions: []})
  }
}

describe('a plan for several stacks with accounts of their own', () => {
  const plan = {accounts: {cloud: account('one'), 'bill:cloud': account('two')}, operations: touching('shop', 'bill')}

  it('goes on with the same keys, and asks nobody', async () => {
    const same = configured({shop: 'one', bill: 'two'})
    await expect(assertTarget(same, plan)).resolves.toBeUndefined()
    expect(same.asked).toEqual([])
  })

  it('is refused when one stack means the account of the other by now', async () => {
    await expect(assertTarget(configured({shop: 'one', bill: 'one'}), plan)).rejects.toThrow('those of another user')
    await expect(assertTarget(configured({shop: 'two', bill: 'two'}), plan)).rejects.toThrow('those of another user')
    await expect(assertTarget(configured({shop: 'one', bill: 'two'}), {accounts: {}, operations: touching('shop')})).rejects.toThrow(
      'no address',
    )
  })

  it('asks nothing of what a stack has come to have of an API since that it was not made for', async () => {
    const later = configured({shop: 'one', bill: 'another'})
    const plan = {accounts: {cloud: account('one')}, operations: touching('shop')}
    await expect(assertTarget(later, plan)).resolves.toBeUndefined()
    expect(later.asked).toEqual([])
    const nothing = configured({shop: 'one'})
    await expect(assertTarget(nothing, {accounts: {}, operations: []})).resolves.toBeUndefined()
  })

  it('is refused where what comes from a stack is of another account by now', async () => {
    const moving = touching('bill').map(it => ({...it, action: 'move' as const, from: {stack: 'shop', address: it.address}}))
    const plan = {accounts: {cloud: account('one')}, operations: moving}
    await expect(assertTarget(configured({shop: 'two', bill: 'one'}), plan)).rejects.toThrow('those of another user')
  })
})

describe('a plan whose key was rotated meanwhile', () => {
  const plan = {accounts: {cloud: {...account('old'), account: '12'}}, operations: touching('shop')}

  it('goes on where the new key is of the same account: by what a ledger has, else by one request', async () => {
    const asks = configured({shop: 'new'}, {new: '12'})
    await expect(assertTarget(asks, plan)).resolves.toBeUndefined()
    expect(asks.asked).toEqual(['shop'])
    const knows = configured({shop: 'new'}, {}, [{...account('new'), account: '12'}])
    await expect(assertTarget(knows, plan)).resolves.toBeUndefined()
    expect(knows.asked).toEqual([])
  })

  it('takes the account of the old key from a ledger where the plan does not name it', async () => {
    const recorded = [{...account('old'), account: '12'}]
    await expect(
      assertTarget(configured({shop: 'new'}, {new: '12'}, recorded), {accounts: {cloud: account('old')}, operations: touching('shop')}),
    ).resolves.toBeUndefined()
  })

  it('is refused for another account, and where either account is not known', async () => {
    await expect(assertTarget(configured({shop: 'new'}, {new: '99'}), plan)).rejects.toMatchObject({
      code: 'E_PLAN_TARGET',
      exit: 3,
      message: expect.stringMatching(/account 12.* account 99/),
    })
    const unnamed = configured({shop: 'new'}, {new: '12'})
    await expect(assertTarget(unnamed, {accounts: {cloud: account('old')}, operations: touching('shop')})).rejects.toThrow(
      'whose account the others are of is not known',
    )
    expect(unnamed.asked).toEqual([])
    await expect(assertTarget(configured({shop: 'new'}, {}), plan)).rejects.toThrow('GET / was refused (401)')
    await expect(assertTarget(configured({shop: 'new'}, {new: '{}'}), plan)).rejects.toThrow('neither an id nor a name')
  })
})
