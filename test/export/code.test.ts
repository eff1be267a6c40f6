import fc from 'fast-check'
import * as prettier from 'prettier'
import {describe, expect, it} from 'vitest'
import type {Json, JsonObject} from '../../src/base/json.ts'
import {type Code, literalCode, printed, quoted, raw} from '../../src/export/code.ts'
import {jsonFields} from '../../src/export/json-text.ts'

const STYLE = {semi: false, singleQuote: true, bracketSpacing: false, printWidth: 100} as const

const anyText = fc.oneof(fc.string({unit: 'grapheme', maxLength: 70}), fc.string({unit: 'binary', maxLength: 20}))
/** Fields as APIs call them, and some that need quotes. */
const anyKey = fc.oneof(
  fc.string({unit: 'grapheme-ascii', maxLength: 20}),
  fc.constantFrom('a', 'memoryLimitInGb', 'rack_id', 'x-1', 'ü', '1'),
)
const {anyValue} = fc.letrec<{anyValue: Json; leaf: Json}>(tie => ({
  leaf: fc.oneof(
    anyText,
    fc.double({noNaN: true, noDefaultInfinity: true}).map(it => it + 0),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  ),
  anyValue: fc.oneof(
    {maxDepth: 4, depthSize: 'small'},
    tie('leaf'),
    fc.array(tie('anyValue'), {maxLength: 6}),
    fc.dictionary(anyKey, tie('anyValue'), {maxKeys: 6}),
  ),
}))

/** As an export writes an object: values of every kind, a secret, ids up to the longest. */
function creation(id: string, value: Json, text: string): Code {
  return {
    call: 'new ClusterDatabase',
    arguments: [
      raw('this'),
      raw(quoted(id)),
      {
        fields: [
          {short: 'subscription'},
          {key: 'x', value: literalCode(value)},
          {key: 'name', value: literalCode(text)},
          {key: 'description', value: literalCode(text)},
          {
            key: 'password',
            value: {call: 'secret', arguments: [raw('this'), raw(quoted(`${id}_password`)), {fields: [{key: 'version', value: raw('1')}]}]},
          },
          {spread: {call: '...unlisted', arguments: [literalCode({a: value})]}},
        ],
      },
    ],
  }
}

describe('printed code', () => {
  it('is as prettier would print it, whatever the values and however long the id', async () => {
    const length = fc.integer({min: 1, max: 64})
    await fc.assert(
      fc.asyncProperty(anyValue, anyText, length, fc.boolean(), async (value, text, long, assigned) => {
        const id = 'a'.repeat(long)
        const head = assigned ? `const ${id} = ` : ''
        const code = `${head}${printed(creation(id, value, text), 0, head.length)}\n`
        expect(await prettier.format(code, {...STYLE, parser: 'typescript'})).toBe(code)
      }),
      {numRuns: 100},
    )
  }, 60_000)

  it('gives every text back when it is evaluated', () => {
    fc.assert(
      fc.property(anyText, text => {
        // biome-ignore lint/security/noGlobalEval: the printed literal, and nothing else, is what is tested
        expect(eval(`(${quoted(text)})`)).toBe(text)
      }),
    )
  })

  it('takes the quotes that need fewer escapes, and hides nothing that mirrors, combines or is not seen', () => {
    expect(quoted("it's")).toBe('"it\'s"')
    expect(quoted('say "x"')).toBe(`'say "x"'`)
    expect(quoted('a\u202eb\u0000\n\\')).toBe("'a\\u202eb\\u0000\\n\\\\'")
    expect(quoted('日本 ü')).toBe("'日本 ü'")
    expect(quoted('😀')).toBe("'\\u{1f600}'")
  })
})

describe('printed JSON', () => {
  it('is as prettier would print it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(anyKey, anyValue), async fields => {
        const text = `{\n  "//": "svcctl",\n${jsonFields({format: 'x', ...fields} as JsonObject)}`
        expect(await prettier.format(text, {...STYLE, parser: 'json'})).toBe(text)
        expect(JSON.parse(text)).toEqual({'//': 'svcctl', format: 'x', ...fields})
      }),
      {numRuns: 100},
    )
  }, 60_000)
})
