/** Terraform's functions of numbers. */
import type {Json} from '../../../base/json.ts'
import {largest, smallest} from '../../../base/many.ts'
import {add, decimalIn, finite} from '../values/decimal.ts'
import {ArgumentError, asFlag, asList, asNumber, asText, asWhole, atLeast, type FunctionTable, one, rule, two} from '../values/rule.ts'

/** As many values as Terraform's own range() gives at most. */
const MAX_RANGE = 1024

function rangeOf(...args: readonly Json[]): Json {
  const [first = 0, second, step] = args.map(it => asNumber(it, 'an argument'))
  const [start, limit] = second === undefined ? [0, first] : [first, second]
  const by = step ?? (start <= limit ? 1 : -1)
  if (by === 0) throw new ArgumentError('the step must not be 0')
  if ((by > 0 && limit < start) || (by < 0 && limit > start)) throw new ArgumentError('the step leads away from the end')
  const values: number[] = []
  for (let at = start; by > 0 ? at < limit : at > limit; at = add(at, by)) {
    if (values.length === MAX_RANGE) throw new ArgumentError(`there would be more than ${MAX_RANGE} values`)
    values.push(at)
  }
  return values
}

function parsedInt(value: Json | undefined, base: Json | undefined): Json {
  const radix = asWhole(base, 'the base')
  if (radix < 2 || radix > 36) throw new ArgumentError('the base must be from 2 to 36')
  const text = asText(value, 'the first argument').toLowerCase()
  const digits = '0123456789abcdefghijklmnopqrstuvwxyz'.slice(0, radix)
  if (!/^[+-]?[0-9a-z]+$/.test(text) || ![...text.replace(/^[+-]/, '')].every(it => digits.includes(it)))
    throw new ArgumentError(`the text is no whole number of base ${radix}`)
  return finite(Number.parseInt(text, radix))
}

export const NUMBERS: FunctionTable = {
  abs: one(value => Math.abs(asNumber(value, 'the argument'))),
  ceil: one(value => Math.ceil(asNumber(value, 'the argument')) + 0),
  floor: one(value => Math.floor(asNumber(value, 'the argument')) + 0),
  max: atLeast(1, (...values) => largest(values.map(it => asNumber(it, 'an argument')))),
  min: atLeast(1, (...values) => smallest(values.map(it => asNumber(it, 'an argument')))),
  signum: one(value => Math.sign(asNumber(value, 'the argument'))),
  pow: two((base, power) => finite(asNumber(base, 'the first argument') ** asNumber(power, 'the second argument'))),
  log: two((value, base) => finite(Math.log(asNumber(value, 'the first argument')) / Math.log(asNumber(base, 'the second argument')))),
  parseint: two(parsedInt),
  range: rule(1, 3, rangeOf),
  sum: one(value => {
    const items = asList(value, 'the argument').map(it => asNumber(it, 'an item'))
    if (items.length === 0) throw new ArgumentError('the list is empty')
    return items.reduce(add)
  }),
  tonumber: one(value =>
    value === null || typeof value !== 'string' ? (value === null ? null : asNumber(value, 'the argument')) : textNumber(value),
  ),
  tobool: one(value => (value === null ? null : asFlag(value, 'the argument'))),
}

function textNumber(text: string): number {
  const number = decimalIn(text)
  if (number === undefined) throw new ArgumentError('the text spells no number')
  return number
}
