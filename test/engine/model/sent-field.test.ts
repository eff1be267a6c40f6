import {expect, it} from 'vitest'
import {sendsField} from '../../../src/engine/model/sent-field.ts'

const change = (path: string) => ({path, before: 1, after: 2})

it.each(['create', 'replace'] as const)('a %s sends every field, changed or not', action => {
  expect(sendsField({action, changes: []}, '/password')).toBe(true)
})

it('an update sends the fields that change as a whole, and no others', () => {
  const update = {action: 'update', changes: [change('/alerts/0/value')]} as const
  expect(['/alerts', '/alerts/0/value', '/alerts/1/token', '/password', '/alerts2'].map(it => sendsField(update, it))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
})

it.each(['no-op', 'adopt', 'move', 'forget', 'delete', 'blocked'] as const)('%s sends no field at all', action => {
  expect(sendsField({action, changes: [change('/password')]}, '/password')).toBe(false)
})
