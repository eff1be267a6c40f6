/**
 * What evaluating may cost. A stack is code of whoever opened a pull request: an expression that would run for minutes,
 * fill the memory or run out of stack is a declaration error like any other.
 */
import type {Json} from '../base/json.ts'
import {ExpressionError} from './errors.ts'

/** Expressions inside each other, over locals and outputs. */
const MAX_DEPTH = 400
/** Of one expression, with everything it asks for. */
const MAX_STEPS = 2_000_000
/** Leaves of one value. */
const MAX_SIZE = 500_000
const MAX_TEXT = 4_000_000

let depth = 0
let steps = 0

/** Runs one step of an evaluation. @throws ExpressionError when it is one too many */
export function bounded<T>(at: number, run: () => T): T {
  if (depth === 0) steps = 0
  if (depth >= MAX_DEPTH) throw new ExpressionError(`the expression goes more than ${MAX_DEPTH} levels deep`, at)
  if (++steps > MAX_STEPS) throw new ExpressionError(`the expression takes more than ${MAX_STEPS} steps`, at)
  depth++
  try {
    return run()
  } finally {
    depth--
  }
}

const sizes = new WeakMap<object, number>()

/** The value, when it is not too large. A part that stands in it twice counts twice. @throws ExpressionError */
export function sized<T>(value: T, at: number): T {
  if (sizeOf(value) > MAX_SIZE) throw new ExpressionError(`the value has more than ${MAX_SIZE} parts`, at)
  return value
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / (MAX_TEXT / MAX_SIZE)
  if (value === null || typeof value !== 'object') return 1
  const known = sizes.get(value)
  if (known !== undefined) return known
  let size = 1
  for (const item of Object.values(value as Record<string, Json>)) size += sizeOf(item)
  sizes.set(value, size)
  return size
}
