/** What a plan lets stay where nothing undeclared may: the next one removes it, and this one says so. */
import {kindCalled} from '../model/kind.ts'
import {inlineItems} from '../model/made-inline.ts'
import type {Operation} from '../model/plan.ts'
import {plainPart} from '../model/resolve.ts'
import {keyOfOperation} from '../model/value.ts'
import {objectAt, objectOf, parentObjectOf} from './object-names.ts'
import type {PlanInput} from './plan-input.ts'

/** What is forgotten. */
export function forgottenInExclusive(input: PlanInput, operations: readonly Operation[]): string[] {
  const exclusive = new Map<string, string>()
  for (const {declaration, match} of input.observation.pairs.values()) {
    for (const word of declaration.policy.exclusive) {
      const child = match?.live.kind.exclusive?.[word]
      if (match && child !== undefined)
        exclusive.set(
          `${objectAt(input, declaration.stack, child, match.live.remoteId)} ${child}`,
          `${declaration.address} is exclusive for its ${word}`,
        )
    }
  }
  return operations.flatMap(it => {
    const parent = it.action === 'forget' ? parentObjectOf(input, it) : undefined
    const why = parent === undefined ? undefined : exclusive.get(`${parent} ${it.kind}`)
    return why === undefined || it.name === undefined
      ? []
      : [`${keyOfOperation(it)} is forgotten and stays, but ${why}: the next plan removes it`]
  })
}

/** What is made with an object, and nobody declares. */
export function madeInExclusive({kinds, stacks}: PlanInput, declared: readonly Operation[]): string[] {
  const making = declared.flatMap(it => {
    const {inlineChildren: inline, exclusive} = kindCalled(kinds, it.kind)
    if (it.action !== 'create' || it.declared === undefined || inline === undefined) return []
    const word = it.declared.policy.exclusive.find(word => exclusive?.[word] === inline.kind)
    const made = word === undefined ? [] : [...inlineItems({applied: it.declared.spec}, inline.field).keys()]
    return made.length === 0 ? [] : [{it, word, made, kind: inline.kind}]
  })
  if (making.length === 0) return []
  const known = new Set(
    stacks
      .flatMap(stack => stack.declarations)
      .map(({kind, parent, spec}) => {
        const above = parent?.by === 'key' ? parent.key : parent?.by === 'name' ? parent.name : ''
        return JSON.stringify([kind, above, kindCalled(kinds, kind).identity.key(plainPart(spec)) ?? null])
      }),
  )
  return making.flatMap(({it, word, made, kind}) => {
    const isDeclared = (name: string | null) => [keyOfOperation(it), it.name].some(above => known.has(JSON.stringify([kind, above, name])))
    const left = isDeclared(null) ? [] : made.filter(name => !isDeclared(name))
    if (left.length === 0) return []
    const names = left.map(name => JSON.stringify(name)).join(', ')
    return [
      `${keyOfOperation(it)}: nothing declares ${names}, made with it, but ${it.address} is exclusive for its ${word}: the next plan removes that`,
    ]
  })
}

/** Whether an object that no ledger has becomes the stack's own, be it changed for that or not. */
export const isTakenOver = ({action, adopts, cause, origin}: Operation): boolean =>
  cause === 'found-by-name' && origin !== 'created' && (action === 'adopt' || (action === 'update' && adopts === true))

/**
 * The same operations, where an object that is found by its name says what this plan leaves in it (`--no-destroy`, `--target`,
 * a name that is not known yet): the next one removes that, when the object is owned already.
 *
 * @param removals - of what nobody declares in exclusive collections, or maybe nobody, chosen or not
 */
export function sayingWhatStays(
  input: PlanInput,
  operations: readonly Operation[],
  removals: readonly Operation[],
): {readonly operations: readonly Operation[]; readonly notes: readonly string[]} {
  const going = new Set(operations.flatMap(it => (it.action === 'delete' ? (objectOf(input, it) ?? []) : [])))
  const left = new Map<string, string[]>()
  for (const it of removals) {
    const holder = parentObjectOf(input, it)
    if (it.action !== 'delete' || it.remoteId === undefined || holder === undefined || going.has(objectOf(input, it) ?? '')) continue
    const those = left.get(holder)
    if (those) those.push(it.remoteId)
    else left.set(holder, [it.remoteId])
  }
  if (left.size === 0) return {operations, notes: []}
  const notes: string[] = []
  const saying = operations.map(it => {
    const leaves = it.action === 'adopt' && it.cause === 'found-by-name' ? left.get(objectOf(input, it) ?? '') : undefined
    if (leaves === undefined) return it
    notes.push(`${keyOfOperation(it)} is exclusive and leaves ${leaves.join(', ')}: the next plan removes what of that nobody declares`)
    return {...it, leaves}
  })
  return {operations: saying, notes}
}
