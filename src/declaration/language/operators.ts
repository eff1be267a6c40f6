/** Terraform's operators over plain values. */

import {canonicalJson, type Json} from '../../base/json.ts'
import {add, divide, multiply, remainder, subtract} from './values/decimal.ts'
import type {BinaryOperator, UnaryOperator} from './values/expression.ts'
import {ArgumentError, asFlag, asNumber} from './values/rule.ts'

/** Binary operators, loosest first. */
export const PRECEDENCE: readonly (readonly BinaryOperator[])[] = [
  ['||'],
  ['&&'],
  ['==', '!='],
  ['<=', '>=', '<', '>'],
  ['+', '-'],
  ['*', '/', '%'],
]

/** @throws ArgumentError */
export function binary(operator: BinaryOperator, left: Json, right: Json): Json {
  switch (operator) {
    case '||':
      return flag(left, operator) || flag(right, operator)
    case '&&':
      return flag(left, operator) && flag(right, operator)
    case '==':
      return isSame(left, right)
    case '!=':
      return !isSame(left, right)
    default:
      return computed(operator, number(left, operator), number(right, operator))
  }
}

/** @throws ArgumentError */
export const unary = (operator: UnaryOperator, value: Json): Json => {
  if (operator === '!') return !flag(value, operator)
  return 0 - number(value, operator)
}

function computed(operator: Exclude<BinaryOperator, '||' | '&&' | '==' | '!='>, left: number, right: number): Json {
  switch (operator) {
    case '<':
      return left < right
    case '<=':
      return left <= right
    case '>':
      return left > right
    case '>=':
      return left >= right
    case '+':
      return add(left, right)
    case '-':
      return subtract(left, right)
    case '*':
      return multiply(left, right)
    case '/':
    case '%':
      if (right === 0) throw new ArgumentError(`nothing can be divided by 0 (operator ${operator})`)
      return operator === '/' ? divide(left, right) : remainder(left, right)
    default:
      return operator satisfies never
  }
}

const hasParts = (value: Json): boolean => value !== null && typeof value === 'object'
const isSame = (left: Json, right: Json): boolean =>
  hasParts(left) && hasParts(right) ? canonicalJson(left) === canonicalJson(right) : left === right

const flag = (value: Json, operator: string): boolean => asFlag(value, `an operand of ${operator}`)
const number = (value: Json, operator: string): number => asNumber(value, `an operand of ${operator}`)
