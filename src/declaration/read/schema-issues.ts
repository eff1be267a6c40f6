/** What a schema has against a value, in words: what was expected, and what is there. */
import type {z} from 'zod'
import {nearest} from '../../base/nearest.ts'
import {Deferred, Secret, shown, type Value} from '../../engine/model/value.ts'

/** @param got - the value; a `Secret` is never shown */
export function describeIssue(issue: z.core.$ZodIssue, got: Value | undefined): string {
  const field = issue.path.length === 0 ? 'the spec' : JSON.stringify(String(issue.path.at(-1)))
  const expected = expectation(issue)
  if (expected === undefined) return got === undefined ? issue.message : `${issue.message}, not ${describe(got)}`
  if (got === undefined) return `${field} is missing: ${expected} is required`
  return `${field} must be ${expected}, not ${describe(got)}${meant(issue, got)}`
}

/** Of several words that may stand there, the one that was meant. */
function meant(issue: z.core.$ZodIssue, got: Value): string {
  if (issue.code !== 'invalid_value' || issue.values.length === 1 || typeof got !== 'string') return ''
  const near = nearest(got, issue.values.map(String))
  return near === undefined ? '' : `: did you mean ${JSON.stringify(near)}?`
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

function expectation(issue: z.core.$ZodIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected
    case 'too_small':
      if (issue.origin === 'string' && Number(issue.minimum) === 1) return 'text that is not empty'
      return `${subject(issue.origin)}${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unit(issue.origin)}`
    case 'too_big':
      return `${subject(issue.origin)}${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unit(issue.origin)}`
    case 'invalid_value':
      return issue.values.length === 1
        ? JSON.stringify(issue.values[0])
        : `one of ${issue.values.map(value => JSON.stringify(value)).join(', ')}`
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`
    default:
      return undefined
  }
}

const subject = (origin: string): string => (origin === 'array' ? 'a list of ' : '')
const unit = (origin: string): string => (origin === 'array' ? ' items' : origin === 'string' ? ' characters long' : '')

function describe(value: Value): string {
  if (value instanceof Secret) return 'what the secret holds'
  if (value instanceof Deferred) return 'a value known later'
  const text = JSON.stringify(shown(value))
  const short = text.length > 60 ? `${text.slice(0, 57)}…` : text
  return typeof value === 'string' ? `the text ${short}` : short
}
