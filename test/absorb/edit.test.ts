/** One live value into code: only its characters change; what is no literal is named with its place. */
import {describe, expect, it} from 'vitest'
import {type EditWish, FileEdits} from '../../src/absorb/edit.ts'
import {readProgram} from '../../src/absorb/syntax.ts'
import type {Json} from '../../src/base/json.ts'

interface Case {
  readonly id?: string
  /** From 1; the line with `new` in it, where none is said. */
  readonly line?: number
  readonly path: string
  readonly declared: Json
  readonly live?: Json
  readonly siblings?: number
  readonly rule?: EditWish['rule']
  readonly file?: string
}

function put(text: string, {id = 'a', line, path, declared, live, siblings = 1, rule = {}, file = 'a.ts'}: Case) {
  const program = readProgram(text, file)
  if (program === undefined) throw new Error('it does not parse')
  const edits = new FileEdits(program)
  const made = line ?? text.split('\n').findIndex(it => /\bnew [A-Z]/.test(it)) + 1
  const result = edits.put({origin: {id, line: made, siblings}, path, declared, live, rule})
  return {text: edits.text, result}
}

/** The text between `«` and `»` is what is to be replaced. */
function edited(marked: string, by: string, wish: Case): void {
  const [before = '', old = '', after = ''] = marked.split(/[«»]/)
  const {text, result} = put(before + old + after, wish)
  expect(text).toBe(before + by + after)
  const head = before.split('\n')
  expect(result).toEqual({line: head.length, column: (head.at(-1)?.length ?? 0) + 1})
}

/** The text between `«` and `»` is the place that a person is sent to. */
function manual(marked: string, wish: Case, why: RegExp, edit?: string): void {
  const [before = '', found = '', after = ''] = marked.split(/[«»]/)
  const {text, result} = put(before + found + after, wish)
  expect(text).toBe(before + found + after)
  const head = before.split('\n')
  expect(result).toMatchObject({line: head.length, column: (head.at(-1)?.length ?? 0) + 1, found, why: expect.stringMatching(why)})
  if (edit !== undefined) expect(result).toMatchObject({edit})
}

const one = (fields: string) => `new Database(this, 'a', {subscription, ${fields}})\n`

