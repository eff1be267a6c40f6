import {describe, expect, it} from 'vitest'
import {Secret} from '../../../src/engine/model/value.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'

const shop = (): StackBuilder =>
  stackOf()
    .clusterUser('anna', {password: new Secret('never shown')})
    .clusterUser('bert')

/** A lab where the shop is applied. */
async function applied(): Promise<Lab> {
  const lab = new Lab()
  await lab.run(() => lab.apply([shop()]))
  return lab
}

/** What the plan asks of the ledger's secrets: which objects, and how many requests there had been. */
function askedBy(lab: Lab, answer: Awaited<ReturnType<NonNullable<Planning['secretStates']>>> = () => 'same') {
  const before = lab.requests.length
  const asked: {readonly keys: readonly string[]; readonly requests: number}[] = []
  const secretStates: Planning['secretStates'] = pairs => {
    asked.push({keys: [...pairs.keys()], requests: lab.requests.length - before})
    return Promise.resolve(answer)
  }
  return {asked, secretStates}
}

describe('what a ledger knows of secrets', () => {
  it('is worked out while the live state is read, for the objects that have any', async () => {
    const lab = await applied()
    const {asked, secretStates} = askedBy(lab)
    const {plan} = await lab.run(() => lab.plan([shop()], {secretStates}))
    expect(asked.map(it => ({...it, requests: Math.min(it.requests, 1)}))).toEqual([
      {keys: [expect.stringContaining('anna')], requests: 0},
      {keys: [expect.stringContaining('anna'), expect.stringContaining('bert')], requests: 1},
    ])
    expect(plan.operations.map(it => it.action)).toEqual(['no-op', 'no-op'])
  })

  it('is not worked out for what is not selected', async () => {
    const lab = await applied()
    const {asked, secretStates} = askedBy(lab)
    await lab.run(() => lab.plan([shop()], {secretStates, selection: {target: ['null_resource.bert'], exclude: []}}))
    expect(asked[0]?.keys).toEqual([])
  })

  it('is what is told of it in the end', async () => {
    const lab = await applied()
    const {secretStates} = askedBy(lab, () => 'changed')
    const {plan} = await lab.run(() => lab.plan([shop()], {secretStates}))
    expect(plan.operations.find(it => it.address.endsWith('anna'))).toMatchObject({action: 'update', changes: [{path: '/password'}]})
  })

  it('fails once, with its own error, where it cannot be told', async () => {
    const lab = await applied()
    const secretStates: Planning['secretStates'] = () => Promise.reject(new Error('another key'))
    await expect(lab.run(() => lab.plan([shop()], {secretStates}))).rejects.toThrow('another key')
  })
})
