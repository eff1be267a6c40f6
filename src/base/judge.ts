/** What a schema says of a value from outside, however much of it is wrong. */
import type {z} from 'zod'

/** Of a value with more parts than that only the first issue is told: an issue takes a kilobyte, and each item of a list may have ten. */
const FEW = 10_000

/** Zod stops at the first issue where this is set; its types keep that for `z.validate`, which tells no issue. */
const FIRST = {reportInput: false, abortEarly: true}

/** As `schema.safeParse`. */
export function judge<T>(schema: z.ZodType<T>, value: unknown): z.ZodSafeParseResult<T> {
  const first = schema.safeParse(value, FIRST)
  return first.success || leftOf(value, FEW) === 0 ? first : schema.safeParse(value)
}

/** @returns what is left of so many; looks no further than to the last of them */
function leftOf(value: unknown, most: number): number {
  if (value === null || typeof value !== 'object') return most - 1
  let left = most - 1
  for (const key in value) {
    if (left <= 0) return 0
    left = leftOf((value as Readonly<Record<string, unknown>>)[key], left)
  }
  return Math.max(0, left)
}
