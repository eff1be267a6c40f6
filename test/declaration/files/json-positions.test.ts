import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {JsonPlaceError, jsonFault, lineFinder, positionsIn} from '../../../src/declaration/files/json-positions.ts'

const refusedByUs = (text: string): boolean => {
  try {
    positionsIn(text, 3)
    return false
  } catch (error) {
    if (error instanceof JsonPlaceError) return true
    throw error
  }
}

const refusedByNode = (text: string): boolean => {
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

describe('positions in JSON', () => {
  it('are those of keys, down to the wanted depth, and a list is no level', () => {
    const text = '{"a": {"b": [{"c": {"d": 1}}]}, "a": 2, "\\u0061": 3}'
    const {offsets, twice} = positionsIn(text, 3)
    expect([...offsets]).toEqual([
      ['a', text.indexOf('"\\u0061"')],
      ['a\0b', 7],
      ['a\0b\0c', 14],
    ])
    expect(twice.map(it => [it.path, it.offset])).toEqual([
      [['a'], text.lastIndexOf('"a"')],
      [['a'], text.indexOf('"\\u0061"')],
    ])
  })

  it.each([
    ['', 'a value is expected, and the file ends at character 1'],
    ['{a: 1}', 'a key in quotes is expected at character 2'],
    ['{"a" 1}', '":" is expected at character 6'],
    ['{"a": }', 'a value is expected at character 7'],
    ['{"a": 1,}', 'a key in quotes is expected at character 9'],
    ['{"a": 1 "b": 2}', '"," or "}" is expected at character 9'],
    ['[1 2]', '"," or "]" is expected at character 4'],
    ['[1,]', 'a value is expected at character 4'],
    ['{"a": "secret}', 'a value is expected at character 7'],
    ['{} {}', 'the end is expected at character 4'],
    ['{"a": 1 // no\n}', '"," or "}" is expected at character 9'],
    ['\ufeff{}', 'a value is expected at character 1'],
    ['{"a": 01}', '"," or "}" is expected at character 8'],
  ])('tell what is wrong with %j without quoting it', (text, fault) => {
    expect(jsonFault(text)).toBe(fault)
  })

  it('are not looked for where that takes a hundred times what the text is worth: 60 MB of blanks took 2 GB', () => {
    const million = 1_000_000
    for (const cheap of [`${'\n'.repeat(million)}{"a":1}`, `["${'\\n'.repeat(million)}","\\n${' '.repeat(million + 1)}"]`])
      expect(refusedByUs(cheap)).toBe(false)
    expect(jsonFault(`{"a":${' \n'.repeat(million / 2)}\t1}`)).toBe('more than a million blanks follow each other at character 1000006')
    expect(jsonFault(`["${'\\"'.repeat(million + 1)}"]`)).toBe('a text has more than a million escapes at character 2000004')
  })

  it('refuse exactly what JSON.parse refuses', () => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '"a"',
        '"\\u00e9"',
        '"\\x"',
        '"\t"',
        '"',
        '1',
        '-',
        '01',
        '1.',
        '1e5',
        '.5',
        '+1',
        'true',
        'nul',
        'NaN',
      ],
      ...[' ', '\n', '\ufeff', '\u00a0', '\u2028', '\v', '//', '/*', '*/', "'a'", '\u0000', '"\u2028"', '"\u007f"'],
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.array(piece, {maxLength: 8}).map(it => it.join('')),
        ),
        text => {
          fc.pre(!text.includes('__proto__'))
          expect(refusedByUs(text)).toBe(refusedByNode(text))
        },
      ),
      {numRuns: 3_000},
    )
  })
})

describe('lines in a text', () => {
  it('are those of its line breaks, wherever they stand', () => {
    for (const text of ['', '\n', 'a\nb', 'a\n'.repeat(5000), `${'x'.repeat(4095)}\n${'y'.repeat(4096)}\n`, '\n'.repeat(9000)]) {
      const lineOf = lineFinder(text)
      for (let at = text.length; at >= 0; at -= 1 + Math.floor(text.length / 997))
        expect(lineOf(at)).toBe(text.slice(0, at).split('\n').length)
    }
  })
})
