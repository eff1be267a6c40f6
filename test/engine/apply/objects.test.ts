import {expect, it} from 'vitest'
import {Objects} from '../../../src/engine/apply/objects.ts'

it('an object that is known under one key is no other key’s, however alike the two are called', () => {
  const objects = new Objects()
  objects.set('shop:null_resource.a', 'cloud/subscriptions/1')
  expect(objects.isAnothers('shop:null_resource.b', 'cloud/subscriptions/1')).toBe(true)
  expect(objects.isAnothers('shop:null_resource.a', 'cloud/subscriptions/1')).toBe(false)
  expect(objects.isAnothers('shop:null_resource.b', 'cloud/subscriptions/2')).toBe(false)
})
