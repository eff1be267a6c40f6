/**
 * Arithmetic as Terraform does it, on decimal numbers and not on binary ones: `0.1 + 0.2` is 0.3. A number is taken by
 * its shortest spelling, computed exactly (a quotient to forty digits), and becomes a double again at the end.
 */

import {ArgumentError} from './argument-error.ts'
import {takeSteps} from './expression-limits.ts'

interface Decimal {
  readonly digits: bigint
  /** Power of ten. */
  readonly scale: number
}

const QUOTIENT_DIGITS = 40
const MAX_SCALE = 400

/** The number a text spells, or `undefined`. */
export function decimalIn(text: string): number | undefined {
  const number = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined
  return Number.isFinite(number) ? number : undefined
}

/** Not below or above what is finite: JSON has no spelling for that, and would send `null`. */
export function finite(value: number): number {
  if (Number.isFinite(value)) return value
  throw new ArgumentError('the result is no finite number')
}

export const add = (a: number, b: number): number => whole(a, b, a + b) ?? exact(a, b, (x, y) => x + y)
export const subtract = (a: number, b: number): number => whole(a, b, a - b) ?? exact(a, b, (x, y) => x - y)
export const remainder = (a: number, b: number): number => whole(a, b, a % b) ?? exact(a, b, (x, y) => x % y)

export function multiply(a: number, b: number): number {
  const plain = whole(a, b, a * b)
  if (plain !== undefined) return plain
  const [x, y] = [decimal(a), decimal(b)]
  return toNumber({digits: x.digits * y.digits, scale: x.scale + y.scale})
}

/** @param b - not 0 */
export function divide(a: number, b: number): number {
  const [x, y] = [decimal(a), decimal(b)]
  const widening = QUOTIENT_DIGITS + String(y.digits).length
  return toNumber({digits: (x.digits * 10n ** BigInt(widening)) / y.digits, scale: x.scale - y.scale - widening})
}

/** Of whole numbers that are exact as doubles: a hundred times as fast. There is no negative zero in decimals. */
const whole = (a: number, b: number, result: number): number | undefined =>
  Number.isSafeInteger(a) && Number.isSafeInteger(b) && Number.isSafeInteger(result) ? result + 0 : undefined

/** Both brought to one scale. */
function exact(a: number, b: number, compute: (x: bigint, y: bigint) => bigint): number {
  const [x, y] = [decimal(a), decimal(b)]
  const scale = Math.min(x.scale, y.scale)
  const widened = ({digits, scale: own}: Decimal): bigint => digits * 10n ** BigInt(own - scale)
  return toNumber({digits: compute(widened(x), widened(y)), scale})
}

function decimal(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const scale = Number(exponent) - fraction.length
  return {digits: BigInt(whole + fraction), scale: Math.max(-MAX_SCALE, Math.min(MAX_SCALE, scale))}
}

/** What a computation with fractions takes, in steps of an expression. */
const STEPS = 8

function toNumber({digits, scale}: Decimal): number {
  takeSteps(STEPS)
  return finite(Number(`${digits}e${scale}`))
}

/** A number as Terraform writes it: never with an exponent. */
export function formatNumber(value: number): string {
  const text = String(value)
  const [, sign = '', whole = '', fraction = '', exponent = ''] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  if (exponent === '') return text
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return point >= digits.length
    ? `${sign}${digits}${'0'.repeat(point - digits.length)}`
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}
