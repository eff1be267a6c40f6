import {expect, it} from 'vitest'
import {Objects} from '../../../src/engine/apply/objects.ts'

it('an object that is known under one key is no other key’s, however alike the two are called', () => {
  const objects = new Objects()
  objects.set('shop:null_resource.a', 'cloud/subscriptions/1')
  expect(objects.isAnothers('shop:null_resource.b', 'cloud/subscriptions/1')).toBe(true)
  expect(objects.isAnothers('shop:null_resource.a', 'cloud/subscriptions/1')).toBe(false)
  expect(objects.isAnothers('shop:null_resource.b', 'cloud/subscriptions/2')).toBe(false)
})

it('an object of the same path in another account is another object', () => {
  const objects = new Objects(stack => (stack === 'bill' ? 'two' : 'one'))
  objects.set('shop:null_resource.a', 'cloud/subscriptions/1')
  expect(objects.isAnothers('bill:null_resource.a', 'cloud/subscriptions/1')).toBe(false)
  expect(objects.isAnothers('desk:null_resource.a', 'cloud/subscriptions/1')).toBe(true)
})