describe('a literal in the object of a construct', () => {
  it('is a number', () => edited(one('memoryLimitInGb: «2», /* two */'), '4', {path: '/memoryLimitInGb', declared: 2, live: 4}))
  it('is a negative number, and one with a fraction', () =>
    edited(one('offset: «-1.5»'), '2.25', {path: '/offset', declared: -1.5, live: 2.25}))
  it('is a number with separators', () =>
    edited(one('memory_size: «104_857_600»'), '1_209_715_200', {path: '/memory_size', declared: 104_857_600, live: 1_209_715_200}))
  it('is a hexadecimal number', () => edited(one('mask: «0xff»'), '0x100', {path: '/mask', declared: 255, live: 256}))
  it('is a size with its unit, which stays where the size is a short one in it', () => {
    edited(one("memory_size: «'6GiB'»"), "'8GiB'", {path: '/memory_size', declared: 6 * 2 ** 30, live: 8 * 2 ** 30})
    edited(one('memory_size: «"1.5 GB"»'), '"2.5 GB"', {path: '/memory_size', declared: 1.5e9, live: 2.5e9})
    edited(one("memory_size: «'1GiB'»"), "'100MiB'", {path: '/memory_size', declared: 2 ** 30, live: 100 * 2 ** 20})
    edited(one("memory_size: «'1GiB'»"), "'1000000001B'", {path: '/memory_size', declared: 2 ** 30, live: 1_000_000_001})
  })
  it('is text in its own quotes, escaped', () => {
    edited(one("name: «'cache'»"), "'it\\'s \"new\"'", {path: '/name', declared: 'cache', live: 'it\'s "new"'})
    edited(one('name: «"cache"»'), '"a\\u{202e}b\\n"', {path: '/name', declared: 'cache', live: 'a\u202eb\n'})
    edited(one('name: «`cache`»'), '`\\${x} \\` \\\\`', {path: '/name', declared: 'cache', live: '${x} ` \\'})
  })
  it('is a boolean', () => edited(one('replication: «true»'), 'false', {path: '/replication', declared: true, live: false}))
  it('is deeper inside, in brackets, under a key in quotes', () => {
    edited(one("'backup': {interval: («6»), enabled: true}"), '12', {path: '/backup/interval', declared: 6, live: 12})
    edited(one("alerts: [{name: 'a', value: 1}, {name: 'b', value: «2»}] as const"), '3', {path: '/alerts/1/value', declared: 2, live: 3})
  })
  it('is told from those of other constructs in the same line, and in a construct of many lines', () => {
    edited(`new A(this, 'b', {size: 1}); new A(this, 'a', {size: «1»})`, '2', {path: '/size', declared: 1, live: 2})
    edited(`const x = new Database(\n  this,\n  'a',\n  {\n    // as small as can be\n    memoryLimitInGb: «2»,\n  },\n)\n`, '4', {
      path: '/memoryLimitInGb',
      declared: 2,
      live: 4,
    })
  })
  it('keeps every other byte: a mark at the beginning, ends of lines, text outside of ASCII', () =>
    edited(`\uFEFF// 日本 🎉\r\n\tnew Database(this, 'a', { name: "日本🎉",memoryLimitInGb:«2» } )\r\n`, '4', {
      path: '/memoryLimitInGb',
      declared: 2,
      live: 4,
    }))
  it('stands in unlisted({…}) as well, and behind it nothing is hidden', () => {
    edited(one('...unlisted({tls: «true»})'), 'false', {path: '/tls', declared: true, live: false})
    edited(one('memoryLimitInGb: «2», ...unlisted({tls: true})'), '4', {path: '/memoryLimitInGb', declared: 2, live: 4})
  })
  it('is found in JavaScript and in JSX', () => {
    edited(`new A(this, 'a', {n: «1»})`, '2', {file: 'a.js', path: '/n', declared: 1, live: 2})
    edited(`const b = <p>it</p>; new A(this, 'a', {n: «1»})`, '2', {file: 'a.tsx', path: '/n', declared: 1, live: 2})
  })
})

