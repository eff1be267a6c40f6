/** What is different between two plans: what changed since one of them was approved. */
import {canonicalJson, type Json, type JsonObject} from '../../base/json.ts'
import type {Operation, Plan} from '../model/plan.ts'
import {type Key, keyOfOperation} from '../model/value.ts'
import {formerDifferences} from './former.ts'

export interface PlanDifference {
  readonly stack: string
  readonly address: string
  readonly kind: string
  readonly what: 'added' | 'gone' | 'other action' | 'other changes'
  readonly before?: Pick<Operation, 'action' | 'changes'>
  readonly after?: Pick<Operation, 'action' | 'changes'>
  /** In words; what else of the operation is another one. */
  readonly also?: readonly string[]
}

export function diffPlans(before: Plan, after: Plan): PlanDifference[] {
  const active = (plan: Plan): Map<Key, Operation> =>
    new Map(plan.operations.filter(it => it.action !== 'no-op').map(it => [keyOfOperation(it), it]))
  const [was, is] = [active(before), active(after)]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap(key => {
    const [left, right] = [was.get(key), is.get(key)]
    const shown = right ?? left
    const also = left && right ? otherParts(left, right) : []
    const what = whatOf(left, right, also)
    if (shown === undefined || what === undefined) return []
    return [
      {
        stack: shown.stack,
        address: shown.address,
        kind: shown.kind,
        what,
        ...(left ? {before: {action: left.action, changes: left.changes}} : {}),
        ...(right ? {after: {action: right.action, changes: right.changes}} : {}),
        ...(also.length > 0 ? {also} : {}),
      },
    ]
  })
}

function whatOf(left: Operation | undefined, right: Operation | undefined, also: readonly string[]): PlanDifference['what'] | undefined {
  if (left === undefined) return 'added'
  if (right === undefined) return 'gone'
  if (left.action !== right.action) return 'other action'
  return same(left.changes, right.changes) && also.length === 0 ? undefined : 'other changes'
}

/** What says why and when, and not what is sent. */
const WORDS = ['action', 'changes', 'because', 'edges', 'reason', 'cause', 'construct']

/** Whatever else decides what is sent, or says of what. */
function otherParts(left: Operation, right: Operation): string[] {
  const [was, is] = [partsOf(left), partsOf(right)]
  const differing = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(it => !WORDS.includes(it) && !same(was[it], is[it]))
  const gone = differing.includes('former') ? formerDifferences(left, right) : []
  return [...differing.filter(it => it !== 'former' || gone.length === 0).map(it => told(it, was[it], is[it])), ...gone]
}

/** A declaration by its parts: its spec alone may be large. */
function partsOf({declared, ...rest}: Operation): Readonly<Record<string, unknown>> {
  return {...rest, ...Object.fromEntries(Object.entries(declared ?? {}).map(([part, value]) => [`declared ${part}`, value]))}
}

/** What holds for all operations. */
const FRAME = ['lifts', 'destroy', 'undo', 'accounts', 'stacks', 'otherStacks', 'selectors', 'scope', 'notAfter'] as const

/** In words; what of two plans is different beside their operations, and decides what an apply of them does. */
export function diffFrames(before: Plan, after: Plan): string[] {
  return FRAME.flatMap(part => {
    const [was, is] = [before[part], after[part]]
    if (same(was, is)) return []
    if (part !== 'lifts') return [told(part, was, is)]
    const [lifted, lifts] = [before.lifts as object as JsonObject, after.lifts as object as JsonObject]
    const words = [...new Set([...Object.keys(lifted), ...Object.keys(lifts)])].filter(it => !same(lifted[it], lifts[it]))
    return words.map(it => told(`lifts ${it}`, lifted[it], lifts[it]))
  })
}

/** Longer than this a value is only said to be another one. */
const SHOWN = 120

function told(part: string, was: unknown, is: unknown): string {
  const [left, right] = [was, is].map(it => (it === undefined ? 'nothing' : JSON.stringify(it as Json)))
  return `${left}${right}`.length > SHOWN ? `${part}: not the same` : `${part}: ${left} -> ${right}`
}

const same = (a: unknown, b: unknown): boolean => a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b))
