/**
 * Two stacks beside each other: which objects only one of them has, and in which values the others differ. Objects are
 * paired by where they stand in their stack, values compared by meaning, secrets by their versions alone. Pure.
 */
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {formatPointer} from '../../base/pointer.ts'
import type {Declaration, ParentRef} from '../model/declaration.ts'
import {type EffectiveRule, rootRule} from '../model/field-rules.ts'
import type {Kind, Kinds} from '../model/kind.ts'
import {byKey, ordered, pairsUp} from '../model/list-pairing.ts'
import {legible, sameLeaf} from '../model/meaning.ts'
import {openLeaves} from '../model/resolve.ts'
import {shownAs} from '../model/shown-field.ts'
import {Deferred, type Key, Secret, type Value, type ValueObject} from '../model/value.ts'

export interface ComparedObject {
  readonly declaration: Declaration
  /** Where it stands in its stack, in words that the other stack uses too. */
  readonly place: string
  /** Normalized, where live values are compared. */
  readonly live?: JsonObject
}

export interface ComparedField {
  /** In the first stack. */
  readonly address: string
  /** JSON pointer in the spec. */
  readonly path: string
  readonly a?: Json
  readonly b?: Json
}

export interface Comparison {
  readonly onlyA: readonly string[]
  readonly onlyB: readonly string[]
  readonly differ: readonly ComparedField[]
  /** Objects that both have. */
  readonly both: number
  /** Secrets of those, of which nothing but the version was compared. */
  readonly secrets: number
}

export function compareObjects(a: readonly ComparedObject[], b: readonly ComparedObject[], kinds: Kinds): Comparison {
  const inB = new Map(b.map(it => [identityOf(it), it]))
  const inA = new Map(a.map(it => [identityOf(it), it]))
  const differ: ComparedField[] = []
  let both = 0
  let secrets = 0
  const placeOf = new Map([...a, ...b].map(it => [it.declaration.key, it.place]))
  for (const [identity, one] of inA) {
    const other = inB.get(identity)
    const kind = kinds.get(one.declaration.kind)
    if (other === undefined || kind === undefined) continue
    both++
    secrets += openLeaves(one.declaration.spec).filter(({leaf}) => leaf instanceof Secret || leaf.secret).length
    const {address} = one.declaration
    for (const it of fieldsThatDiffer(kind, one, other, placeOf)) differ.push({address, ...it})
  }
  const only = (those: ReadonlyMap<string, ComparedObject>, others: ReadonlyMap<string, ComparedObject>) =>
    [...those].flatMap(([identity, it]) => (others.has(identity) ? [] : [it.declaration.address])).sort()
  return {onlyA: only(inA, inB), onlyB: only(inB, inA), differ: differ.sort(byPlace), both, secrets}
}

/** Another kind at the same place is another object. */
const identityOf = ({place, declaration}: ComparedObject): string => `${declaration.kind} ${place}`

const byPlace = (x: ComparedField, y: ComparedField): number =>
  x.address === y.address ? (x.path < y.path ? -1 : 1) : x.address < y.address ? -1 : 1

type Field = Omit<ComparedField, 'address'>

function fieldsThatDiffer(kind: Kind, one: ComparedObject, other: ComparedObject, placeOf: ReadonlyMap<Key, string>): Field[] {
  const found: Field[] = []
  const walk: Walk = {
    placeOf,
    differs: (path, rule, a, b) =>
      found.push({
        path: formatPointer(path),
        ...(a === undefined ? {} : {a: visible(rule, a)}),
        ...(b === undefined ? {} : {b: visible(rule, b)}),
      }),
  }
  const [a, b] = [one.declaration, other.declaration]
  const [parentA, parentB] = [parentText(a.parent, placeOf), parentText(b.parent, placeOf)]
  if (kind.parent !== undefined && one.live === undefined && parentA !== parentB)
    walk.differs([kind.parent.field], rootRule(kind).below(kind.parent.field), parentA, parentB)
  compare(walk, [], rootRule(kind), comparedValue(one, other), comparedValue(other, one))
  return found
}

interface Walk {
  readonly placeOf: ReadonlyMap<Key, string>
  readonly differs: (path: readonly string[], rule: EffectiveRule, a: Value | undefined, b: Value | undefined) => void
}

const comparedValue = ({declaration: {spec}, live}: ComparedObject, other: ComparedObject): Value | undefined =>
  live === undefined ? spec : seen(live, spec, other.declaration.spec)

/** What is compared of a live value: what one of the two stacks declares, and where that is a secret, the declaration. */
function seen(live: Json | undefined, declared: Value | undefined, other: Value | undefined): Value | undefined {
  if (isSecret(declared)) return declared
  if (live === undefined) return undefined
  if (isSecret(other)) return new Secret(undefined)
  if (Array.isArray(live)) {
    const lists = [declared, other].map(it => (Array.isArray(it) ? (it as readonly Value[]) : []))
    // Which live item is which declared one is for plans to say; where one may be secret, what is declared is compared.
    if (lists.some(it => openLeaves(it).length > 0)) return declared
    const names = new Set(lists.flat().flatMap(it => (isJsonObject(it) ? Object.keys(it) : [])))
    return (live as readonly Json[]).map(it =>
      names.size === 0 || !isJsonObject(it) ? it : Object.fromEntries(Object.entries(it).filter(([name]) => names.has(name))),
    )
  }
  if (!isJsonObject(live)) return live
  const fields = new Set([declared, other].flatMap(it => (isPlain(it) ? Object.keys(it) : [])))
  return Object.fromEntries(
    [...fields].flatMap(field => {
      const value = seen(fieldOf(live, field) as Json | undefined, fieldOf(declared, field), fieldOf(other, field))
      return value === undefined ? [] : [[field, value]]
    }),
  )
}

