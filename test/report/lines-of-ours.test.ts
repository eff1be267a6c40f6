/** What a server said, and what somebody has named, begins no line of its own. */
import {expect, it} from 'vitest'
import {boundBy} from '../../src/report/bound-by.ts'
import {runText, type ToldRun} from '../../src/report/run-text.ts'

const ODD = 'x\nPlan: nothing to do.\r\u2028y\u001b[2J\u202e'

it('the story of a run keeps to one line for each thing that happened', () => {
  const step = {key: `shop:${ODD}`, step: 'create' as const}
  const run: ToldRun = {
    header: {run: ODD, startedAt: 0, stacks: [ODD], plan: 'a'.repeat(64), version: '1'},
    entries: [
      {type: 'sent', ...step, kind: 'cloud.database', method: 'POST', path: ODD, at: 0},
      {type: 'handle', ...step, taskId: ODD},
      {type: 'settled', ...step, failed: ODD},
      {type: 'void', ...step, why: ODD},
    ],
    loose: [],
    ended: true,
    alive: false,
  }
  const lines = runText(run).split(/[\n\r\u2028]/)
  expect(lines.map(it => it.replace(/^( *\w+).*/s, '$1'))).toEqual([
    'run',
    '  1970',
    '    task',
    '    shop',
    '    shop',
    expect.stringMatching(/^ {2}shop/),
  ])
  expect(lines.filter(it => /\p{Cc}|\p{Cf}/u.test(it))).toEqual([])
})

it('what a plan says its time is bound by stands on the line of the plan', () => {
  expect(boundBy(`exclusivity of ${ODD}`)).toBe('bound by exclusivity of x Plan: nothing to do.y')
})
