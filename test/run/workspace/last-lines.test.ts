/** What is kept of a program that writes without an end. */
import {describe, expect, it} from 'vitest'
import {LastLines} from '../../../src/run/workspace/last-lines.ts'

describe('what the app of cdktf.json says', () => {
  it('is kept whole where it is not much', () => {
    const said = new LastLines()
    for (const line of ['one', 'two']) said.add(line)
    expect(said.all).toEqual(['one', 'two'])
  })

  it('is kept from its end where it has many lines, and says how many are left out', () => {
    const said = new LastLines()
    for (let i = 1; i <= 5_000; i++) said.add(`line ${i}`)
    const [first, ...rest] = said.all
    expect(first).toBe(`(${5_000 - rest.length} lines of the app are not shown)`)
    expect(rest.length).toBeLessThanOrEqual(2_000)
    expect(rest.at(-1)).toBe('line 5000')
  })

  it('takes no more than a few MiB where its lines are long', () => {
    const said = new LastLines()
    for (let i = 0; i < 2_000; i++) said.add(`${i} ${'A'.repeat(65_536)}`)
    expect(said.all.join('').length).toBeLessThan(2 * 1_048_576)
    expect(said.all.at(-1)).toMatch(/^1999 A/)
  })
})
