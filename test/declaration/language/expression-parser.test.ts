import {parse} from '@cdktf/hcl2json'
import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {parseExpression, parseTemplate} from '../../../src/declaration/language/expression-parser.ts'
import {ExpressionError} from '../../../src/declaration/language/values/errors.ts'
import {printExpression, printTemplate} from '../../../src/declaration/language/values/expression.ts'
import {seedOr} from '../../support/seed.ts'

const reads = (text: string): boolean => {
  try {
    parseExpression(text)
    return true
  } catch (error) {
    if (error instanceof ExpressionError) return false
    throw error
  }
}

/** HCL's own parser. */
const hclReads = async (text: string): Promise<boolean> => {
  try {
    await parse('oracle.tf', `locals {\n  a = ${text}\n}\n`)
    return true
  } catch {
    return false
  }
}

const EXPRESSIONS = [
  '1',
  '-1.5e3',
  '1.',
  '.5',
  'true',
  'null',
  '"a"',
  '"a ${var.x} b"',
  '"a $${var.x} %%{ b"',
  '"\\n \\u00e4 \\U0001f600 \\" \\\\"',
  '"\\q"',
  '"a\nb"',
  '"open',
  'var.x',
  'var.x-y',
  'var.x - y',
  'var["x"]',
  'var.x[0]',
  'var.x.0',
  'var.x[*].id',
  'var.x.*.id',
  'var.x[var.y]["z"].w',
  'data.terraform_remote_state.cross-stack-reference-input-shop.outputs.cross-stack-output-null_resourceordersid',
  'null_resource.a["k"].triggers["out/name"]',
  '(var.x)',
  '((var.x))',
  '(var.x',
  '[]',
  '[1, 2]',
  '[1, 2,]',
  '[1 2]',
  '[,]',
  '{}',
  '{a = 1}',
  '{a: 1}',
  '{"a" = 1, b = 2}',
  '{a = 1\nb = 2}',
  '{a = 1\n\nb = 2\n}',
  '{a = 1 b = 2}',
  '{(var.x) = 1}',
  '{a}',
  '{a = }',
  '{a = {b = [1, {c = 2}]}}',
  'f()',
  'f(1)',
  'f(1, 2,)',
  'f(1,, 2)',
  'f(var.list...)',
  'f (1)',
  'a::b(1)',
  'a::b',
  '[for x in var.y : x]',
  '[for i, x in var.y : x if i > 0]',
  '{for k, v in var.y : k => v}',
  '{for k, v in var.y : k => v...}',
  '[for x in var.y]',
  'for',
  'var.a ? 1 : 2',
  'var.a ? 1',
  'a && b || !c',
  'a == b != c',
  'a <= b',
  'a < = b',
  '1 + 2 * 3 / 4 % 5 - 6',
  '- var.x',
  '!!var.x',
  'a.b.',
  'a..b',
  'a.[0]',
  'a["b"',
  '/* c */ 1',
  '1 /* c */',
  'f(1, # c\n 2)',
  '[1, // c\n 2]',
  '${a}',
  '"${a ? "b" : "c"}"',
  '"${"${"deep"}"}"',
  '"${~ a ~}"',
  '"${}"',
  '"${a"',
  '@',
  '',
]

describe('the grammar of expressions', () => {
  it.each(EXPRESSIONS)('reads or refuses %j as HCL does', async text => {
    expect(reads(text)).toBe(await hclReads(text))
  })

  it('agrees with HCL on random expressions', async () => {
    const pieces = [
      'var',
      '.',
      'x',
      '[',
      ']',
      '(',
      ')',
      '{',
      '}',
      '"',
      '${',
      ',',
      '1',
      ' ',
      '=',
      'for',
      'in',
      ':',
      '+',
      '?',
      'a',
      '\n',
      '*',
      '-',
    ]
    const texts = fc.array(fc.constantFrom(...pieces), {minLength: 1, maxLength: 12}).map(parts => parts.join(''))
    await fc.assert(
      fc.asyncProperty(texts, async text => {
        // HCL's reader computes constants, so "!1" is left out. A line's end outside of brackets ends HCL's attribute and is no part of an expression.
        fc.pre(!text.includes('\n') && text.trim() !== '')
        expect(reads(text), text).toBe(await hclReads(text))
      }),
      {numRuns: 400, seed: seedOr(7)},
    )
  })

  it('reads back what it prints', () => {
    for (const text of [
      '"a ${upper(var.x)} \\" $${b}"',
      '[1, "x", var.a["b c"][0]]',
      '{"a b" = var.x.y}',
      'null_resource.a["k"].triggers["out/name"]',
    ]) {
      const printed = printExpression(parseExpression(text), 'shop')
      expect(printExpression(parseExpression(printed), 'shop')).toBe(printed)
    }
  })
})

describe('a text with expressions', () => {
  it('keeps backslashes outside of expressions, as Terraform JSON does', () => {
    expect(parseTemplate('a\\n"b"')).toEqual({type: 'literal', value: 'a\\n"b"'})
  })

  it('takes $${ and %%{ as text', () => {
    expect(parseTemplate('$${a} %%{b} $$c 100%')).toEqual({type: 'literal', value: '${a} %{b} $$c 100%'})
  })

  it('is the expression itself when it holds nothing else', () => {
    expect(printTemplate(parseTemplate('${var.x}'), 'shop')).toBe('${var.x}')
    expect(parseTemplate('${7}')).toEqual({type: 'literal', value: 7})
  })

  it.each([
    ['%{ if true }a%{ endif }', 'a template directive (%{ … })', 0],
    ['${<<EOT\nx\nEOT\n}', 'a heredoc (<<)', 2],
  ])('refuses %j by name and place', (text, name, at) => {
    expect(() => parseTemplate(text)).toThrow(expect.objectContaining({message: `svcctl does not evaluate ${name}`, at}))
  })
})
