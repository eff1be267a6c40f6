import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {parseJson} from '../../../src/base/bounded-json.ts'
import {letters} from '../../../src/base/letters.ts'
import {stackDocument} from '../../../src/declaration/files/stack-document.ts'
import {messagesOf, read, readAll, type StackText} from '../read/read-stack.ts'

const subscription = (triggers: Record<string, string> = {}, more: Record<string, unknown> = {}): StackText => ({
  objects: {p: ['cloud.subscription', {name: 'p'}, triggers, more as never]},
})
const said = (text: StackText): string => messagesOf(() => read(text)).join('\n')
const deep = (levels: number, inner = ''): string => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`
const parse = (text: string) => stackDocument('shop', undefined, [{name: 'main.tf.json', shown: 'main.tf.json', text}])

describe('what a stack may make of itself', () => {
  it('is 50 000 objects in all stacks of an app, and no object more is made before that is known', () => {
    expect(said(subscription({}, {count: 1e9}))).toContain('count makes 1000000000 objects, and the stacks of an app may have 50000 in all')
    const stacks = {a: subscription({}, {count: 49_999}), b: subscription({}, {for_each: {x: 1, y: 2}})}
    expect(messagesOf(() => readAll(stacks, {mode: 'validate', selected: ['b']})).join('\n')).toContain('for_each makes 2 objects')
  })

  it.each([
    ['deep JSON in a spec', {spec: `{"name": "p", "x": ${deep(20_000)}}`}, 'the trigger "spec" goes more than 100 levels deep'],
    ['a deep policy', {policy: `{"exclusive": ${deep(20_000)}}`}, 'the trigger "policy" goes more than 100 levels deep'],
    ['a deep pointer', {[`spec${'/a'.repeat(20_000)}`]: '${1}'}, 'goes more than 100 levels deep'],
    ['a far slot of a list', {spec: '{"name": "p", "x": []}', 'spec/x/1000000000': '${1}'}, 'names the slot 1000000000 of a list'],
    ['a deep decoded text', {'json/x': `\${jsondecode("${deep(300)}")}`}, 'goes more than'],
    ['an endless expression', {'spec/x': `\${${'1+'.repeat(600_000)}1}`}, 'the expression has more than 1000000 characters'],
    ['brackets without end', {'json/x': `\${${deep(50_000, '1')}}`}, 'deep'],
  ])('is bounded: %s', (_, triggers, problem) => {
    expect(said(subscription(triggers))).toContain(problem)
  })

  it.each([
    ['a template of 140 000 parts', {'spec/x': '${""}'.repeat(140_000)}, ''],
    ['a list of 300 000', {'spec/x': `\${[${'1,'.repeat(300_000)}1]}`}, ''],
    [
      'a call with 150 000 arguments',
      {'spec/x': `\${max(${'1,'.repeat(150_000)}1)}`},
      'no more than 20000 arguments, and there are 150001',
    ],
    ['a call with the items of a list', {'spec/x': '${max([for x in split("", local.a): 1]...)}'}, 'no more than 20000 arguments'],
  ])('does not run out of stack where it is wide: %s', (_, triggers, problem) => {
    const messages = () => messagesOf(() => read({...subscription(triggers), locals: {a: 'x'.repeat(200_000)}})).join('\n')
    if (problem === '') expect(() => read(subscription(triggers))).not.toThrow()
    else expect(messages()).toContain(problem)
  })

  it('is bounded in all: locals that double, and large values of many objects', () => {
    const locals: Record<string, string> = {a0: 'x'.repeat(1000)}
    for (let i = 1; i < 40; i++) locals[`a${i}`] = `\${local.a${i - 1}}\${local.a${i - 1}}`
    expect(said({...subscription({'spec/x': '${local.a39}'}), locals})).toContain('longer than 4000000 characters')
    const objects = Object.fromEntries(
      Array.from({length: 60}, (_, i) => [`p${i}`, ['cloud.subscription', {name: `p${i}`}, {'spec/x': `\${local.a}${i}`}] as const]),
    )
    expect(said({objects, locals: {a: 'x'.repeat(3_000_000)}})).toContain('the large values of the app have more than 20000000 parts')
  })

  const loop = (value: string, times = 1000) => `\${length([for a in range(${times}): [for b in range(1000): ${value}]])}`
  const many = {
    l: '${flatten([for a in range(80): range(1000)])}',
    o: Object.fromEntries(Array.from({length: 80_000}, (_, i) => [`k${i}`, i])),
  }

  // Without a bound on what a function does with large arguments each of these takes minutes, and some hours.
  it.each([
    ['index', loop('index(local.r, 1023)'), {r: '${range(1024)}'}],
    ['==', loop('local.l == concat(local.l)'), many],
    ['merge', loop('length(merge(local.o, {a = 1}))'), many],
    ['jsonencode', loop('md5(jsonencode(local.l))'), many],
    ['a search', '${strcontains(local.t, local.p)}', {t: 'a'.repeat(1_000_000), p: `${'a'.repeat(250_000)}b${'a'.repeat(250_000)}`}],
    ['formatlist', `\${formatlist("${'%.0[1]s'.repeat(10_000)}", split("", local.t))}`, {t: 'a'.repeat(50_000)}],
    ['replace by groups that are not there', `\${replace(local.t, "/a/", "${'$9'.repeat(50_000)}")}`, {t: 'a'.repeat(50_000)}],
    ['fractions', '${length([for a in range(1000): length([for b in range(300): a / 3.7 * 1.1])])}', {}],
    ['an error that is tried', '${length([for a in range(1000): length([for b in range(300): try(local.o.none, 1)])])}', many],
    ['keys of objects', '${length([for a in range(1000): keys(null_resource.p)])}', {}],
  ])(
    'is bounded where a function takes long: %s',
    (_, expression, locals) => {
      const objects = {
        p: ['cloud.subscription', {name: 'p'}, {}, {for_each: '${{for i in range(1000): "x${i}" => i}}'}],
        q: ['cloud.subscription', {name: 'q'}, {'spec/x': expression}, {count: 12}],
      } as const
      const began = process.cpuUsage()
      expect(messagesOf(() => read({objects, locals}, {mode: 'validate'})).join('\n')).toMatch(/take more than|more than 500000 parts/)
      expect(process.cpuUsage(began).user / 1e6).toBeLessThan(25)
    },
    120_000,
  )

  it('takes no time by the square of a list in matchkeys and transpose, nor for what a format cuts off', () => {
    const locals = {l: many.l, o: Object.fromEntries(Array.from({length: 40_000}, (_, i) => [`k${i}`, ['a']])), t: 'a'.repeat(900_000)}
    for (const value of [
      'length(matchkeys(local.l, local.l, [-1]))',
      'length(transpose(local.o))',
      `format("${'%.0[1]s'.repeat(10_000)}", local.t)`,
    ]) {
      const began = process.cpuUsage()
      expect(said({...subscription({'spec/x': `\${${value}}`}), locals})).toBe('')
      expect(process.cpuUsage(began).user / 1e6).toBeLessThan(10)
    }
  }, 60_000)

  it('is nothing that many objects do with what they look up in a large list or map', () => {
    const triggers = {
      'spec/name': '${upper("p")}-${format("%05d", count.index)}',
      'spec/x': '${lookup(local.o, "k${count.index}", 1) + element(local.l, count.index) + length(local.l)}',
      'json/tags': '${jsonencode(merge(local.tags, {a = local.o["k${count.index}"], b = try(local.o.none, 2)}))}',
      'spec/y': '${contains(local.few, "k7") ? join("-", ["a", count.index]) : ""}',
    }
    const locals = {...many, tags: {x: '1', y: '2'}, few: Array.from({length: 20}, (_, i) => `k${i}`)}
    expect(said({objects: {p: ['cloud.subscription', {name: 'p'}, triggers, {count: 50_000}]}, locals})).toBe('')
  }, 60_000)

  it('is not told more than a thousand times what is wrong with it', () => {
    const wrong = subscription({'spec/x': '${nothing(count.index)}'}, {count: 5000})
    expect(messagesOf(() => read(wrong))).toHaveLength(1000)
    expect(() => read(wrong)).toThrow('the stacks have more than 1000 problems; nothing was sent')
  })

  it.each([
    ['replace', '${replace(local.a, "a", local.a)}'],
    ['replace of nothing', '${replace(local.a, "", local.a)}'],
    ['replace by a pattern', '${replace(local.a, "/a/", local.a)}'],
    ['replace by groups', `\${replace(local.a, "/(a+)/", "${'$1'.repeat(10_000)}")}`],
    ['join', '${join(local.a, split("", local.a))}'],
    ['indent', '${indent(1000, replace(local.a, "a", "\\n"))}'],
    ['format', `\${format("${'%[1]s'.repeat(10_000)}", local.a)}`],
    ['formatlist', '${formatlist("%s%s", split("", local.a), local.a)}'],
    ['a template', `${'${local.a}'.repeat(10_000)}`],
  ])('is no text that grows beyond measure: %s', (_, expression) => {
    expect(said({...subscription({'spec/x': expression}), locals: {a: 'a'.repeat(50_000)}})).toMatch(
      /the text would be longer than [14]000000 characters/,
    )
  })

  it('is a file whose texts are megabytes long', () => {
    expect(() => parse(`{"//": {"metadata": "${'a\\n'.repeat(900_000)}"}}`)).not.toThrow()
    expect(() => parse(`{"//": {"metadata": "${'a'.repeat(20_000_000)}"}}`)).not.toThrow()
  })
})

describe('functions of text', () => {
  const of = (value: string) => said(subscription({'spec/x': `\${${value}}`}))

  // By the square of their length these would take minutes.
  it.each([
    ['letters', `length("${'ab'.repeat(100_000)}")`],
    ['letters of many signs', `strrev("${'👨‍👩‍👧'.repeat(30_000)}")`],
    ['line ends in the middle', `chomp("${'\\n'.repeat(300_000)}x")`],
    ['spaces in the middle', `trimspace("x${' '.repeat(300_000)}x")`],
  ])('take time by the length of the text: %s', (_, value) => {
    expect(of(value)).toBe('')
  })

  it('count letters as the segmenter does, however long the text is', () => {
    const bits = [
      'a',
      'e\u0301',
      '👨‍👩‍👧',
      '🇩🇪',
      '🇫',
      '\u{1f44d}\u{1f3fd}',
      '\r\n',
      '\n',
      'क्षि',
      '\u0301',
      '\u{e0100}',
      'ᄀ',
      'ᅡ',
      'ᆨ',
      '\u200d',
      'x'.repeat(300),
    ]
    const text = fc.array(fc.constantFrom(...bits), {maxLength: 400}).map(it => it.join(''))
    const whole = (it: string) => Array.from(new Intl.Segmenter('en').segment(it), ({segment}) => segment)
    fc.assert(
      fc.property(text, it => {
        expect(letters(it)).toEqual(whole(it))
      }),
      {numRuns: 60},
    )
  })
})

describe('a number larger than any', () => {
  it.each([
    ['a literal', '${1e999999999 * 2}', 'the number is larger than any that JSON has'],
    ['a product', '${1e308 * 10}', 'the result is no finite number'],
    ['a sum', '${sum([1e308, 1e308])}', 'the result is no finite number'],
    ['a quotient', '${1e308 / 1e-300}', 'the result is no finite number'],
    ['a power', '${pow(10, pow(10, 10))}', 'the result is no finite number'],
    ['a text of digits', `\${parseint("${'9'.repeat(400)}", 10)}`, 'the result is no finite number'],
    ['a text', '${"1e999" + 1}', 'must be a number'],
    ['decoded', '${jsondecode("[1e999]")}', 'has a number larger than any that can be computed with'],
  ])('is a problem with its place, and not null: %s', (_, expression, problem) => {
    expect(said(subscription({'spec/x': expression}))).toContain(problem)
  })
})

describe('what an expression names', () => {
  it.each(['constructor', '__proto__', 'toString'])('is nothing that JavaScript has of itself: [[:%s:]]', name => {
    expect(said(subscription({'spec/x': `\${regex("[[:${name}:]]", "x")}`}))).toContain('does not evaluate')
  })

  it('may be half of a letter, and is what UTF-8 makes of it', () => {
    expect(messagesOf(() => read(subscription({'spec/x': '${urlencode("\ud800")}'})))).toEqual([])
  })
})

describe('a field called __proto__', () => {
  it.each([
    ['in a spec', {spec: '{"name": "p", "__proto__": {"x": 1}}'}],
    ['deep in a spec', {spec: '{"name": "p", "a": [{"__proto__": 1}]}'}],
    ['in a pointer', {'spec/__proto__/x': '${1}'}],
    ['in an object of an expression', {'json/x': '${jsonencode({b = {"__proto__" = {a = 1}}})}'}],
    ['in a decoded text', {'json/x': '${jsondecode("{\\"__proto__\\":{\\"a\\":1}}")}'}],
  ])('%s is a problem of its own and is never dropped', (_, triggers) => {
    expect(said(subscription(triggers))).toContain('"__proto__"')
  })

  it.each(['{"locals": {"__proto__": 1}}', '{"locals": {"\\u005f_proto__": 1}}'])('in a stack file names its place: %s', text => {
    expect(() => parse(text)).toThrow('main.tf.json:1: it has a field called "__proto__"')
  })
})

describe('JSON from outside', () => {
  it('goes no deeper than functions can follow, and is a syntax error to whoever asks for no more', () => {
    expect(parseJson(deep(1000))).toHaveLength(1)
    expect(() => parseJson(deep(1001))).toThrow(SyntaxError)
    expect(() => parseJson(deep(1001))).toThrow('goes more than 1000 levels deep')
    expect(() => parseJson('{"a": {"__proto__": 1}}')).toThrow('__proto__')
  })
})
