import {expect, it} from 'vitest'
import {absorbText} from '../../src/report/absorb-text.ts'

const field = {
  stack: 'shop',
  address: 'null_resource.cache',
  path: '/memoryLimitInGb',
  before: 1,
  after: 2,
  file: 'shop.ts',
  line: 3,
  column: 4,
}
const byHand = {...field, path: '/port', found: 'port', edit: '7000', why: 'it is computed'}
const lastLines = (text: string) => text.slice(text.indexOf('\n\n') + 2).split('\n')

it('an absorb says what was verified, and what is left', () => {
  expect(lastLines(absorbText({absorbed: [field], manual: [], proof: 'empty'}, true))).toEqual([
    'Verified: a plan of the edited program leaves the 1 field written above as it is.',
  ])
  expect(lastLines(absorbText({absorbed: [field, field], manual: [byHand], proof: 'empty'}, true))).toEqual([
    'Verified: a plan of the edited program leaves the 2 fields written above as they are.',
    'Left: 1 field to edit by hand.',
  ])
})
