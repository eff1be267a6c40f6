/** The sensitive variables of stacks, and which of them an expression that was left open reads. */

import {parseTemplate} from '../language/expression-parser.ts'
import {type Node, partsOf} from '../language/values/expression.ts'
import type {Variables} from './variables.ts'

export interface SecretVariable {
  readonly stack: string
  readonly name: string
  /** Of `secret(…, {version})`. */
  readonly version: string | undefined
  /** Somebody gave a value, or the stack has one itself. */
  readonly set: boolean
}

export const secretVariables = (byStack: ReadonlyMap<string, Variables>): readonly SecretVariable[] =>
  [...byStack].flatMap(([stack, variables]) =>
    [...variables].flatMap(([name, {sensitive, version, value}]) => (sensitive ? [{stack, name, version, set: value !== undefined}] : [])),
  )

/** The same variables as if nobody had given a secret: expressions then say where each of them is used. */
export const withoutSecretVariables = (variables: Variables): Variables =>
  new Map([...variables].map(([name, {value, ...rest}]) => [name, rest.sensitive || value === undefined ? rest : {...rest, value}]))

/** The variables that what a plan leaves open (`${var.x}`) reads. @param stack - that it stands in */
export function variablesRead(expression: string, stack: string): readonly Pick<SecretVariable, 'stack' | 'name'>[] {
  const found = new Map<string, Pick<SecretVariable, 'stack' | 'name'>>()
  const look = (node: Node): void => {
    const read = variableIn(node, stack)
    if (read === undefined) for (const part of partsOf(node)) look(part)
    else found.set(`${read.stack}\0${read.name}`, read)
  }
  look(parseTemplate(expression, {residual: true}))
  return [...found.values()]
}

/** `var.x` or `var["x"]`, and `stack["other"].var.x` of another stack. */
function variableIn(node: Node, stack: string): Pick<SecretVariable, 'stack' | 'name'> | undefined {
  const name = partOf(node)
  if (name === undefined || (node.type !== 'attr' && node.type !== 'index')) return undefined
  const {of} = node
  if (of.type === 'root') return of.name === 'var' ? {stack, name} : undefined
  if (of.type !== 'attr' || of.name !== 'var' || of.of.type !== 'index' || of.of.of.type !== 'root') return undefined
  const other = partOf(of.of)
  return of.of.of.name === 'stack' && other !== undefined ? {stack: other, name} : undefined
}

/** `x` of `a.x` and of `a["x"]`. */
function partOf(node: Node): string | undefined {
  if (node.type === 'attr') return node.name
  return node.type === 'index' && node.key.type === 'literal' && typeof node.key.value === 'string' ? node.key.value : undefined
}
