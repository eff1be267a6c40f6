import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {indentedJson, plainIndentedJson} from '../../src/base/indented-json.ts'
import type {JsonObject} from '../../src/base/json.ts'
import {type ExactJson, ExactNumber, stringifyExactJson} from '../../src/base/lossless-json.ts'
import {Redactor} from '../../src/base/redact.ts'
import {seedOr} from '../support/seed.ts'

const redactor = new Redactor()
for (const secret of ['s3cret/é', 'ab', '12345678']) redactor.register(secret)

const key = fc.oneof(fc.string({maxLength: 4}), fc.constantFrom('__proto__', '7', 'xs3cret/é', 'ys3cret/é', 's3cret/é'))
const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.constantFrom<ExactJson>(null, true, 's3cret/é', 'ab', 'ab…', '\u202e', 12_345_678, 9007199254740993n, new ExactNumber('1.10')),
)
const small = (item: fc.Arbitrary<ExactJson>): fc.Arbitrary<ExactJson> =>
  fc.oneof(item, fc.array(item, {maxLength: 3}), fc.array(fc.tuple(key, item), {maxLength: 4}).map(Object.fromEntries))
const large = (item: fc.Arbitrary<ExactJson>): fc.Arbitrary<ExactJson> =>
  fc
    .tuple(fc.constantFrom(99, 100, 101, 250), item, fc.nat(2))
    .map(([count, it, also]) => [Array.from({length: count}, () => it), also])
    .map(([items, also]) =>
      also === 0 ? Object.fromEntries((items as ExactJson[]).map((it, at) => [`k${at}`, it])) : (items as ExactJson),
    )
const document = small(small(fc.oneof(leaf, large(small(leaf)))))

describe('a document that is written in parts', () => {
  it('is the text that it is as a whole', () => {
    let parts = 0
    fc.assert(
      fc.property(document, it => {
        const texts = [...indentedJson(it, redactor)]
        if (texts.length > 1) parts++
        expect(texts.join('')).toBe(`${stringifyExactJson(redactor.value(it), 2)}\n`)
      }),
      {numRuns: 200, seed: seedOr(20_261_122)},
    )
    expect(parts).toBeGreaterThan(20)
  })

  it('leaves out what is undefined, and honours toJSON', () => {
    const items = Array.from({length: 300}, () => ({a: undefined, b: {toJSON: () => [1]}}))
    const fields = Object.fromEntries(items.map((it, at) => [`k${at}`, at < 200 ? undefined : it]))
    const given = {items, fields, none: undefined} as unknown as ExactJson
    expect([...indentedJson(given, redactor)].join('')).toBe(`${JSON.stringify(given, null, 2)}\n`)
  })

  it('for programs, with nothing hidden, is letter by letter what JSON.stringify makes of it', () => {
    const known = fc.oneof(fc.jsonValue() as fc.Arbitrary<ExactJson>, fc.constantFrom('s3cret/é', '\u202e', '::error::'))
    let parts = 0
    fc.assert(
      fc.property(small(small(fc.oneof(known, large(small(known))))), it => {
        const given = {it} as JsonObject
        const texts = [...plainIndentedJson(given)]
        if (texts.length > 1) parts++
        expect(texts.join('')).toBe(`${JSON.stringify(given, null, 2)}\n`)
      }),
      {numRuns: 200, seed: seedOr(20_261_122)},
    )
    expect(parts).toBeGreaterThan(20)
  })
})
