/** `format` and `formatlist`: the verbs of Go's printf as far as Terraform has them. */
import type {Json} from '../../../base/json.ts'
import {formatNumber} from '../values/decimal.ts'
import {takeSteps} from '../values/expression-limits.ts'
import {assertShort} from '../values/joined-text.ts'
import {ArgumentError, asFlag, asNumber, asText} from '../values/rule.ts'
import {isSet} from '../values/value-types.ts'
import {jsonEncode} from './encodings.ts'

/** `%`, flags, width, precision, place of the argument, verb. */
const VERB = /%(?:%|([-+ 0#]*)([1-9]\d*)?(?:\.(\d*))?(?:\[(\d+)\])?([a-zA-Z]))?/g
const MAX_WIDTH = 1000

export function format(spec: string, values: readonly Json[]): string {
  let length = spec.length
  let next = 0
  let used = 0
  const text = spec.replace(VERB, (whole: string, flags = '', width?: string, precision?: string, place?: string, verb?: string) => {
    if (whole === '%%') return '%'
    if (verb === undefined) throw new ArgumentError('there is no verb after a "%" in the format: write "%%" for the sign itself')
    if (place !== undefined) next = Number(place) - 1
    const value = values[next]
    if (value === undefined) throw new ArgumentError(`the format asks for argument ${next + 1}, and there are ${values.length}`)
    next++
    used = Math.max(used, next)
    if (Number(width ?? 0) > MAX_WIDTH || Number(precision ?? 0) > MAX_WIDTH) throw new ArgumentError(`a width is more than ${MAX_WIDTH}`)
    const text = padded(verbText(verb, flags, precision, value), flags, Number(width ?? 0), verb)
    length += text.length
    assertShort(length)
    return text
  })
  if (used < values.length) throw new ArgumentError(`there are ${values.length} arguments, and the format uses ${used}`)
  return text
}

/** Lists are taken item by item, everything else as it is for each. */
export function formatList(spec: string, values: readonly Json[]): Json {
  const lists = values.filter(value => Array.isArray(value)) as readonly (readonly Json[])[]
  const [first] = lists
  if (first === undefined) return [format(spec, values)]
  if (lists.some(list => list.length !== first.length)) throw new ArgumentError('the lists have different lengths')
  takeSteps((spec.length * first.length) / 4)
  let length = 0
  return first.map((_, at) => {
    const text = format(
      spec,
      values.map(value => (Array.isArray(value) ? ((value as readonly Json[])[at] ?? null) : value)),
    )
    length += text.length
    assertShort(length)
    return text
  })
}

function verbText(verb: string, flags: string, precision: string | undefined, value: Json): string {
  switch (verb) {
    case 'v':
      if (value === null) return 'null'
      if (typeof value === 'object' || flags.includes('#')) return jsonEncode(isSet(value) ? [...(value as readonly Json[])] : value)
      return typeof value === 'number' ? signed(general(value), flags) : cut(asText(value, 'the argument'), precision)
    case 's':
      return cut(asText(value, 'the argument of %s'), precision)
    case 'q':
      return jsonEncode(asText(value, 'the argument of %q'))
    case 't':
      return String(asFlag(value, 'the argument of %t'))
    case 'd':
    case 'b':
    case 'o':
    case 'x':
    case 'X':
      return wholeText(verb, flags, asNumber(value, `the argument of %${verb}`))
    case 'f':
      return signed(asNumber(value, 'the argument of %f').toFixed(Math.min(100, Number(precision ?? 6))), flags)
    case 'e':
    case 'E': {
      const text = asNumber(value, `the argument of %${verb}`).toExponential(Math.min(100, Number(precision ?? 6)))
      const padded = text.replace(/e([+-])(\d)$/, 'e$10$2')
      return signed(verb === 'E' ? padded.toUpperCase() : padded, flags)
    }
    default:
      throw new ArgumentError(`svcctl does not evaluate the verb %${verb}`)
  }
}

/** Go's %g: an exponent from a million up. */
function general(number: number): string {
  const [mantissa = '', exponent = ''] = number.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return formatNumber(number)
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

const RADIX: Readonly<Record<string, number>> = {d: 10, b: 2, o: 8, x: 16, X: 16}

function wholeText(verb: string, flags: string, number: number): string {
  if (!Number.isInteger(number)) throw new ArgumentError(`the argument of %${verb} must be a whole number`)
  const text = verb === 'd' ? formatNumber(number) : number.toString(RADIX[verb])
  return signed(verb === 'X' ? text.toUpperCase() : text, flags)
}

const signed = (text: string, flags: string): string => {
  if (text.startsWith('-')) return text
  return flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text
}

/** No letter is longer than two units: what comes behind so many is not looked at. */
const cut = (text: string, precision: string | undefined): string =>
  precision === undefined
    ? text
    : Array.from(text.slice(0, 2 * Number(precision)))
        .slice(0, Number(precision))
        .join('')

function padded(text: string, flags: string, width: number, verb: string): string {
  const missing = width - Array.from(text).length
  if (missing <= 0) return text
  if (flags.includes('-')) return text + ' '.repeat(missing)
  if (!flags.includes('0') || !/[dboxXfeE]/.test(verb)) return ' '.repeat(missing) + text
  const [, sign = '', digits = ''] = /^([-+ ]?)(.*)$/s.exec(text) ?? []
  return sign + '0'.repeat(missing) + digits
}
