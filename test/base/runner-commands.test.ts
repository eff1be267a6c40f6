import {describe, expect, it} from 'vitest'
import {withoutCommands} from '../../src/base/runner-commands.ts'
import {processorTime} from '../support/processor-time.ts'

describe('commands of the runner of a CI job', () => {
  it.each([
    ['::error::x', '\\u003a:error::x'],
    ['a\n  ::set-output name=hash::x', 'a\n  \\u003a:set-output name=hash::x'],
    ['a\r::debug::x', 'a\r\\u003a:debug::x'],
    ['\u2028::debug::x', '\u2028\\u003a:debug::x'],
    ['::add-mask::a\n::add-mask::b', '\\u003a:add-mask::a\n\\u003a:add-mask::b'],
    ['a ::error::x', 'a ::error::x'],
    ['::set-output name', '::set-output name'],
    ['::set-output name\n::', '::set-output name\n::'],
    ['## [a] ##[b] ##vso[c]', '## [a] \\u0023#[b] \\u0023#vso[c]'],
  ])('stand in %j as %j', (text, shown) => {
    expect(withoutCommands(text)).toBe(shown)
  })

  it.each([
    ['blanks', ' '.repeat(5_000_000)],
    ['blanks before a letter in each line', `${' '.repeat(100_000)}x\n`.repeat(20)],
    ['ends of lines', '\r\n'.repeat(1_000_000)],
    ['beginnings of commands', '::a '.repeat(500_000)],
    ['commands', '::a::'.repeat(200_000)],
    ['marks', '#'.repeat(2_000_000)],
  ])('are looked for in a table of %s at once', (_, text) => {
    const takenMs = processorTime()
    withoutCommands(text)
    expect(takenMs()).toBeLessThan(4_000)
  })
})
