import {describe, expect, it} from 'vitest'
import {parse, stringify} from 'yaml'
import {type ExactJson, ExactNumber} from '../../src/base/lossless-json.ts'
import {yamlText} from '../../src/report/yaml-text.ts'

/** Pieces of texts that YAML writes in one way or another, by what stands beside them. */
const PIECES = [
  ...['a', 'é', '日本', '😀', '0', '1', '_', '/', '-', '- ', '?', '? ', ' ', '  ', '\t', '\n', '\n\n', '\r\n', ':', ': ', ':80', '#', ' #'],
  ...['"', "'", '\\', '%', '---', '...', '[', ']', '{', '}', ',', '&', '*', '!', '|', '>', '@', '`', '~', '=', '<<', '$', '(x)', '+1'],
  ...['null', 'yes', 'No', 'Y', 'true', '0x1f', '0b1', '0o7', '1e3', '.5', '5.', '1_000', '12:30', '1:2:3.5', '-0', '.inf', '.nan'],
  ...['2026-01-01', '2026-01-01T10:00:00Z', 'http://x:80/y', 'two words', 'ends ', 'ends:', '\u00a0', '\ufeff', '\u0000', '[redacted]'],
]
/** The library writes them as they are, and other readers take them for something else. */
const AMBIGUOUS = /^(?:<<|=|[-+]?0o[0-7]+)$/
const texts = PIECES.flatMap((one, at) => [
  one,
  ...PIECES.filter((_, by) => (at + by) % 9 === 0).map(it => one + it),
  `${one}b c${one}`,
]).filter(it => !AMBIGUOUS.test(it))

const byLibrary = (document: unknown): string => stringify(document, {lineWidth: 0, aliasDuplicateObjects: false, version: '1.1'})

describe('YAML', () => {
  it('is what the library writes, of any text as a value, an item and a key on any level', () => {
    const byText = Object.fromEntries(texts.map(text => [text, text]))
    const documents = [byText, texts, {within: byText, list: texts.map(text => [text, [[text]], {a: 1, [text]: {[text]: [text]}}])}]
    for (const document of documents) expect(yamlText(document)).toBe(byLibrary(document))
  })

  it('is read as what was written where there are too many texts to ask the library for each', () => {
    const many = Array.from({length: 100_050}, (_, at) => `\n${at}: "`)
    const lines = yamlText([...many, Object.fromEntries(many.slice(-50).map(text => [text, text]))]).split('\n')
    const rest = lines.slice(lines.indexOf('- "\\n100000: \\""'))
    expect(parse(rest.join('\n'), {version: '1.1'})).toEqual([
      ...many.slice(-50),
      Object.fromEntries(many.slice(-50).map(text => [text, text])),
    ])
  })

  it.each([1_000_000, 1_000_001, 20_000_000])('is read as what was written of a text of %d letters, however it goes on', length => {
    for (const piece of ['x', 'a ', 'a: ', '-', 'é', '1']) {
      const text = piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
      expect(yamlText({a: text}).length).toBeGreaterThan(length)
      if (length <= 1_000_001) expect(parse(yamlText([text])), piece).toEqual([text])
      expect(yamlText(text).length).toBeGreaterThan(length)
    }
  })

  it('is what the library writes of a text that is all there is', () => {
    for (const text of texts.filter((_, at) => at % 3 === 0)) expect(yamlText(text)).toBe(byLibrary(text))
  })

  it('is what the library writes of lists and objects in each other, empty ones too', () => {
    const documents: ExactJson[] = [
      ...[[], {}, null, true, 0, -0, 1.5, 1e21, 1e-7, '', [[]], [{}], {a: []}, {a: {}}, [[], [[1], 2]], [{a: [{b: {}}]}]],
      {a: [{b: 1, c: [1, [2, {d: 3}]]}, null], e: {f: {g: [[[]]]}}, 1: 2},
      {['k'.repeat(1_100)]: 1, a: {['k'.repeat(1_100)]: {b: [1]}, ['"k'.repeat(600)]: [1, 2]}},
      [{['k'.repeat(1_023)]: null, ['k'.repeat(1_025)]: 'a\nb'}],
    ]
    for (const document of documents) expect(yamlText(document)).toBe(byLibrary(document))
  })

  it('leaves out what is undefined, and what becomes empty by that is empty', () => {
    const document = {a: undefined, b: {c: undefined}, d: [{e: undefined, f: 1}]} as unknown as ExactJson
    expect(yamlText(document)).toBe('b: {}\nd:\n  - f: 1\n')
  })

  it('keeps every digit, and the name of every field', () => {
    const document = {...JSON.parse('{"__proto__": [1]}'), 'a b': new ExactNumber('1.10'), m: [9007199254740993n, new ExactNumber('-0')]}
    Object.defineProperty(document, '__proto__', {value: [1], enumerable: true})
    expect(yamlText(document)).toContain('__proto__:\n  - 1\n')
    expect(yamlText(document)).toContain('a b: 1.10\nm:\n  - 9007199254740993\n  - -0\n')
  })

  it('writes what a terminal or a runner would act on as an escape, in values and in keys', () => {
    const document = {'a\u202eb': '##[add-mask]x', c: ['::set-output name=a::b', '\u009b31m']}
    expect(yamlText(document)).toBe('"a\\u202eb": "\\u0023#[add-mask]x"\nc:\n  - "::set-output name=a::b"\n  - "\\u009b31m"\n')
    expect(parse(yamlText(document), {version: '1.1'})).toEqual(document)
  })

  it('quotes what merges objects, and what is a number to some readers, wherever it stands', () => {
    const row = {name: 'cache', '<<': {status: 'active'}, '=': '=', port: '0o14', list: ['<<']}
    expect(yamlText(row)).toBe('name: cache\n"<<":\n  status: active\n"=": "="\nport: "0o14"\nlist:\n  - "<<"\n')
    expect(yamlText('-0o14')).toBe('"-0o14"\n')
  })

  it('is read back as what was written', () => {
    const lines = texts.filter(it => !/[\r\n\ufeff]|^<<$/.test(it))
    const document = {lines, byText: Object.fromEntries(lines.map(text => [text, text]))}
    expect(parse(yamlText(document), {version: '1.1', merge: false})).toEqual(document)
  })
})
