import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {parseSpelledJson, stringifyExactJson} from '../../src/base/lossless-json.ts'
import {parseMaskedJson, parseSpelledBytes} from '../../src/base/masked-json.ts'
import {Redactor} from '../../src/base/redact.ts'
import {maskSecrets} from '../../src/base/secret-fields.ts'
import {showJson} from '../../src/base/shown-json.ts'
import {seedOr} from '../support/seed.ts'

const SEED = seedOr(20_261_122)
const SECRET = 'pa"ss…wörd/\u202e1'
const redactor = new Redactor()
for (const secret of [SECRET, 'tiny-token', 'abc', '12345678']) redactor.register(secret)

const wholly = (text: string) => stringifyExactJson(redactor.value(maskSecrets(parseSpelledJson(text))), 2)
const inParts = (text: string | Uint8Array, stretchBytes: number) => {
  const parts = showJson(typeof text === 'string' ? Buffer.from(text) : text, {redactor, stretchBytes})
  return parts && Buffer.concat(parts).toString()
}

/** Numbers as servers spell them, and as they should not. */
const number = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '-0.0',
    '1.10',
    '1e400',
    '1e-400',
    '1E5',
    '9007199254740993',
    '0.1000000000000000055',
    '0.0000001',
    '12345678',
  ),
  fc.integer().map(String),
  fc.double({noNaN: true, noDefaultInfinity: true}).map(String),
  fc.tuple(fc.integer(), fc.nat(), fc.constantFrom('', 'e3', 'E-12', 'e+300')).map(([a, b, e]) => `${a}.${b}${e}`),
  fc.bigInt(-(2n ** 80n), 2n ** 80n).map(String),
)
/** The same text with letters as escapes. */
const escaped = (text: string) =>
  JSON.stringify(text).replace(/(?<!\\(?:u[\da-f]{0,3})?)[ac-eg-mo-qsv-z:]/g, it => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`)
const string = fc.oneof(
  fc
    .constantFrom(
      SECRET,
      `x${SECRET}y`,
      'abc',
      'tiny-token',
      'ti…',
      'a\u009b31m\u202e',
      '-----BEGIN X KEY-----',
      '[{,"\\',
      'é'.repeat(40),
      '\ud800',
    )
    .map(it => JSON.stringify(it)),
  fc.constantFrom('"\\u0074iny-token"', '"\\/\\u00e9"', '"\\ud83d\\ude00"', '"\\u202e"'),
  fc.string({unit: 'grapheme', maxLength: 12}).map(it => JSON.stringify(it)),
  fc.string({maxLength: 6}).map(escaped),
)
const key = fc.oneof(
  {weight: 12, arbitrary: fc.string({unit: 'grapheme-ascii', minLength: 2, maxLength: 6}).map(it => JSON.stringify(it))},
  {weight: 4, arbitrary: fc.constantFrom('"a"', '"b"', '"name"', '"password"', '"p\\u0061ssword"', '"api_key"', '"__proto__"')},
  {weight: 1, arbitrary: fc.constantFrom('"1"', '"07"', '"0"', JSON.stringify(SECRET), '"k\\u202e"')},
)
const blank = fc.constantFrom('', '', '', ' ', '\n\t', ' '.repeat(30))
const list = (items: fc.Arbitrary<string>, brackets: string) =>
  fc.tuple(fc.array(items, {maxLength: 6}), blank).map(([them, space]) => `${brackets[0]}${space}${them.join(`${space},`)}${brackets[1]}`)
const json = fc.letrec<{value: string; container: string}>(tie => ({
  value: fc.oneof(
    {depthSize: 'large', maxDepth: 5, withCrossShrink: true},
    fc.oneof(number, string, fc.constantFrom('null', 'true', 'false')),
    tie('container'),
  ),
  container: fc.oneof(
    list(tie('value'), '[]'),
    list(
      fc.tuple(key, blank, tie('value')).map(([name, space, value]) => `${name}${space}:${space}${value}`),
      '{}',
    ),
  ),
})).container
const stretch = fc.integer({min: 1, max: 80})
/** CI says 2. */
const RUNS = Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1) >= 2 ? 4000 : 500

describe('a large JSON text', () => {
  it('is shown in parts as it is shown as a whole', {timeout: 240_000}, () => {
    let taken = 0
    fc.assert(
      fc.property(json, stretch, (text, stretchBytes) => {
        const shown = inParts(text, stretchBytes)
        if (shown === undefined) return
        taken++
        expect(shown).toBe(`${wholly(text)}\n`)
      }),
      {numRuns: RUNS, seed: SEED},
    )
    expect(taken).toBeGreaterThan(RUNS / 4)
  })

  it('is in parts what it is as a whole', {timeout: 240_000}, () => {
    fc.assert(
      fc.property(json, stretch, (text, stretchBytes) => {
        const whole = maskSecrets(parseSpelledJson(text))
        const parts = parseMaskedJson(Buffer.from(text), stretchBytes)
        expect(stringifyExactJson(parts)).toBe(stringifyExactJson(whole))
        expect(parts).toStrictEqual(whole)
        expect(stringifyExactJson(parseSpelledBytes(Buffer.from(text), stretchBytes))).toBe(stringifyExactJson(parseSpelledJson(text)))
      }),
      {numRuns: RUNS, seed: SEED},
    )
  })

  it('may begin with a byte order mark', () => {
    const bytes = Buffer.from('\ufeff{"a": [1, 2, 3]}')
    for (const stretchBytes of [1, 80]) {
      expect(parseMaskedJson(bytes, stretchBytes)).toEqual({a: [1, 2, 3]})
      expect(parseSpelledBytes(bytes, stretchBytes)).toEqual({a: [1, 2, 3]})
    }
  })

  it('is not shown when it is none as a whole, wherever it is broken', () => {
    const edit = fc.tuple(
      fc.double({min: 0, max: 1, noNaN: true}),
      fc.nat(2),
      fc.constantFrom(...'[]{},:"\\1e-. \u00a0', ',,', '\ufeff', 'x', '}{', '],['),
    )
    fc.assert(
      fc.property(json, fc.array(edit, {minLength: 1, maxLength: 2}), stretch, (text, edits, stretchBytes) => {
        const broken = edits.reduce((it, [at, cut, put]) => it.slice(0, at * it.length) + put + it.slice(at * it.length + cut), text)
        const shown = inParts(broken, stretchBytes)
        if (shown !== undefined) expect(shown).toBe(`${wholly(broken)}\n`)
        expect(resultOf(() => stringifyExactJson(parseMaskedJson(Buffer.from(broken), stretchBytes)))).toBe(
          resultOf(() => stringifyExactJson(maskSecrets(parseSpelledJson(broken.replace(/^\ufeff/, ''))))),
        )
      }),
      {numRuns: 2 * RUNS, seed: SEED},
    )
  })

  it.each([
    '[1,2,]',
    '[1,,2]',
    '[,1]',
    '{"a":1,}',
    '[1}',
    '[1]]',
    '[1][2]',
    '{"a":1[2]}',
    '{"a"[2]}',
    '[[1] [2]]',
    '[\u00a0[1,2]]',
    '[[1,2]',
    '',
  ])('is no document: %s', text => {
    for (const stretchBytes of [1, 2, 3, 4, 5]) {
      expect(inParts(text, stretchBytes)).toBeUndefined()
      expect(() => parseMaskedJson(Buffer.from(text), stretchBytes)).toThrow(SyntaxError)
    }
  })

  it('has its bounds: levels and values', () => {
    const deep = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`
    expect(inParts(deep(1000), 10)).toBe(`${wholly(deep(1000))}\n`)
    expect(inParts(deep(1001), 10)).toBeUndefined()
    expect(() => parseMaskedJson(Buffer.from(deep(1001)))).toThrow('goes more than 1000 levels deep')
    const many = Buffer.from(`[${'[],'.repeat(2_500_001)}0]`)
    expect(showJson(many, {redactor})).toBeUndefined()
    expect(() => parseMaskedJson(many)).toThrow('would take more than 112 MiB of memory')
    expect(() => parseMaskedJson(Buffer.from(`{${'"a":1,'.repeat(5_000_001)}"b":0}`))).toThrow('holds more than 5000000 values')
  })

  it.each([
    ['a million objects', '{},'],
    ['a key for each object', (at: number) => `{"k${at}":1},`],
  ])('is shown in parts, and is too much where all of it is kept: %s', (_, item) => {
    const items = Array.from({length: 1_300_000 / (typeof item === 'string' ? 1 : 3)}, (_, at) =>
      typeof item === 'string' ? item : item(at),
    )
    const bytes = Buffer.from(`[${items.join('')}0]`)
    expect(showJson(bytes, {redactor})).toBeDefined()
    expect(() => parseMaskedJson(bytes)).toThrow('would take more than 112 MiB of memory')
  })

  it('takes bytes that are no letters as they are taken of the whole', () => {
    const bytes = Buffer.concat([
      Buffer.from('[["a",1],"b'),
      Buffer.from([0xe2, 0x82]),
      Buffer.from('",'),
      Buffer.from('"\xff"]', 'latin1'),
    ])
    for (const stretchBytes of [1, 3, 9]) expect(inParts(bytes, stretchBytes)).toBe(`${wholly(bytes.toString())}\n`)
  })

  it('does not let a secret out between two of its parts, nor the beginning of one', () => {
    const rows = Array.from({length: 40}, (_, at) => ({name: `${'x'.repeat(at)}${SECRET}`, cut: `${'x'.repeat(at)}${SECRET.slice(0, 5)}…`}))
    for (const stretchBytes of [1, 10, 100, 1000]) {
      const shown = inParts(JSON.stringify({rows}), stretchBytes) ?? ''
      expect(shown).toBe(`${wholly(JSON.stringify({rows}))}\n`)
      expect(shown).not.toMatch(/pa\\?"ss/)
    }
  })
})

function resultOf(make: () => string): string {
  try {
    return make()
  } catch (error) {
    return String(error)
  }
}
