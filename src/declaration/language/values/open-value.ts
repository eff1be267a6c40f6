/**
 * Values while they are being evaluated: JSON in which some parts are open.
 *
 * An `Open` part is secret (its value may be known), or known only later, or both. It keeps the expression that gives
 * it again, so that a saved plan can be finished without the stacks.
 */
import type {Json} from '../../../base/json.ts'
import type {Key} from '../../../engine/model/value.ts'
import {ExpressionError} from './errors.ts'
import {literal, type Node, nodeLevels, printTemplate} from './expression.ts'
import {useSecret} from './uses-of-secrets.ts'

export type OpenValue = null | string | number | boolean | Open | readonly OpenValue[] | {readonly [key: string]: OpenValue}

export class Open {
  /** How to get it again; `undefined` for what only the stack gives: a secret written in clear, and what one decided (`decidedBySecret`). */
  readonly node: Node | undefined
  /** `undefined`: known only later. */
  readonly value: Json | undefined
  readonly secret: boolean
  /** The objects it reads. */
  readonly needs: readonly Key[]
  /** When every secret in it has a version. */
  readonly version: string | undefined
  /** Nobody gave a value for it, and while nothing sends it nobody has to: it has a version. */
  readonly notGiven: boolean

  constructor(fields: {
    node: Node | undefined
    value?: Json
    secret: boolean
    needs?: readonly Key[]
    version?: string | undefined
    notGiven?: boolean
  }) {
    this.node = fields.node
    this.value = fields.value
    this.secret = fields.secret
    this.needs = fields.needs ?? []
    this.version = fields.version
    this.notGiven = fields.notGiven ?? false
  }
}

/** The open parts in a value, at any depth. */
export function opensIn(value: OpenValue, found: Open[] = []): Open[] {
  if (value instanceof Open) found.push(value)
  else if (Array.isArray(value)) for (const item of value as readonly OpenValue[]) opensIn(item, found)
  else if (value !== null && typeof value === 'object') for (const item of Object.values(value)) opensIn(item, found)
  return found
}

/** The value with its known secrets in clear. Only for what stays tainted by `derive`. */
export function revealed(value: OpenValue): Json {
  if (value instanceof Open) return value.value ?? null
  if (Array.isArray(value)) return (value as readonly OpenValue[]).map(revealed)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value as {readonly [key: string]: OpenValue}).map(([key, item]) => [key, revealed(item)]))
}

/** The expression that gives a value again; `undefined` when it holds a secret written in clear. */
export function nodeOf(value: OpenValue): Node | undefined {
  if (value instanceof Open) return value.node
  if (Array.isArray(value)) {
    const items = (value as readonly OpenValue[]).map(nodeOf)
    return items.every(item => item !== undefined) ? {type: 'tuple', items} : undefined
  }
  if (value === null || typeof value !== 'object') return literal(value)
  const entries: (readonly [Node, Node])[] = []
  for (const [key, item] of Object.entries(value as {readonly [key: string]: OpenValue})) {
    const node = nodeOf(item)
    if (node === undefined) return undefined
    entries.push([literal(key), node])
  }
  return {type: 'object', entries}
}

/**
 * What comes of some values: plain when all are plain, secret when one is, later when one is.
 *
 * @param compute - from the values in clear
 * @param rebuild - the same as an expression, from the expressions of the values
 */
export function derive(
  inputs: readonly OpenValue[],
  compute: (plain: readonly Json[]) => Json,
  rebuild: (nodes: readonly Node[]) => Node,
  at: number,
): OpenValue {
  const opens = inputs.flatMap(input => opensIn(input))
  if (opens.length === 0) return compute(inputs as readonly Json[])
  const nodes = inputs.map(nodeOf)
  const node = nodes.every(it => it !== undefined) ? rebuild(nodes) : undefined
  return openFrom(opens, node, opens.some(open => open.value === undefined) ? undefined : () => compute(inputs.map(revealed)), at)
}

/**
 * What hangs on open parts.
 *
 * @param node - the expression that gives it; `undefined` when a secret written in clear is in it
 * @param compute - its value, where it is known
 */
export function openFrom(opens: readonly Open[], node: Node | undefined, compute: (() => Json) | undefined, at: number): Open {
  if (node !== undefined && nodeLevels(node) > MAX_LEVELS)
    throw new ExpressionError(`what is left of the expression goes more than ${MAX_LEVELS} levels deep`, at)
  const secret = opens.some(open => open.secret)
  const needs = [...new Set(opens.flatMap(open => open.needs))]
  if (compute === undefined) {
    if (node === undefined) {
      throw new ExpressionError(
        'a secret written in clear, or what a secret decided in try, can or a condition, is mixed with a value that is known only later',
        at,
        'Give the secret through a sensitive variable (secret()), so that it need not be kept in a plan, and leave try, can or the condition out.',
      )
    }
    const version = versionOf(opens, node)
    const notGiven = version !== undefined && opens.every(open => open.value !== undefined || open.notGiven)
    return new Open(notGiven ? {node, secret, needs, version, notGiven} : {node, secret, needs})
  }
  if (secret) useSecret()
  const version = versionOf(opens, node)
  return new Open({node, value: compute(), secret, needs, version})
}

/**
 * What a secret had a part in, although it may not be in it. It has no expression: which one it has would say what was decided.
 *
 * @param version - of all secrets that may have decided, whichever it was
 * @throws ExpressionError where it is known only later
 */
export function decidedBySecret(value: OpenValue, at: number, version: string | undefined): Open {
  if (opensIn(value).some(open => open.value === undefined)) {
    throw new ExpressionError(
      'what a secret decides in try, can or a condition must be known when the plan is made',
      at,
      'Take a value there that is known, or leave try, can or the condition out.',
    )
  }
  return new Open({node: undefined, value: revealed(value), secret: true, version})
}

/** What surrounds a secret counts as well: another text around it is another value. */
function versionOf(opens: readonly Open[], node: Node | undefined): string | undefined {
  const versions = opens.map(open => open.version)
  return node && versions.every(it => it !== undefined) ? `${printTemplate(node, '')} ${versions.join(' ')}` : undefined
}

/** Levels of an expression that a plan can carry. */
const MAX_LEVELS = 200
