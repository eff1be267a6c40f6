/** Just enough of DER (X.690) to write a certificate. */
import {addAll} from '../base/many.ts'

function tagged(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

function lengthOf(length: number): Uint8Array {
  if (length < 0x80) return Buffer.from([length])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

export const sequence = (...items: readonly Uint8Array[]): Uint8Array => tagged(0x30, ...items)
export const set = (...items: readonly Uint8Array[]): Uint8Array => tagged(0x31, ...items)
export const octets = (content: Uint8Array): Uint8Array => tagged(0x04, content)
export const bits = (content: Uint8Array, unused = 0): Uint8Array => tagged(0x03, Buffer.from([unused]), content)
export const boolean = (value: boolean): Uint8Array => tagged(0x01, Buffer.from([value ? 0xff : 0]))
export const text = (value: string): Uint8Array => tagged(0x0c, Buffer.from(value, 'utf8'))
/** A constructed field with a number instead of a type. */
export const field = (number: number, ...items: readonly Uint8Array[]): Uint8Array => tagged(0xa0 | number, ...items)
/** A simple field with a number instead of a type. */
export const simpleField = (number: number, content: Uint8Array): Uint8Array => tagged(0x80 | number, content)

/** A positive whole number, given as bytes, most significant first. */
export function integer(bytes: Uint8Array): Uint8Array {
  const lead = (bytes[0] ?? 0) & 0x80 ? [0] : []
  return tagged(0x02, Buffer.from(lead), bytes)
}

/** `2.5.29.17` */
export function oid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const number of rest) {
    const groups = [number % 128]
    for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128)) groups.unshift(0x80 | (left % 128))
    addAll(bytes, groups)
  }
  return tagged(0x06, Buffer.from(bytes))
}

/** UTCTime until 2049, GeneralizedTime after (RFC 5280 section 4.1.2.5). */
export function time(ms: number): Uint8Array {
  const digits = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
  return new Date(ms).getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits))
}
