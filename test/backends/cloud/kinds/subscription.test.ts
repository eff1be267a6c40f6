import {describe, expect, it} from 'vitest'
import {cloudSubscription} from '../../../../src/backends/cloud/kinds/subscription.ts'
import {diffFields} from '../../../../src/engine/model/diff.ts'
import {idOf} from '../../../../src/engine/model/kind.ts'

describe('a cloud subscription', () => {
  it('is found by its name, and its id is read in either spelling', () => {
    const {key} = cloudSubscription.identity
    expect(key({name: 'orders'})).toBe('orders')
    expect([
      idOf(cloudSubscription, {id: 12}),
      idOf(cloudSubscription, {subscriptionId: '12', id: 5}),
      idOf(cloudSubscription, {name: 'orders'}),
    ]).toEqual(['12', '12', undefined])
  })

  it('takes the fields of its create body as they are, and refuses wrong types of those it knows', () => {
    expect(cloudSubscription.spec.safeParse({name: 'orders', memoryStorage: 'ram', paymentMethodId: 7}).success).toBe(true)
    expect(cloudSubscription.spec.safeParse({name: 'orders', paymentMethodId: 'seven'}).success).toBe(false)
    expect(cloudSubscription.spec.safeParse({memoryStorage: 'ram'}).success).toBe(false)
  })

  it('is unchanged when it comes back in the spelling of the answer', () => {
    const declared = {
      name: 'orders',
      paymentMethodId: 7,
      paymentMethod: 'credit-card',
      cloudProviders: [{provider: 'AWS', regions: [{region: 'us-east-1'}, {region: 'eu-west-1'}]}],
    }
    const live = cloudSubscription.normalize({
      subscriptionId: 12,
      name: 'orders',
      paymentMethod: {id: 7, type: 'credit-card'},
      cloudDetails: [{provider: 'AWS', totalSizeInGb: 2, regions: [{region: 'eu-west-1'}, {region: 'us-east-1', multi: false}]}],
    })
    expect(diffFields({kind: cloudSubscription, declared, live, ignore: [], secretState: () => 'same'})).toEqual({
      changes: [],
      immutable: [],
      missingInLive: [],
      assumed: [],
    })
  })

  it('keeps its own spelling where the answer has it already', () => {
    const row = {id: 1, paymentMethod: 'marketplace', cloudProviders: [], cloudDetails: [{provider: 'GCP'}]}
    expect(cloudSubscription.normalize(row)).toEqual(row)
    expect(cloudSubscription.normalize({id: 1, name: 'a'})).toEqual({id: 1, name: 'a'})
  })

  it('is ready when active, failed on error, leaving while it is deleted, and on its way in every other status', () => {
    const states = ['active', 'pending', 'deleting', 'new-word', 'error', undefined]
    expect(states.map(status => cloudSubscription.ready(status === undefined ? {} : {status}))).toEqual([
      'ready',
      'waiting',
      'leaving',
      'waiting',
      'failed',
      'ready',
    ])
  })
})