describe('a list of literals', () => {
  const alerts = {path: '/alerts', rule: {keyedBy: 'name'}} as const
  it('gets what is new at its end, in its own layout', () => {
    const declared = [{name: 'a', value: 1}]
    const live = [
      {name: 'a', value: 1},
      {name: 'b', value: 2},
    ]
    expect(put(one("alerts: [{name: 'a', value: 1}]"), {...alerts, declared, live}).text).toBe(
      one("alerts: [{name: 'a', value: 1}, {name: 'b', value: 2}]"),
    )
    expect(put(one('alerts: [\n  // first\n  { name: "a", value: 1 }, // one\n]'), {...alerts, declared, live}).text).toBe(
      one('alerts: [\n  // first\n  { name: "a", value: 1 },\n  { name: "b", value: 2 }, // one\n]'),
    )
  })
  it('loses what is gone, and the rest stays where it stands', () => {
    const declared = ['a', 'b', 'c', 'd']
    const cut = (live: string[]) => put(one("zones: ['a', 'b',  'c', 'd']"), {path: '/zones', declared, live}).text
    expect(cut(['a', 'c', 'd'])).toBe(one("zones: ['a', 'c', 'd']"))
    expect(cut(['a', 'b'])).toBe(one("zones: ['a', 'b']"))
    expect(cut(['c'])).toBe(one("zones: ['c']"))
    expect(cut(['d', 'e'])).toBe(one("zones: ['d', 'e']"))
    expect(cut([])).toBe(one('zones: []'))
    expect(cut(['x'])).toBe(one("zones: ['x']"))
  })
  it('changes an item in place where its key is the same', () => {
    const declared = [
      {name: 'a', value: 1},
      {name: 'b', value: 2},
    ]
    const {text} = put(one("alerts: [{name: 'a', value: 1}, {value: 2, name: 'b'}]"), {...alerts, declared, live: [{name: 'b', value: 9}]})
    expect(text).toBe(one("alerts: [{value: 9, name: 'b'}]"))
  })
  it('takes nothing that only the server adds', () => {
    const {text} = put(one("modules: [{name: 'json'}, {name: 'search'}]"), {
      path: '/modules',
      declared: [{name: 'json'}, {name: 'search'}],
      live: [{name: 'bf'}, {name: 'json'}],
      rule: {keyedBy: 'name', serverAdds: true},
    })
    expect(text).toBe(one("modules: [{name: 'json'}]"))
  })
  it('is left to a person where a comment would go with an item', () =>
    manual(one("zones: «['a', /* main */ 'b']»"), {path: '/zones', declared: ['a', 'b'], live: ['b']}, /comment/))
  it('is left to a person where a comment would go with an item that is written anew', () => {
    const declared = [{name: 'a', regions: ['x', 'y']}]
    const live = [{name: 'a', regions: ['x']}]
    manual(
      one("sites: «[{name: 'a', regions: ['x', /* for now */ 'y']}]»"),
      {path: '/sites', declared, live, rule: {keyedBy: 'name'}},
      /comment/,
    )
    manual(
      one("sites: «[{name: 'a' /* main */}]»"),
      {path: '/sites', declared: [{name: 'a'}], live: [{name: 'a', size: 1}], rule: {keyedBy: 'name'}},
      /comment/,
    )
    manual(one('zones: «[/* none yet */]»'), {path: '/zones', declared: [], live: ['a']}, /comment/)
  })
  it('keeps the comments of an item beside the field that differs', () =>
    expect(
      put(one("alerts: [{name: 'a' /* paged */, value: 1}]"), {...alerts, declared: [{name: 'a', value: 1}], live: [{name: 'a', value: 2}]})
        .text,
    ).toBe(one("alerts: [{name: 'a' /* paged */, value: 2}]")))
})

describe('a row of a table', () => {
  const table = (rows: string, loop: string) => `const databases = ${rows}\nfor (${loop}\n`
  const rows = (value: string) =>
    `[\n  {id: 'x', name: 'x', memoryLimitInGb: 1},\n  {id: 'a', name: 'a', memoryLimitInGb: ${value}},\n] as const`
  const wish = {path: '/memoryLimitInGb', declared: 2, live: 4, siblings: 2} as const

  it('is edited where the loop spreads it, reads it by name or as a whole', () => {
    const loops = [
      'const {id, ...own} of databases) new Database(this, id, {subscription, ...own, replication: true})',
      'const {id, memoryLimitInGb} of databases) new Database(this, id, {subscription, name: id, memoryLimitInGb})',
      'const {id, memoryLimitInGb: size} of databases) new Database(this, id, {memoryLimitInGb: size})',
      'const it of databases) new Database(this, it.id, {...it, subscription})',
      'const it of databases) { new Database(this, it.id, {memoryLimitInGb: it.memoryLimitInGb}) }',
    ]
    for (const loop of loops) edited(table(rows('«2»'), loop), '4', wish)
  })
  it('may stand in the loop itself', () =>
    edited(
      `for (const {id, ...own} of [{id: 'a', memoryLimitInGb: «2»}, {id: 'b', memoryLimitInGb: 2}]) new D(this, id, own2 ? {} : {...own})`.replace(
        'own2 ? {} : ',
        '',
      ),
      '4',
      wish,
    ))
  it('is left to a person where the value stands for all rows, or in no row', () => {
    const loop = 'const {id, ...own} of databases) new Database(this, id, {...own, replication: '
    manual(
      `${table(rows('2'), `${loop}«true»})`)}`,
      {path: '/replication', declared: true, live: false, siblings: 2},
      /stands for 2 objects/,
      'false',
    )
    manual(
      `const databases = [«{id: 'a', name: 'a'}»]\nfor (const {id, ...own} of databases) new D(this, id, {...own})\n`,
      wish,
      /does not stand in the object/,
      'memoryLimitInGb: 4',
    )
    manual(
      `const databases = «[{id: 'b', memoryLimitInGb: 2}]»\nfor (const {id, ...own} of databases) new D(this, id, {...own})\n`,
      wish,
      /no row has the id "a"/,
    )
  })
  it('is left to a person where the list stands elsewhere, or may change', () => {
    manual(
      `import {databases} from './rows.ts'\nfor (const {id, ...own} of «databases») new D(this, id, {...own})\n`,
      wish,
      /no list that stands in this file/,
    )
    manual(
      `let databases = [{id: 'a', memoryLimitInGb: 2}]\nfor (const {id, ...own} of «databases») new D(this, id, {...own})\n`,
      wish,
      /no list that stands in this file/,
    )
    manual(`for (const {id, ...own} of «rows()») new D(this, id, {...own})\n`, wish, /no list that stands in this file/)
    manual(`databases.forEach(({id, ...own}) => new D(this, id, {«...own»}))\n`, wish, /spread/)
  })
})

