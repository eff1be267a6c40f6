/** What Terraform's functions have in common here: how arguments are taken, and how they are refused. */
import {isJsonObject, type Json, type JsonObject} from '../../../base/json.ts'
import {ArgumentError} from './argument-error.ts'
import {decimalIn, formatNumber} from './decimal.ts'

export {ArgumentError}

/** Nobody knows what comes of it: unlike a wrong argument, nothing is made of that by `try` and `can`, or a plan would depend on the machine. */
export class SlowSearchError extends Error {}

export type PlainFunction = (...args: readonly Json[]) => Json

export interface FunctionRule {
  readonly min: number
  readonly max: number
  /** Hands items through without looking into them, so that they may be open. */
  readonly structural?: true
  /** Brings the items to one type: an open one of any type may not stay among others then. */
  readonly typed?: true
  /** Steps that a part of its arguments takes; absent: one. */
  readonly work?: number
  readonly call: PlainFunction
}

export type FunctionTable = Readonly<Record<string, FunctionRule>>

const ANY_NUMBER = Number.POSITIVE_INFINITY

/** A function of so many arguments; the values may be open where it only hands them on. */
export const rule = (min: number, max: number, call: PlainFunction): FunctionRule => ({min, max, call})
export const structural = (min: number, max: number, call: PlainFunction): FunctionRule => ({min, max, structural: true, call})
export const ofOneType = (of: FunctionRule): FunctionRule => ({...of, typed: true})
/** Takes as long for a large value as for a small one. */
export const atOnce = (of: FunctionRule): FunctionRule => ({...of, work: 0})
/** Has next to nothing to do with each part. */
export const light = (of: FunctionRule): FunctionRule => ({...of, work: 1 / 8})
/** Puts each part in its place among others. */
export const heavy = (of: FunctionRule): FunctionRule => ({...of, work: 4})
export const one = (call: PlainFunction): FunctionRule => rule(1, 1, call)
export const two = (call: PlainFunction): FunctionRule => rule(2, 2, call)
export const atLeast = (min: number, call: PlainFunction): FunctionRule => rule(min, ANY_NUMBER, call)

export function typeNameOf(value: Json | undefined): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return {string: 'text', number: 'a number', boolean: 'true or false'}[typeof value as 'string' | 'number' | 'boolean']
}

/** A primitive as text, as in a template or `join`. */
export function asText(value: Json | undefined, where: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return formatNumber(value)
  if (typeof value === 'boolean') return String(value)
  throw new ArgumentError(`${where} must be text, and it is ${typeNameOf(value)}`)
}

/** A number, or text that spells one. */
export function asNumber(value: Json | undefined, where: string): number {
  const number = typeof value === 'string' ? decimalIn(value) : value
  if (typeof number === 'number') return number
  throw new ArgumentError(`${where} must be a number, and it is ${typeof value === 'string' ? 'text that spells none' : typeNameOf(value)}`)
}

export function asWhole(value: Json | undefined, where: string): number {
  const number = asNumber(value, where)
  if (Number.isSafeInteger(number)) return number
  throw new ArgumentError(`${where} must be a whole number`)
}

/** A boolean, or its text. */
export function asFlag(value: Json | undefined, where: string): boolean {
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === 'false') return value === 'true'
  throw new ArgumentError(`${where} must be true or false, and it is ${typeNameOf(value)}`)
}

export function asList(value: Json | undefined, where: string): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[]
  throw new ArgumentError(`${where} must be a list, and it is ${typeNameOf(value)}`)
}

export function asMap(value: Json | undefined, where: string): JsonObject {
  if (isJsonObject(value)) return value
  throw new ArgumentError(`${where} must be a map, and it is ${typeNameOf(value)}`)
}
