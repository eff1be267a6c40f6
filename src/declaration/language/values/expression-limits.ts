/**
 * What evaluating may cost. A stack is code of whoever opened a pull request: an expression that would run for minutes,
 * fill the memory or run out of stack is a declaration error like any other.
 */
import type {Json} from '../../../base/json.ts'
import {ExpressionError} from './errors.ts'

/** Expressions inside each other, over locals and outputs. */
const MAX_DEPTH = 400
/** Of one expression, with everything it asks for. */
const MAX_STEPS = 2_000_000
/** Characters of one expression, with the text around it. */
const MAX_LENGTH = 1_000_000
/** Leaves of one value. */
const MAX_SIZE = 500_000
export const MAX_TEXT = 4_000_000
/** Of one call: they stand on the stack of the process. A list can be as large as a value. */
export const MAX_ARGUMENTS = 20_000

/** Of all expressions of an app: some ten seconds. What a function does counts by the size of its arguments. */
const MAX_ALL_STEPS = 20_000_000
const LETTERS_OF_STEP = 4
/** Of all searches for patterns, each of which has a bound of its own. */
const MAX_ALL_SEARCH_MS = 10_000
/** Of all values that are large, with each use of them: what makes an app too large is never many small ones. */
const MAX_ALL_SIZE = 20_000_000
const LARGE = 1000
/** Objects that `count` and `for_each` make, in all stacks of an app. */
export const MAX_INSTANCES = 50_000

let depth = 0
let steps = 0
let allSteps = 0
let allSize = 0
let searchedMs = 0

/** Another app is read. */
export function resetSpent(): void {
  allSteps = 0
  allSize = 0
  searchedMs = 0
}

/** @param ms - of the processor that one search took; a busy machine is no reason to refuse one. @throws ExpressionError when all searches of the app took too long */
export function searched(ms: number): void {
  searchedMs += ms
  if (searchedMs > MAX_ALL_SEARCH_MS) throw new ExpressionError('the searches of the app take too long: write simpler patterns', 0)
}

/** @throws ExpressionError for a text that is too long to be read */
export function assertReadable(text: string): void {
  if (text.length > MAX_LENGTH) throw new ExpressionError(`the expression has more than ${MAX_LENGTH} characters`, 0)
}

/** Runs one step of an evaluation. @throws ExpressionError when it is one too many */
export function boundedStep<T>(at: number, run: () => T): T {
  if (depth === 0) steps = 0
  if (depth >= MAX_DEPTH) throw new ExpressionError(`the expression goes more than ${MAX_DEPTH} levels deep`, at)
  if (allSize > MAX_ALL_SIZE) throw tooLarge(at)
  if (++allSteps > MAX_ALL_STEPS) throw tooLong(at)
  if (++steps > MAX_STEPS) throw new ExpressionError(`the expression takes more than ${MAX_STEPS} steps`, at)
  depth++
  try {
    return run()
  } finally {
    depth--
  }
}

/** Takes note of work inside one step, as steps of the app. @throws ExpressionError when it is too much */
export function takeSteps(work: number, at = 0): void {
  allSteps += work
  if (allSteps > MAX_ALL_STEPS) throw tooLong(at)
}

/** The steps it takes to look at every part of the values, and at every letter of a text. */
export function workOn(values: readonly unknown[]): number {
  let work = 0
  for (const value of values) work += typeof value === 'string' ? value.length / LETTERS_OF_STEP : sizeOf(value) - 1
  return work
}

const tooLong = (at: number) => new ExpressionError(`the expressions of the app take more than ${MAX_ALL_STEPS} steps`, at)
const tooLarge = (at: number) => new ExpressionError(`the large values of the app have more than ${MAX_ALL_SIZE} parts`, at)

const sizes = new WeakMap<object, number>()

/** The value, when it is not too large. A part that stands in it twice counts twice. @throws ExpressionError */
export function sized<T>(value: T, at: number): T {
  const size = sizeOf(value)
  if (size > MAX_SIZE) throw new ExpressionError(`the value has more than ${MAX_SIZE} parts`, at)
  if (size > LARGE) allSize += size
  if (allSize > MAX_ALL_SIZE) throw tooLarge(at)
  return value
}

export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / (MAX_TEXT / MAX_SIZE)
  if (value === null || typeof value !== 'object') return 1
  const known = sizes.get(value)
  if (known !== undefined) return known
  let size = 1
  for (const item of Object.values(value as Record<string, Json>)) size += sizeOf(item)
  sizes.set(value, size)
  return size
}
