/** Expressions against Terraform's own console where it is installed, and against written-out values where it is not. */
import {spawnSync} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import type {Json} from '../../../src/base/json.ts'
import {stackDocument} from '../../../src/declaration/files/stack-document.ts'
import {evaluateNode} from '../../../src/declaration/language/evaluate-expression.ts'
import {parseExpression} from '../../../src/declaration/language/expression-parser.ts'
import type {Names} from '../../../src/declaration/language/names.ts'
import {FUNCTION_NAMES} from '../../../src/declaration/language/not-evaluated.ts'
import {ExpressionError} from '../../../src/declaration/language/values/errors.ts'
import {type Node, partsOf, printTemplate} from '../../../src/declaration/language/values/expression.ts'
import {nodeOf, Open, opensIn, revealed} from '../../../src/declaration/language/values/open-value.ts'
import {evaluate} from '../../../src/declaration/read/residual.ts'
import {Deferred} from '../../../src/engine/model/value.ts'
import {messagesOf, read, type StackText} from '../read/read-stack.ts'

/** An expression and its value. */
const VALUES: readonly (readonly [string, Json])[] = [
  // operators
  ['1 + 2 * 3', 7],
  ['(1 + 2) * 3', 9],
  ['10 - 2 - 3', 5],
  ['2 * 3 % 4', 2],
  ['-7 % 3', -1],
  ['7 % -3', 1],
  ['5.5 % 2', 1.5],
  ['7 / 2', 3.5],
  ['0.1 + 0.2', 0.3],
  ['0.3 / 0.1', 3],
  ['1.1 * 3', 3.3],
  ['- -1', 1],
  ['-(1 + 2)', -3],
  ['"2" + 3', 5],
  ['1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3', true],
  ['"10" > 9', true],
  ['1 == 1.0', true],
  ['1 == "1"', false],
  ['"a" != "b"', true],
  ['null == null', true],
  ['[1, 2] == [1, 2]', true],
  ['{a = 1} == {a = 2}', false],
  ['true || false && false', true],
  ['!true || !false', true],
  ['!(1 == 2)', true],
  ['"true" && true', true],
  ['1 + 2 == 3 && 2 > 1', true],
  ['1 == 2 == false', true],
  // conditions
  ['true ? 1 : 2', 1],
  ['false ? 1 : 2', 2],
  ['"true" ? "a" : "b"', 'a'],
  ['true ? 1 : "a"', '1'],
  ['false ? true : "a"', 'a'],
  ['true ? true : "a"', 'true'],
  ['true ? null : "a"', null],
  ['false ? 1 : true ? 2 : 3', 2],
  ['1 > 2 ? "a" : 2 > 1 ? "b" : "c"', 'b'],
  ['true ? [1, "a"] : []', ['1', 'a']],
  ['true ? [] : ["a"]', []],
  ['true ? {a = 1} : {a = "x"}', {a: '1'}],
  ['true ? ["a"] : [1, 2]', ['a']],
  ['true ? 1 : 1 / 0', 1],
  ['"${true ? "a" : "b"}-x"', 'a-x'],
  // for and splat
  ['[for x in [1, 2, 3] : x * 2]', [2, 4, 6]],
  ['[for i, x in ["a", "b"] : "${i}${x}"]', ['0a', '1b']],
  ['[for x in [1, 2, 3] : x if x > 1]', [2, 3]],
  ['{for x in ["a", "b"] : x => upper(x)}', {a: 'A', b: 'B'}],
  ['{for k, v in {b = 1, a = 2} : v => k}', {'1': 'b', '2': 'a'}],
  ['[for k, v in {b = 1, a = 2} : k]', ['a', 'b']],
  ['{for x in ["a", "b", "ab"] : length(x) => x...}', {'1': ['a', 'b'], '2': ['ab']}],
  ['{for k, v in toset(["b", "a"]) : k => v}', {a: 'a', b: 'b'}],
  ['[for x in [[1, 2], [3]] : [for y in x : y + 1]]', [[2, 3], [4]]],
  ['[for x in [1] : [for x in [2] : x]]', [[2]]],
  ['[{a = 1}, {a = 2}][*].a', [1, 2]],
  ['[{a = {b = 1}}, {a = {b = 2}}].*.a.b', [1, 2]],
  ['[[1, 2], [3, 4]][*][0]', [1, 3]],
  ['{a = 1}[*].a', [1]],
  ['"x"[*]', ['x']],
  ['null[*]', []],
  ['[{a = [1, 2]}, {a = [3, 4]}].*.a[1]', [3, 4]],
  ['max([1, 5, 3]...)', 5],
  ['join("-", [for x in [1, 2] : x])', '1-2'],
  // text
  ['format("%s-%d", "a", 3)', 'a-3'],
  ['format("%05d|%-5s|%5s|%+d", 42, "ab", "cd", 7)', '00042|ab   |   cd|+7'],
  ['format("%.2f %f %e", 3.14159, 2, 1234.5)', '3.14 2.000000 1.234500e+03'],
  ['format("%x %X %o %b", 255, 255, 8, 5)', 'ff FF 10 101'],
  ['format("%v %v %v %v", "a", 1.5, true, [1, "b"])', 'a 1.5 true [1,"b"]'],
  ['format("%q %#v %#v", "a\\"b", "x", {a = 1})', '"a\\"b" "x" {"a":1}'],
  ['format("%[2]s %[1]s", "a", "b")', 'b a'],
  ['format("%t %%", true)', 'true %'],
  ['format("%.2s|%08.3f|% d", "abcdef", 3.14159, 5)', 'ab|0003.142| 5'],
  ['format("%s %s", 1, true)', '1 true'],
  ['format("%d", "12")', '12'],
  ['format("%v %v %v %v", 1000000, 123456, 123456789012, 0.00001)', '1e+06 123456 1.23456789012e+11 1e-05'],
  ['format("%s", 1000000)', '1000000'],
  ['formatlist("%s-%s", ["a", "b"], "x")', ['a-x', 'b-x']],
  ['formatlist("%s%d", ["a", "b"], [1, 2])', ['a1', 'b2']],
  ['lower("ÀB")', 'àb'],
  ['upper("straße")', 'STRAßE'],
  ['title("hello wORLD foo-bar it\'s x_y")', "Hello WORLD Foo-Bar It'S X_y"],
  ['trimspace("  a b\\n")', 'a b'],
  ['trim("?!hello?!", "!?")', 'hello'],
  ['trimprefix("helloworld", "hello")', 'world'],
  ['trimsuffix("helloworld", "world")', 'hello'],
  ['chomp("a\\r\\n\\n")', 'a'],
  ['indent(2, "a\\nb\\nc")', 'a\n  b\n  c'],
  ['substr("hello world", 1, 4)', 'ello'],
  ['substr("hello", -3, -1)', 'llo'],
  ['substr("hello", 2, 100)', 'llo'],
  ['substr("🤔🤷", 0, 1)', '🤔'],
  ['strrev("hello")', 'olleh'],
  ['startswith("hello", "he")', true],
  ['endswith("hello", "lo")', true],
  ['strcontains("hello", "ell")', true],
  ['split(",", "a,b,,c")', ['a', 'b', '', 'c']],
  ['split("", "abc")', ['a', 'b', 'c']],
  ['split(",", "")', ['']],
  ['join(", ", ["a"], ["b", "c"])', 'a, b, c'],
  ['replace("1 + 2 + 3", "+", "-")', '1 - 2 - 3'],
  ['replace("hello world", "/w.*d/", "everybody")', 'hello everybody'],
  ['replace("a1b22", "/([a-z])([0-9]+)/", "$2$1")', '1a22b'],
  ['replace("a1", "/(?P<l>[a-z])/", "<$${1}>")', '<a>1'],
  ['regex("[a-z]+", "53453453.345345aaabbbccc23454")', 'aaabbbccc'],
  ['regex("(\\\\d\\\\d)-(\\\\w)", "x 12-a")', ['12', 'a']],
  [
    'regex("^(?:(?P<scheme>[^:/?#]+):)?(?://(?P<authority>[^/?#]*))?", "https://terraform.io/docs")',
    {scheme: 'https', authority: 'terraform.io'},
  ],
  ['regexall("[a-z]+", "1234abcd5678efgh9")', ['abcd', 'efgh']],
  ['regexall("x(y)?", "xxy")', [[null], ['y']]],
  ['length(regexall("a", "bbb"))', 0],
  ['regex("(?i)ABC", "xabcx")', 'abc'],
  ['regex("[[:digit:]]+\\\\s\\\\pL+", "ab 12 cde")', '12 cde'],
  ['regex(".", "\\nx")', 'x'],
  ['tostring(1.5)', '1.5'],
  ['tostring(true)', 'true'],
  ['tostring(null)', null],
  ['urlencode("a b&c=d/ä~*")', 'a+b%26c%3Dd%2F%C3%A4~%2A'],
  // numbers
  ['abs(-1.5)', 1.5],
  ['ceil(1.2)', 2],
  ['ceil(-0.5)', 0],
  ['floor(-1.2)', -2],
  ['floor("3.7")', 3],
  ['max(1, "12", 3)', 12],
  ['min(4, 2, 3)', 2],
  ['signum(-13)', -1],
  ['pow(3, 2)', 9],
  ['pow(4, 0.5)', 2],
  ['log(8, 2)', 3],
  ['parseint("ff", 16)', 255],
  ['parseint("-101", 2)', -5],
  ['range(3)', [0, 1, 2]],
  ['range(1, 4)', [1, 2, 3]],
  ['range(1, 8, 3)', [1, 4, 7]],
  ['range(4, 1)', [4, 3, 2]],
  ['range(0)', []],
  ['range(0, 1, 0.25)', [0, 0.25, 0.5, 0.75]],
  ['sum([1, 2.5, "3"])', 6.5],
  ['sum([0.1, 0.2])', 0.3],
  ['tonumber("12.50")', 12.5],
  ['tonumber(null)', null],
  ['tobool("true")', true],
  // collections
  ['length([1, 2])', 2],
  ['length({a = 1})', 1],
  ['length("héllo👍🏽")', 6],
  ['concat(["a"], [1], [])', ['a', 1]],
  ['contains(["a", "b"], "b")', true],
  ['contains([1, 2], "1")', false],
  ['distinct(["a", "b", "a"])', ['a', 'b']],
  ['flatten([["a", "b"], [], ["c", ["d"]]])', ['a', 'b', 'c', 'd']],
  ['compact(["a", "", "b", null])', ['a', 'b']],
  ['coalesce("", null, "a", "b")', 'a'],
  ['coalesce(null, 2)', 2],
  ['coalesce(1, "a")', '1'],
  ['coalescelist([], ["a"], ["b"])', ['a']],
  ['element(["a", "b"], 3)', 'b'],
  ['index(["a", "b"], "b")', 1],
  ['keys({b = 1, a = 2})', ['a', 'b']],
  ['values({b = 1, a = 2})', [2, 1]],
  ['lookup({a = "x"}, "a", "y")', 'x'],
  ['lookup({a = "x"}, "b", "y")', 'y'],
  ['merge({a = 1, b = 2}, {b = 3}, null)', {a: 1, b: 3}],
  ['merge()', {}],
  ['merge([{a = 1}, {b = 2}]...)', {a: 1, b: 2}],
  ['reverse([1, 2, 3])', [3, 2, 1]],
  ['slice(["a", "b", "c", "d"], 1, 3)', ['b', 'c']],
  ['sort(["b", "a", "B", "10", "9"])', ['10', '9', 'B', 'a', 'b']],
  ['one([])', null],
  ['one(["a"])', 'a'],
  ['zipmap(["a", "b"], [1, 2])', {a: 1, b: 2}],
  ['tolist(["a", 1])', ['a', '1']],
  ['tolist([true, "a"])', ['true', 'a']],
  ['toset(["b", "a", "b"])', ['a', 'b']],
  ['toset([10, 9, 9])', [9, 10]],
  ['tomap({a = 1, b = "x"})', {a: '1', b: 'x'}],
  ['setunion(["a"], ["b", "a"])', ['a', 'b']],
  ['setintersection(["a", "b"], ["b", "c"], ["b"])', ['b']],
  ['setsubtract(["a", "b"], ["b"])', ['a']],
  [
    'setproduct(["a", "b"], [1, 2])',
    [
      ['a', 1],
      ['a', 2],
      ['b', 1],
      ['b', 2],
    ],
  ],
  ['chunklist([1, 2, 3], 2)', [[1, 2], [3]]],
  ['matchkeys(["i1", "i2", "i3"], ["a", "b", "a"], ["a"])', ['i1', 'i3']],
  ['transpose({a = ["1", "2"], b = ["2"]})', {'1': ['a'], '2': ['a', 'b']}],
  ['alltrue([true, "true"])', true],
  ['alltrue([])', true],
  ['anytrue([false, true])', true],
  ['anytrue([])', false],
  // encodings
  ['jsonencode({b = [1, null], a = "<x>"})', '{"a":"\\u003cx\\u003e","b":[1,null]}'],
  ['jsondecode("{\\"a\\": [1, true, null]}")', {a: [1, true, null]}],
  ['jsondecode("1.50")', 1.5],
  ['base64encode("Hello ä")', 'SGVsbG8gw6Q='],
  ['base64decode("SGVsbG8gw6Q=")', 'Hello ä'],
  ['md5("a")', '0cc175b9c0f1b6a831c399e269772661'],
  ['sha1("a")', '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8'],
  [
    'sha256("a")',
    'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4fa9807785afee48bb'
      .padEnd(64, 'x')
      .replace(/^.*$/, 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb'),
  ],
  ['length(sha512("a"))', 128],
  ['base64sha256("a")', 'ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='],
  ['length(base64sha512("a"))', 88],
  // try and can
  ['try({a = 1}.b, "none")', 'none'],
  ['try([1][5], null, 2)', null],
  ['try(tonumber("x"), [1][2], 3)', 3],
  ['can(tonumber("x"))', false],
  ['can({a = 1}.a)', true],
]

/** Expressions without a value. Terraform gives 1 / 0 and 1 % 0 one, which no JSON can hold. */
const WRONG: readonly string[] = [
  '1 / 0',
  '1 % 0',
  '"a" + 1',
  '1 && true',
  '!"x"',
  'null + 1',
  '"a" < "b"',
  '5 ? 1 : 2',
  'null ? 1 : 2',
  'true ? [1] : "a"',
  'true ? 1 : true',
  '[for x in 5 : x]',
  '[for x in null : x]',
  '{for x in ["a", "a"] : x => 1}',
  '{for x in [null] : x => 1}',
  'toset(["a"])[0]',
  'element(toset(["a"]), 0)',
  'reverse("abc")',
  '[1, 2][2]',
  '{a = 1}.b',
  'one([1, 2])',
  'sum([])',
  'coalesce(null, "")',
  'coalescelist([], [])',
  'element([], 0)',
  'index(["a"], "b")',
  'lookup({a = 1}, "b")',
  'slice([1, 2], 1, 3)',
  'zipmap(["a"], [1, 2])',
  'range(0, 5, -1)',
  'range(2000)',
  'tonumber("x")',
  'tobool("yes")',
  'tostring([1])',
  'tolist({a = 1})',
  'tolist([[1], "a"])',
  'tomap(["a"])',
  'jsondecode("{")',
  'base64decode("!")',
  'parseint("12", 2)',
  'regex("a", "b")',
  'regex("(", "b")',
  'regex("(?=a)", "a")',
  'format("%d", 1.5)',
  'format("%d", "x")',
  'format("%s")',
  'format("%s", "a", "b")',
  'format("%z", 1)',
  'format("%s", [1])',
  'format("%", 1)',
  'formatlist("%s%s", ["a"], ["b", "c"])',
  'chunklist([1], -1)',
  'join(",", [null])',
  'join(",", [["a"]])',
  'split(",", null)',
  'upper([1])',
  'keys(["a"])',
  'merge({a = 1}, "x")',
  'concat(["a"], "b")',
  'flatten("a")',
  'contains("abc", "a")',
  'max()',
  'upper()',
  'upper("a", "b")',
  'try()',
  'substr("a", 0, "x")',
]

const noNames: Names = {
  root: (name, at) => {
    throw new ExpressionError(`no ${name}`, at)
  },
}
const value = (text: string): Json => evaluateNode(parseExpression(text), noNames) as Json

const environment = {PATH: process.env.PATH, HOME: tmpdir(), CHECKPOINT_DISABLE: '1'}
const missing = spawnSync('terraform', ['version'], {env: environment}).status !== 0
if (missing) console.warn('SKIPPED: expressions are not compared with Terraform, which is not installed')

/** What Terraform's console answers, `undefined` for an expression without a value. */
function consoleAnswers(expressions: readonly string[]): readonly (Json | undefined)[] {
  const folder = mkdtempSync(join(tmpdir(), 'terraform-console-'))
  try {
    const input = `base64encode(jsonencode([${expressions.map(it => `try(jsonencode(${it}), "")`).join(', ')}]))\n`
    const {stdout, stderr, status} = spawnSync('terraform', ['console'], {cwd: folder, env: environment, input, encoding: 'utf8'})
    if (status !== 0) throw new Error(`${stdout}${stderr}`)
    const answers = JSON.parse(Buffer.from(JSON.parse(stdout), 'base64').toString()) as readonly string[]
    return answers.map(text => (text === '' ? undefined : (JSON.parse(text) as Json)))
  } finally {
    rmSync(folder, {recursive: true})
  }
}

/** The tree with one literal after the other replaced by `open`. */
function* withOneOpen(node: Node): Generator<{readonly tree: Node; readonly value: string | number | boolean}> {
  const replacement: Node = {type: 'root', name: 'open', at: 0}
  if (node.type === 'literal') {
    if (node.value !== null) yield {tree: replacement, value: node.value}
    return
  }
  for (const part of partsOf(node)) for (const {tree, value} of withOneOpen(part)) yield {tree: replaced(node, part, tree), value}
}

function replaced(node: Node, part: Node, by: Node): Node {
  const swap = (it: unknown): unknown => (it === part ? by : Array.isArray(it) ? it.map(swap) : it)
  return Object.fromEntries(Object.entries(node).map(([field, it]) => [field, swap(it)])) as unknown as Node
}

// What stands in the result that is not taken matters as soon as nobody knows which one is.
const OPEN_CASES = VALUES.filter(([text]) => text !== 'true ? 1 : 1 / 0').flatMap(([text, expected]) =>
  [...withOneOpen(parseExpression(text))].map(({tree, value: at}) => ({text, expected, tree, value: at})),
)

/** `x` and `open` are a variable of which a plan keeps the name only. */
const openNames = (literal: string | number | boolean, state: 'secret' | 'later'): Names => ({
  root: (name, at) => {
    if (name !== 'x' && name !== 'open') return noNames.root(name, at)
    const as = {string: {}, number: {as: 'number'}, boolean: {as: 'bool'}}[typeof literal as 'string' | 'number' | 'boolean']
    const node: Node = {type: 'variable', stack: 'shop', name: 'x', ...as}
    return state === 'secret'
      ? new Open({node, value: literal, secret: true})
      : new Open({node, secret: false, needs: ['shop:null_resource.x']})
  },
})

/** Which expression is left would say whether there was an error. */
const CAUGHT = /^(?:try|can)\(/

/** Where a value decides what something is called it must be known and not secret. */
const MUST_BE_KNOWN = /the key of an object must be text that is known/

describe('an open value', () => {
  const lookup = (literal: string | number | boolean) => ({variable: () => String(literal), attribute: () => undefined})

  it.each(['secret', 'later'] as const)('that is %s goes through every operator and function, and is finished from what is left', state => {
    const wrong = OPEN_CASES.flatMap(({text, expected, tree, value: literal}) => {
      const label = `${text} with ${JSON.stringify(literal)}`
      try {
        const result = evaluateNode(tree, openNames(literal, state))
        const rest = nodeOf(result)
        if (rest === undefined && state === 'secret' && CAUGHT.test(text)) {
          expect(opensIn(result).every(open => open.secret)).toBe(true)
          expect(revealed(result)).toEqual(expected)
          return []
        }
        if (rest === undefined) return [`${label}: nothing is left`]
        const expression = printTemplate(rest, 'shop')
        expect(evaluate(expression, 'shop', lookup(literal)), expression).toEqual(expected)
        if (state === 'secret') expect(revealed(result)).toEqual(expected)
        else expect(opensIn(result).every(open => open.value === undefined && open.needs.length > 0)).toBe(true)
        return []
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        return MUST_BE_KNOWN.test(message) ? [] : [`${label}: ${message}`]
      }
    })
    expect(wrong).toEqual([])
  })

  it.each([
    'upper(x)',
    '"a${x}"',
    'x == "a"',
    'x == "hunter2" ? 1 : 2',
    '[for c in split("", x) : c]',
    '[for c in ["a"] : c if x == "hunter2"]',
    '{for c in ["a"] : x => c}',
    '[x][*]',
    'coalesce(x, "a")',
    'try(x, "a")',
    'jsonencode({a = x})',
    'sha256(x)',
    'contains([x], "a")',
    'flatten([[x]])',
    'join("", [for i in range(2) : x])',
    'merge({a = x}, {b = 1}).a',
    'zipmap(["a"], [x])',
    'element([x], 0)',
    'format("%s", x)',
    'regexall(".", x)',
    'substr(x, 0, 1)',
    'length(x)',
    '!can(tonumber(x)) ? x : "a"',
  ])('that is secret taints %s', text => {
    const result = evaluateNode(parseExpression(text), openNames('hunter2', 'secret'))
    const opens = opensIn(result)
    expect(opens.length).toBeGreaterThan(0)
    expect(opens.every(open => open.secret)).toBe(true)
    expect(printTemplate(nodeOf(result) ?? {type: 'literal', value: 'nothing'}, 'shop').replace(/== "hunter2"/g, '')).not.toContain(
      'hunter2',
    )
  })

  it.each(['tonumber(x)', 'x + 1', 'lookup({a = 1}, x)', '{a = 1}[x]', 'index(["a"], x)', 'jsondecode(x)', 'regex(x, "a")'])(
    'that is secret is not quoted when it does not fit: %s',
    text => {
      expect(() => evaluateNode(parseExpression(text), openNames('hunter2', 'secret'))).toThrow('a secret value does not fit here')
    },
  )
})

describe('a hostile expression is refused, and soon', () => {
  const deep = (open: string, close: string, levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`

  it.each([
    ['brackets', deep('(', ')', 50_000)],
    ['lists', deep('[', ']', 50_000)],
    ['calls', deep('abs(', ')', 50_000)],
    ['minus signs', `${'-'.repeat(50_000)}1`],
    ['conditions', `${'true ? '.repeat(20_000)}1${' : 2'.repeat(20_000)}`],
    ['conditions behind each other', `${'false ? 1 : '.repeat(20_000)}2`],
    ['a sum', Array.from({length: 50_000}, () => '1').join(' + ')],
    ['steps', `[1]${'[0]'.repeat(50_000)}`],
    ['splats', `[1]${'[*]'.repeat(50_000)}`],
    ['texts in texts', `${'"${'.repeat(20_000)}1${'}"'.repeat(20_000)}`],
    ['loops in loops', '[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a + b + c]]]'],
    ['a range', 'range(1000000000)'],
    ['a product', 'setproduct(range(1000), range(1000), range(1000))'],
    ['a width', 'format("%1000000000d", 1)'],
    [
      'text upon text',
      '[for a in range(1000) : [for b in range(1000) : "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]]',
    ],
    ['a pattern', 'regex("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")'],
    [
      'replacements',
      'replace(join("", [for a in range(1000) : "aaaaaaaaaa"]), "", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")',
    ],
    ['a large power', 'pow(10, 400)'],
  ])('%s', (_, text) => {
    expect(() => value(text)).toThrow(ExpressionError)
  })

  // Else a plan would depend on how fast the machine is.
  it.each(['can(SEARCH)', 'try(SEARCH, "other")'])('a pattern, of which %s makes nothing', text => {
    const search = 'regex("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")'
    expect(() => value(text.replace('SEARCH', search))).toThrow('regex: the search takes too long')
  })

  it('values that double from local to local', () => {
    const doubling = (next: (name: string) => Json): Record<string, Json> =>
      Object.fromEntries([['l0', 'x'], ...Array.from({length: 40}, (__, at) => [`l${at + 1}`, next(`local.l${at}`)] as const)])
    for (const next of [
      (name: string) => `\${${name}}\${${name}}`,
      (name: string) => [`\${${name}}`, `\${${name}}`],
      (name: string) => `\${[${name}, ${name}]}`,
      (name: string) => `\${{a = ${name}, b = ${name}}}`,
    ]) {
      const text: StackText = {locals: doubling(next), objects: {a: ['cloud.subscription', {}, {'spec/name': '${jsonencode(local.l40)}'}]}}
      expect(messagesOf(() => read(text)).join()).toMatch(/the value has more than 500000 parts|longer than 4000000 characters/)
    }
  })

  it('lists in lists, in a stack file, in a spec and in a value', () => {
    const lists = deep('[', ']', 50_000)
    expect(() => stackDocument('shop', undefined, [{name: 'a.tf.json', shown: 'a.tf.json', text: `{"locals": {"a": ${lists}}}`}])).toThrow(
      'a.tf.json:1: it goes more than 200 levels deep',
    )
    expect(messagesOf(() => read({objects: {a: ['cluster.user', `{"name": "a", "x": ${lists}}`]}})).join()).toContain(
      'the trigger "spec" goes more than 100 levels deep',
    )
    expect(() => evaluateNode(parseExpression('jsondecode(x)'), {root: () => lists})).toThrow('more than 200 levels deep')
  })

  it('locals that hang on each other by the thousand', () => {
    const locals = Object.fromEntries(Array.from({length: 5000}, (_, at) => [`l${at}`, `\${local.l${at + 1}}`]))
    const text: StackText = {locals: {...locals, l5000: 'x'}, objects: {a: ['cloud.subscription', {}, {'spec/name': '${local.l0}'}]}}
    expect(messagesOf(() => read(text)).join()).toContain('levels deep')
  })
})

const later = (expression: string, ...addresses: readonly string[]) =>
  new Deferred(
    `\${${expression}}`,
    addresses.map(it => `shop:null_resource.${it}`),
    false,
  )

describe('instances of an object', () => {
  const stack: StackText = {
    objects: {
      n: ['cloud.subscription', {}, {'spec/name': 'n${count.index}'}, {count: 2}],
      k: ['cloud.subscription', {}, {'spec/name': '${each.key}'}, {for_each: {b: '', a: ''}}],
    },
  }
  const output = (text: string) => read({...stack, output: {o: {value: `\${${text}}`}}}).outputs[0]?.value

  it.each([
    ['null_resource.n[*].id', later('[null_resource.n[0].id, null_resource.n[1].id]', 'n[0]', 'n[1]')],
    ['values(null_resource.k)[*].triggers["out/name"]', ['a', 'b']],
    [
      '{for k, v in null_resource.k : k => v.id}',
      later('{"b" = null_resource.k["b"].id, "a" = null_resource.k["a"].id}', 'k["b"]', 'k["a"]'),
    ],
    ['[for v in null_resource.n : v.triggers["out/name"]]', ['n0', 'n1']],
    ['keys(null_resource.k)', ['a', 'b']],
    ['length(null_resource.n)', 2],
  ])('are gone through one by one: %s', (text, value) => {
    expect(output(text)).toEqual(value)
  })

  it('with keys are no list', () => {
    expect(messagesOf(() => output('null_resource.k[*].id'))[0]).toContain('Write values(null_resource.k)[*].')
  })
})

describe('an expression', () => {
  it.each(VALUES)('%s is %j', (text, expected) => {
    expect(value(text)).toEqual(expected)
  })

  it.each(WRONG)('%s has no value', text => {
    expect(() => value(text)).toThrow(ExpressionError)
  })

  it.skipIf(missing)(
    'has the value that Terraform gives it',
    () => {
      const answers = consoleAnswers(VALUES.map(([text]) => text))
      expect(VALUES.map(([text], at) => [text, answers[at]])).toEqual(VALUES.map(([text, expected]) => [text, expected]))
    },
    60_000,
  )

  it('may call the functions that the documentation lists', () => {
    const [, listed = ''] = /^Functions: ([\s\S]*?)\.$/m.exec(readFileSync('docs/stacks.md', 'utf8')) ?? []
    expect(listed.split(/\s+/)).toEqual(FUNCTION_NAMES.map(name => `\`${name}\``))
  })

  it('has a test for each function', () => {
    const tested = VALUES.map(([text]) => text).join('\n')
    expect(FUNCTION_NAMES.filter(name => name !== 'sensitive' && !new RegExp(`\\b${name}\\(`).test(tested))).toEqual([])
  })
})