describe('what is no literal', () => {
  const wish = {path: '/memoryLimitInGb', declared: 2, live: 4} as const
  it('is named with its place, what stands there and what is wanted', () => {
    manual(one('memoryLimitInGb: «size»'), wish, /variable/, '4')
    manual(one('memoryLimitInGb: «sizes.small»'), wish, /variable/, '4')
    manual(one('memoryLimitInGb: «sizeOf(1)»'), wish, /call/, '4')
    manual(one('memoryLimitInGb: «large ? 4 : 2»'), wish, /expression/, '4')
    manual(one('memoryLimitInGb: «1 + 1»'), wish, /expression/, '4')
    manual(one('«...small»'), wish, /spread/, '4')
    manual(one('memoryLimitInGb: 2, «...small»'), wish, /behind it/, '4')
    manual(one('name: «`${prefix}-a`»'), {path: '/name', declared: 'x-a', live: 'b'}, /placeholder/, "'b'")
    manual(one("alerts: [{name: 'a', value: «limit»}]"), {path: '/alerts/0/value', declared: 1, live: 3}, /variable/, '3')
    manual(one("alerts: [«...common», {name: 'a', value: 1}]"), {path: '/alerts/0/value', declared: 1, live: 3}, /spread/, '3')
    manual(`new Database(this, 'a', «options»)\n`, wish, /variable/, '4')
    manual(`«new Database(this, 'a')»\n`, wish, /no object/, '4')
    manual(`new Database(this, 'a', «{subscription}»)\n`, wish, /file, an Aspect or an override/, 'memoryLimitInGb: 4')
  })
  it('is an Aspect or an override where the code says something else than the stack', () =>
    manual(one('memoryLimitInGb: «3»'), wish, /Aspect or an override/, '4'))
  it('is nothing to write where the live object shows nothing', () =>
    manual(one('backup: «{interval: 6}»'), {path: '/backup', declared: {interval: 6}}, /not there any more/, ''))
  it('is a line that makes no construct, or several that nobody can tell', () => {
    expect(put('makeAll(this)\n', {line: 1, ...wish}).result).toMatchObject({found: '', why: expect.stringMatching(/no construct/)})
    expect(put('new A(this, i, {n: 1}); new A(this, j, {n: 1})\n', {...wish}).result).toMatchObject({why: expect.stringMatching(/several/)})
  })
  it('is a file that cannot be parsed', () => {
    expect(readProgram('new A(', 'a.ts')).toBeUndefined()
  })
})
