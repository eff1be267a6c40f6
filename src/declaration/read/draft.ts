/** A declaration before it is known what its parent's text names. */
import {isJsonObject, type JsonObject} from '../../base/json.ts'
import {nearest} from '../../base/nearest.ts'
import type {Policy} from '../../engine/model/declaration.ts'
import type {Kind} from '../../engine/model/kind.ts'
import {plainPart, saysWhich} from '../../engine/model/resolve.ts'
import {type Key, keyOf, type ValueObject} from '../../engine/model/value.ts'
import type {SourcePlace} from '../files/problems.ts'
import {Open, type OpenValue, opensIn} from '../language/values/open-value.ts'
import {shapeOf} from './field-shape.ts'
import {fitSpec} from './fit-spec.ts'
import type {ObjectBlock, ObjectInstance} from './object-block.ts'
import {policyOf} from './policy.ts'

export interface Draft {
  readonly key: Key
  readonly stack: string
  readonly place: SourcePlace
  readonly block: ObjectBlock
  readonly kind: Kind
  readonly spec: ValueObject
  /** What of the spec is known. */
  readonly plain: JsonObject
  /** That tells which object is meant. */
  readonly saysWhich: boolean
  /** What makes it the same thing for a person. */
  readonly naturalKey: string | undefined
  /** What of the fields is secret or known later. */
  readonly opens: readonly Open[]
  readonly clearSecrets: readonly string[]
  readonly policy: Policy
  /** As it was written; `undefined` where there is none, or none is known (validate). */
  readonly parent: DraftParent | undefined
  /** Every object it reads, without what the parent's field reads. */
  readonly references: ReadonlySet<Key>
  /** Every object it was told to wait for. */
  readonly dependsOn: ReadonlySet<Key>
  readonly outputs: readonly string[]
}

export interface DraftParent {
  readonly field: string
  /** The id of a declared object, or text. */
  readonly value: {readonly key: Key} | {readonly text: string}
  /** What the field's expression reads. */
  readonly reads: ReadonlySet<Key>
}

/** `undefined` when the kind is not known. Everything wrong is in the block's problems. */
export function draftOf(instance: ObjectInstance, dependsOn: ReadonlySet<Key>): Draft | undefined {
  const {block, place} = instance
  const {kind, problems} = block
  if (kind === undefined) return undefined
  const {spec, parent, parentReads, references} = instance.evaluated()
  const fitted = fitSpec(kind, spec, place.stack)
  for (const {path, message} of fitted.problems) problems.add(place, message, path)
  for (const text of fitted.warnings) problems.warn(place, text)
  for (const pointer of fitted.clearSecrets) {
    problems.warn(place, `${pointer} is a secret written in clear in the stack: give it through a sensitive variable (secret())`)
  }
  const plain = fitted.plain ? (fitted.spec as JsonObject) : plainPart(fitted.spec)
  for (const field of secretNames(kind, spec, plain)) {
    problems.add(
      place,
      `${JSON.stringify(field)} is secret, and a ${kind.noun} is found by it and shown with it: take a variable that is not sensitive`,
      `/${field}`,
    )
  }
  return {
    key: keyOf(place.stack, instance.address),
    stack: place.stack,
    place,
    block,
    kind,
    spec: fitted.spec,
    plain,
    saysWhich: fitted.plain || saysWhich(kind.identity, fitted.spec),
    naturalKey: kind.identity.key(plain),
    opens: opensIn(spec),
    clearSecrets: fitted.clearSecrets,
    policy: policyOf(block.body, block.triggers, kind, place, problems),
    parent: kind.parent ? draftParent(instance, kind, kind.parent, parent, parentReads, spec) : undefined,
    references,
    dependsOn,
    outputs: block.outputs,
  }
}

/** Fields that make it the same thing for whoever looks for it, and are secret: nothing would ever be found by them. */
function secretNames({identity}: Kind, spec: {readonly [field: string]: OpenValue}, plain: JsonObject): string[] {
  const key = identity.key(plain)
  return Object.keys(spec).filter(
    field => opensIn(spec[field] ?? null).some(open => open.secret) && identity.key({...plain, [field]: 'any'}) !== key,
  )
}

function draftParent(
  {block, place}: ObjectInstance,
  kind: Kind,
  {field, kind: parentKind}: NonNullable<Kind['parent']>,
  value: OpenValue | undefined,
  reads: ReadonlySet<Key>,
  fields: {readonly [key: string]: OpenValue},
): DraftParent | undefined {
  const {problems} = block
  const say = (message: string): void => problems.add(place, message, `/${field}`)
  if (value === undefined || value === null || value === '') {
    const shape = shapeOf(kind)
    const meant = nearest(
      field,
      Object.keys(fields).filter(name => !shape.names.includes(name)),
    )
    // A strict kind has said so of the field it does not know.
    if (meant !== undefined && shape.strict) return undefined
    say(
      `${JSON.stringify(field)} is missing${meant === undefined ? '' : ` (is ${JSON.stringify(meant)} meant?)`}: a ${kind.name} lives in a ${parentKind}; give a reference (\${null_resource.<name>.id}), a numeric id or a name`,
    )
    return undefined
  }
  if (typeof value === 'string' || typeof value === 'number') return {field, value: {text: String(value)}, reads}
  if (value instanceof Open && !value.secret && value.value === undefined) {
    const [key] = value.needs
    if (key !== undefined && value.node?.type === 'attribute' && value.node.attribute === 'id') return {field, value: {key}, reads}
    if (value.needs.length === 0) return undefined
  }
  if (opensIn(value).some(open => open.secret))
    say(`${JSON.stringify(field)} is secret, and a parent is shown in every plan: take a variable that is not sensitive`)
  else if (isJsonObject(value) && !(value instanceof Open))
    say(`${JSON.stringify(field)} must be a reference, an id or a name, not an object`)
  else
    say(
      `${JSON.stringify(field)} must be known when the plan is made: give a reference (\${null_resource.<name>.id}), a numeric id or a name`,
    )
  return undefined
}
