import {describe, expect, it} from 'vitest'
import {z} from 'zod'
import {judge} from '../../src/base/judge.ts'

const schema = z.object({list: z.array(z.object({a: z.string(), b: z.string()}))})
const wrong = (count: number) => ({list: Array.from({length: count}, () => ({}))})

describe('what a schema says of a value', () => {
  it('is all that is wrong with it', () => {
    expect(judge(schema, wrong(100)).error?.issues).toHaveLength(200)
  })

  it('is what is wrong first, where the value is large', () => {
    const {error} = judge(schema, {list: [{a: '', b: ''}, ...wrong(20_000).list]})
    expect(error?.issues.map(it => it.path)).toEqual([['list', 1, 'a']])
  })

  it('is the value where nothing is', () => {
    expect(judge(schema, {list: [{a: '', b: '', c: 1}]})).toEqual({success: true, data: {list: [{a: '', b: ''}]}})
  })
})
