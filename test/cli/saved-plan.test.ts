import {describe, expect, it} from 'vitest'
import {assertTarget} from '../../src/cli/saved-plan.ts'
import {stackOf} from '../support/lab.ts'

const account = (name: string) => ({address: 'https://api.example.com/v1', keyHash: name})
const configured = (accounts: Readonly<Record<string, string>>) => ({
  stacks: Object.keys(accounts).map(name => stackOf(name).build()),
  apisOf: () => ['cloud' as const],
  connectionOf: (stack: string) => ({connection: account(accounts[stack] ?? '')}),
})

describe('a plan for several stacks with accounts of their own', () => {
  const plan = {accounts: {cloud: account('one'), 'bill:cloud': account('two')}}

  it('goes on with the same accounts', () => {
    expect(() => assertTarget(configured({shop: 'one', bill: 'two'}), plan)).not.toThrow()
  })

  it('is refused when one stack means the account of the other by now', () => {
    expect(() => assertTarget(configured({shop: 'one', bill: 'one'}), plan)).toThrow('those of another user')
    expect(() => assertTarget(configured({shop: 'two', bill: 'two'}), plan)).toThrow('those of another user')
    expect(() => assertTarget(configured({shop: 'one', bill: 'two'}), {accounts: {}})).toThrow('no address')
  })
})