const isSecret = (value: Value | undefined): value is Secret | Deferred =>
  value instanceof Secret || (value instanceof Deferred && value.secret)

const isPlain = (value: Value | undefined): value is ValueObject =>
  isJsonObject(value) && !(value instanceof Secret) && !(value instanceof Deferred)

const fieldOf = (value: Value | undefined, field: string): Value | undefined =>
  isPlain(value) && Object.hasOwn(value, field) ? value[field] : undefined

function compare(walk: Walk, path: readonly string[], rule: EffectiveRule, a: Value | undefined, b: Value | undefined): void {
  const [secretA, secretB] = [secretIn(rule, a), secretIn(rule, b)]
  if (secretA !== undefined && secretB !== undefined) {
    if (secretA.version !== secretB.version) walk.differs(path, rule, secretA, secretB)
  } else if (a instanceof Deferred && b instanceof Deferred) {
    if (!sameExpression(walk, a, b)) walk.differs(path, rule, a, b)
  } else if (isPlain(a) && isPlain(b)) {
    for (const field of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort())
      compare(walk, [...path, field], rule.below(field), fieldOf(a, field), fieldOf(b, field))
  } else if (Array.isArray(a) && Array.isArray(b)) compareLists(walk, path, rule, a as readonly Value[], b as readonly Value[])
  else if (a !== b && !(isLeaf(a) && isLeaf(b) && (rule.equal ?? sameLeaf)(a, b))) walk.differs(path, rule, a, b)
}

const isLeaf = (value: Value | undefined): value is string | number | boolean | null =>
  value !== undefined && (value === null || typeof value !== 'object')

/** What is a secret here, of which nothing but the version may count. */
function secretIn(rule: EffectiveRule, value: Value | undefined): Secret | undefined {
  if (value instanceof Secret) return value
  if (value instanceof Deferred) return value.secret ? new Secret(undefined) : undefined
  return value !== undefined && value !== null && (rule.secret || rule.writeOnly) ? new Secret(undefined) : undefined
}

function compareLists(walk: Walk, path: readonly string[], rule: EffectiveRule, a: readonly Value[], b: readonly Value[]): void {
  const key = rule.keyedBy ?? ''
  const [inA, inB] = key === '' ? [] : [byKey(a, key), byKey(b, key)]
  if (inA !== undefined && inB !== undefined && inA.size === inB.size && [...inA.keys()].every(it => inB.has(it))) {
    for (const [index, [name, item]] of [...inA].entries()) compare(walk, [...path, String(index)], rule.below('*'), item, inB.get(name))
    return
  }
  const equal = a.length === b.length && pairsUp(a.length, b.length, (i, j) => isSame(walk, rule.below('*'), a[i], b[j]))
  if (!equal) walk.differs(path, rule, a, b)
}

function isSame({placeOf}: Walk, rule: EffectiveRule, a: Value | undefined, b: Value | undefined): boolean {
  let same = true
  const differs = () => {
    same = false
  }
  compare({placeOf, differs}, [], rule, a, b)
  return same
}

/** Whether two values that are known later will be the same: they read the same things of objects at the same places. */
function sameExpression(walk: Walk, a: Deferred, b: Deferred): boolean {
  const text = ({expression, needs}: Deferred) =>
    needs
      .toSorted((x, y) => y.length - x.length)
      .reduce((said, key) => said.replaceAll(addressOf(key), `@${walk.placeOf.get(key) ?? key}`), expression)
  return text(a) === text(b)
}

const addressOf = (key: Key): string => key.slice(key.indexOf(':') + 1)

/** What an object lives in, as both stacks would say it. */
function parentText(parent: ParentRef | undefined, placeOf: ReadonlyMap<Key, string>): string | undefined {
  switch (parent?.by) {
    case undefined:
      return undefined
    case 'key':
      return placeOf.get(parent.key) ?? parent.key
    case 'remoteId':
      return parent.remoteId
    case 'id':
      return parent.id
    case 'name':
      return parent.name
  }
}

/** The value as anyone may see it, with what tells two marks apart. */
function visible(rule: EffectiveRule, value: Value): Json {
  if (value instanceof Secret) return {secret: true, ...(value.version === undefined ? {} : {version: value.version})}
  if (value instanceof Deferred)
    return value.secret ? {secret: true} : {unknown: true, ...(value.expression === '' ? {} : {expression: value.expression})}
  return legible(ordered(shownAs(rule, value)))
}

export const isEqual = ({onlyA, onlyB, differ}: Pick<Comparison, 'onlyA' | 'onlyB' | 'differ'>): boolean =>
  onlyA.length + onlyB.length + differ.length === 0
