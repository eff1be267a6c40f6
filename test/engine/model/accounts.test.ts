import {describe, expect, it} from 'vitest'
import {accountGroups, type StackAccount} from '../../../src/engine/model/accounts.ts'

const record = (stack: string, address: string, keyHash: string, account?: string): StackAccount => ({
  stack,
  api: 'cloud',
  address,
  keyHash,
  ...(account === undefined ? {} : {account}),
})
const grouped = (records: readonly StackAccount[], ...stacks: readonly string[]) => {
  const of = accountGroups(records)
  const names = stacks.map(it => of(it, 'cloud'))
  return names.map(it => names.indexOf(it))
}

describe('accounts of stacks', () => {
  it('are one where a server gives them one id, whatever the key; another server may have the same id', () => {
    expect(grouped([record('a', 'x', '1', '7'), record('b', 'x', '2', '7'), record('c', 'y', '3', '7')], 'a', 'b', 'c')).toEqual([0, 0, 2])
  })

  it('are one where address and key are the same, also where only one of them knows the id', () => {
    expect(grouped([record('a', 'x', '1', '7'), record('b', 'x', '1'), record('c', 'x', '2', '7')], 'a', 'b', 'c')).toEqual([0, 0, 0])
  })

  it('are taken for one at one address where nothing says who they are: better an object too many that is left alone', () => {
    expect(grouped([record('a', 'x', '1', '7'), record('b', 'x', '2'), record('c', 'y', '3')], 'a', 'b', 'c')).toEqual([0, 0, 2])
    expect(grouped([record('a', 'x', '1'), record('b', 'x', '2')], 'a', 'b')).toEqual([0, 0])
  })

  it('are one cluster at one address, whatever it was called when somebody asked', () => {
    const cluster = (...given: Parameters<typeof record>) => ({...record(...given), api: 'cluster' as const})
    const of = accountGroups([cluster('a', 'x', '1', 'old'), cluster('b', 'x', '2', 'new'), cluster('c', 'y', '2', 'new')])
    expect([of('a', 'cluster') === of('b', 'cluster'), of('b', 'cluster') === of('c', 'cluster')]).toEqual([true, false])
  })

  it('are the only one there is, for a stack that nothing is known of', () => {
    expect(grouped([record('a', 'x', '1', '7')], 'a', 'new')).toEqual([0, 0])
    expect(grouped([record('a', 'x', '1', '7'), record('b', 'y', '2', '8')], 'a', 'b', 'new')).toEqual([0, 1, 2])
  })
})
