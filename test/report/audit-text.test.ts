import {Ansis} from 'ansis'
import {expect, it} from 'vitest'
import {historyText} from '../../src/report/audit-text.ts'

it('a history shows no line that a moment in it makes up', () => {
  const event = {stack: 'shop', seq: 1, event: 'hold', by: 'ada', at: 'x\nforged', approvedBy: 'grace', approvedAt: 'y\nforged'}
  const text = historyText([event], [], new Ansis(0))
  expect(text.split('\n')).toHaveLength(2)
})
