import {readFileSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {ExactNumber} from '../../src/base/lossless-json.ts'
import {Redactor} from '../../src/base/redact.ts'
import {compileQuery} from '../../src/report/query.ts'

const NO_SECRETS = new Redactor()

const ask = async (expression: string, document: Parameters<Awaited<ReturnType<typeof compileQuery>>>[0]) =>
  (await compileQuery(expression, NO_SECRETS))(document).document

describe('a query', () => {
  it('filters, projects and calls functions', async () => {
    const rows = [
      {name: 'b', gb: 2},
      {name: 'a', gb: 1},
    ]
    expect(await ask('[?gb > `1`].name', rows)).toEqual(['b'])
    expect(await ask('sort_by(@, &name)[*].gb', rows)).toEqual([1, 2])
    expect(await ask('length(@)', rows)).toBe(2)
    expect(await ask('[0].[name, gb]', rows)).toEqual(['b', 2])
    expect(await ask('[0].*', rows)).toEqual(['b', 2])
    expect(await ask('[0]."name"', rows)).toBe('b')
    expect(await ask('[0].{n: name, missing: nothing}', rows)).toEqual({n: 'b', missing: null})
  })

  it.each([
    ['reverse(message)', '"]detcader[ si drowssap eht"'],
    ['reverse(to_string(@))', null],
    ['sort_by([{a: message}], &a)[].a | [0] | reverse(@)', null],
    ['starts_with(message, `the password is corr`)', 'false'],
    ['map(&reverse(@), values(@))', null],
    ['message', null],
  ])('%s is told nothing of a secret that its functions could hide', async (expression, expected) => {
    const redactor = new Redactor()
    redactor.register('correct-horse-1')
    const query = await compileQuery(expression, redactor)
    const said = JSON.stringify(redactor.value(query({message: 'the password is correct-horse-1'}).document))
    for (const secret of ['correct-horse-1', '1-esroh-tcerroc']) expect(said).not.toContain(secret)
    if (expected !== null) expect(said).toBe(expected)
  })

  it.each([
    ['as many levels as a call stack has', `a${'.a'.repeat(4000)}`, 'it has more than 1000 words and signs'],
    ['as many brackets', '('.repeat(5000), 'it has more than 1000 words and signs'],
    ['more than can be read', `'${'x'.repeat(10_000)}'`, 'it has more than 10000 characters'],
  ])('of %s is refused before anything is asked', async (_, expression, reason) => {
    await expect(compileQuery(expression, NO_SECRETS)).rejects.toThrow(`the query (-q) is not valid JMESPath: ${reason}, at character 1\n`)
  })

  it.each([
    [
      'object of a great many fields',
      Object.fromEntries(Array.from({length: 200_001}, (_, at) => [`k${at}`, 1])),
      'an object of more than 200000 fields',
    ],
    [
      'list of as many numbers that are kept as text',
      Array.from({length: 1_000_001}, () => new ExactNumber('1e400')),
      'more than 1000000 numbers',
    ],
  ])('is not applied to an %s', async (_, document, fault) => {
    await expect(ask('length(@)', document)).rejects.toThrow(`the query (-q) length(@) is not applied: this answer has ${fault}`)
    await expect(ask('length(@)', [[document]])).rejects.toMatchObject({code: 'E_QUERY_SIZE', exit: 64})
  })

  it('makes no more of an answer than could have come', async () => {
    const doubled = Array.from({length: 40}, () => '[@,@]').join('|')
    await expect(ask(doubled, 1)).rejects.toThrow('what it makes of this answer has more than 5000000 values')
  })

  it('may have a thousand words and signs', async () => {
    expect(await ask(`a${'.a'.repeat(499)}`, {a: 1})).toBe(null)
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '[__proto__, constructor]', '{a: toString}'])(
    'sees nothing inherited: %s',
    async expression => {
      expect(JSON.stringify(await ask(expression, {a: 1}))).toMatch(/^(null|\[null,null\]|\{"a":null\})$/)
    },
  )

  it('sees a field of such a name where a document has one', async () => {
    const document = JSON.parse('{"__proto__": {"x": 1}, "toString": "text", "hasOwnProperty": 2}')
    expect(await ask('"__proto__".x', document)).toBe(1)
    expect(await ask('[toString, hasOwnProperty]', document)).toEqual(['text', 2])
  })

  it('keeps exact integers exact', async () => {
    const rows = [{id: 9007199254740995n}, {id: 9007199254740993n}]
    expect(await ask('[*].id', rows)).toEqual([9007199254740995n, 9007199254740993n])
    expect(await ask('sort_by(@, &id)[0].id', rows)).toBe(9007199254740993n)
  })

  it.each([
    ['a[', 2],
    ['a..b', 2],
    ['a.', 2],
    ['a.`1`', 2],
    ['foo.bar)', 7],
    ['a[?b ==]', 7],
    ['a # b', 2],
    ['', 0],
    ['[0', 2],
    ['a | | b', 4],
  ])('that does not parse says where: %j at %i', async (expression, position) => {
    await expect(compileQuery(expression, NO_SECRETS)).rejects.toMatchObject({code: 'E_QUERY_SYNTAX', exit: 64, position})
  })

  it('sorts numbers by value and text by its characters', async () => {
    expect(await ask('sort([].a)', [{a: 10}, {a: 9}, {a: -1}])).toEqual([-1, 9, 10])
    expect(await ask("{x: sort(@)[0], y: [sort(sort(@))], z: 'sort(@)'}", [10, 9])).toEqual({x: 9, y: [[9, 10]], z: 'sort(@)'})
    expect(await ask('sort(@)', ['b', 'B', 'a'])).toEqual(['B', 'a', 'b'])
    expect(await ask('sort(@)', [])).toEqual([])
    await expect(ask('sort(@)', ['b', 1])).rejects.toMatchObject({code: 'E_QUERY_EVALUATION'})
    await expect(ask('sort(@, @)', [1])).rejects.toMatchObject({exit: 64})
  })

  it('that is nothing but a reference to an expression is refused', async () => {
    await expect(compileQuery('&age', NO_SECRETS)).rejects.toMatchObject({code: 'E_QUERY_SYNTAX', position: 0})
  })

  it.each([
    ['`a` < `b`', true],
    ["'2' < `10`", true],
    ["contains('1', `1`)", true],
    ['contains(`[[1]]`, `[1]`)', false],
    ["length('\u{1f600}')", 2],
    ["to_number('')", 0],
    ["to_number('0x10')", 16],
    ['max_by(`[{"a":"x"}]`, &a)', null],
    ["'open", 'open'],
    ['`01`', '01'],
    ['`[1]`[::1:]', [1]],
  ])('differs from the specification where docs/queries.md says so: %s', async (expression, answer) => {
    expect(await ask(expression, {})).toEqual(answer)
    const page = readFileSync(new URL('../../docs/queries.md', import.meta.url), 'utf8')
    expect(page).toContain(expression.replace('\u{1f600}', '…'))
  })

  it('that calls an unknown function names the nearest one', async () => {
    await expect(compileQuery('a.lenght(@)', NO_SECRETS)).rejects.toMatchObject({
      code: 'E_QUERY_SYNTAX',
      suggestions: ['Did you mean length()?'],
    })
  })

  it('that does not fit the answer is an error, not a crash', async () => {
    await expect(ask('sum(@)', [{a: 1}])).rejects.toMatchObject({code: 'E_QUERY_EVALUATION', exit: 64})
  })
})
