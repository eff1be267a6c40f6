import {describe, expect, it} from 'vitest'
import {renderOutput, renderShown} from '../../src/report/output-format.ts'
import {table} from '../../src/report/table.ts'
import {harmless, oneLine, paintedLine, visibleLine} from '../../src/report/terminal-text.ts'

describe('a table', () => {
  it('is as wide as a terminal shows, whatever the characters', async () => {
    const rows = [
      {name: '日本', gb: 1},
      {name: 'ñandú', gb: 10},
      {name: 'e\u0301', gb: 100},
      {name: '👨‍👩‍👧', gb: 2},
    ]
    const text = await table(rows, [
      {title: 'name', value: row => row.name},
      {title: 'gb', value: row => row.gb, align: 'right'},
    ])
    expect(text).toBe(['NAME    GB', '日本     1', 'ñandú   10', 'e\u0301      100', '👨‍👩‍👧       2'].join('\n'))
  })

  it('keeps a hostile name on its line and without power over the terminal', async () => {
    const text = await table([{name: 'a\u001b[2J\u001b]0;title\u0007b\nc\u202e\u0000d'}], [{title: 'name', value: row => row.name}])
    expect(text).toBe('NAME\nab cd')
  })

  it('is made from any list of objects, with every field of any row', async () => {
    expect(await renderOutput([{a: 1}, {a: 22, b: {x: 1}}], 'table')).toBe(' A  B\n 1  -\n22  {"x":1}\n')
  })

  it('of an object lists its fields, of a scalar is the scalar, of nothing is nothing', async () => {
    expect(await renderOutput({name: 'a', size: null}, 'table')).toBe('FIELD  VALUE\nname   a\nsize   -\n')
    expect(await renderOutput('plain', 'table')).toBe('plain\n')
    expect(await renderOutput([], 'table')).toBe('')
    expect(await renderOutput(null, 'text')).toBe('')
  })

  it('cuts a long cell where it is told how wide one may be, and shows that it did', async () => {
    const columns = [{title: 'a', value: (row: {readonly a: string}) => row.a}]
    expect(await table([{a: 'x'.repeat(100)}], columns, 80)).toBe(`A\n${'x'.repeat(79)}…`)
    expect(await table([{a: 'x'.repeat(100)}], columns)).toBe(`A\n${'x'.repeat(100)}`)
  })

  // By the square of its length it would take minutes.
  it('takes time by the length of a cell, whatever is in it', async () => {
    const columns = [{title: 'a', value: (row: {readonly a: string}) => row.a}]
    for (const sign of ['漢', '👨‍👩‍👧']) {
      const long = sign.repeat(60_000)
      expect(await table([{a: long}], columns, 80)).toBe(`A\n${sign.repeat(39)}…`)
      expect(await table([{a: long}], columns)).toBe(`A\n${long}`)
    }
  })
})

describe('a document', () => {
  it('is not looked through for a text or a table that is made otherwise, and is shown to one that asks for it', async () => {
    let looks = 0
    const shown = () => {
      looks++
      return {password: '[redacted]'}
    }
    expect(await renderShown(shown, 'text', {text: () => 'two plans'})).toBe('two plans\n')
    expect(await renderShown(shown, 'table', {table: () => 'A'})).toBe('A\n')
    expect(looks).toBe(0)
    expect(await renderShown(shown, 'text', {text: it => JSON.stringify(it())})).toBe('{"password":"[redacted]"}\n')
    expect(await renderShown(shown, 'yaml', {text: () => 'prose'})).toBe('password: "[redacted]"\n')
    expect(looks).toBe(2)
  })
})

describe('JSON and YAML', () => {
  it('write exact integers as plain digits', async () => {
    expect(await renderOutput({id: 9007199254740993n}, 'json')).toBe('{\n  "id": 9007199254740993\n}\n')
    expect(await renderOutput({id: 9007199254740993n}, 'yaml')).toBe('id: 9007199254740993\n')
  })

  it('quote text in YAML that other readers would take for something else', async () => {
    expect(await renderOutput(['no', '1e3', '2026-01-01', '0123', 'text'], 'yaml')).toBe(
      '- "no"\n- "1e3"\n- "2026-01-01"\n- "0123"\n- text\n',
    )
  })
})

describe('text from outside', () => {
  it('loses escape sequences and control characters, and keeps lines and tabs', () => {
    expect(harmless('a\u001b[31mred\u001b[0m\tb\nc\u0007\u009b31m')).toBe('ared\tb\nc')
  })

  it('says nothing that nobody sees', () => {
    const tags = [...'delete all'].map(it => String.fromCodePoint(0xe0000 + (it.codePointAt(0) ?? 0))).join('')
    const selectors = '\ufe00\ufe01\u{e0100}\u{e0101}'
    const others = '\u00ad\u034f\u115f\u17b4\u180e\u200b\u2060\u206a\u3164\ufeff\uffa0\ufffa\u{1d173}'
    for (const hidden of [tags, selectors, others]) {
      const text = `prod${hidden}-eu`
      expect(harmless(text)).toBe(hidden === selectors ? 'prod\ufe00\ufe01-eu' : 'prod-eu')
      for (const shown of [visibleLine(text), paintedLine(text)]) expect(shown).not.toMatch(/(?![\ufe00\ufe01])\p{DI}/u)
    }
    expect(visibleLine('a\u{e0041}\u00ad')).toBe('a\\u{e0041}\\u00ad')
  })

  it('keeps the letters of emoji and of scripts that have joiners', () => {
    for (const text of ['❤️‍🔥', '👨‍👩‍👧', 'می‌خواهم', '葛\u{e0100}']) {
      expect(harmless(text)).toBe(text)
      expect(visibleLine(text)).toBe(text)
    }
  })

  it('becomes one line', () => {
    expect(oneLine('  a\r\n\tb\u2028c  ')).toBe('a bc')
    const words = 'a '.repeat(15_000_000)
    expect(oneLine(words) === words.trimEnd()).toBe(true)
  })
})
