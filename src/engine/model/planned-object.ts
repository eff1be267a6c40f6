/** A declaration as a plan holds it: plain JSON, with what is secret or unknown marked and kept as an expression. */
import type {JsonObject} from '../../base/json.ts'
import type {Declaration} from './declaration.ts'
import type {DeclaredObject, OpenLeaf, Operation} from './plan.ts'
import {type LeafAt, openLeaves, withLeaves} from './resolve.ts'
import {Deferred, type Key, keyOf, Secret, shown, type Value, type ValueObject} from './value.ts'

export function declaredPart(
  declaration: Declaration,
  spec: ValueObject,
  parent: Declaration['parent'],
): Pick<Operation, 'declared' | 'secrets' | 'deferred'> {
  const leaves = openLeaves(spec)
  const declared: DeclaredObject = {
    spec: shown(spec) as JsonObject,
    ...(parent ? {parent} : {}),
    dependsOn: declaration.dependsOn.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)),
    policy: {...declaration.policy, exclusive: declaration.policy.exclusive.toSorted()},
    outputs: declaration.outputs.toSorted(),
  }
  if (leaves.length === 0) return {declared}
  const deferred = leaves.flatMap(({pointer, leaf}) =>
    leaf instanceof Deferred
      ? [{path: pointer, expression: leaf.expression, needs: leaf.needs, ...(leaf.secret ? {secret: true as const} : {})}]
      : [],
  )
  return {declared, ...secretsAmong(leaves), ...(deferred.length > 0 ? {deferred} : {})}
}

/** What of a declaration a plan holds although nothing is to be done. */
export const plannedSecrets = (spec: ValueObject): Pick<Operation, 'secrets'> => secretsAmong(openLeaves(spec))

function secretsAmong(leaves: readonly LeafAt[]): Pick<Operation, 'secrets'> {
  const secrets = leaves.flatMap(({pointer, leaf}) => (leaf instanceof Secret ? [openSecret(pointer, leaf)] : []))
  return secrets.length > 0 ? {secrets} : {}
}

function openSecret(pointer: string, leaf: Secret): OpenLeaf {
  return {
    path: pointer,
    ...(leaf.expression === undefined ? {} : {expression: leaf.expression}),
    ...(leaf.version === undefined ? {} : {version: leaf.version}),
    ...(leaf.needs.length === 0 ? {} : {needs: leaf.needs}),
  }
}

/**
 * The declaration of a planned operation, ready to be planned or executed again.
 *
 * @param secret - answers a secret leaf of the plan; throws when it cannot
 */
export function declarationOf(operation: Operation, secret: (leaf: OpenLeaf) => Secret | Deferred): Declaration | undefined {
  const {declared, stack, address, kind, construct} = operation
  if (declared === undefined) return undefined
  const leaves = new Map<string, Value>()
  for (const leaf of operation.secrets ?? []) leaves.set(leaf.path, secret(leaf))
  for (const leaf of operation.deferred ?? [])
    leaves.set(leaf.path, new Deferred(leaf.expression ?? '', leaf.needs ?? [], leaf.secret ?? false))
  const key: Key = keyOf(stack, address)
  return {
    stack,
    address,
    key,
    kind,
    spec: withLeaves(declared.spec, leaves) as ValueObject,
    ...(declared.parent ? {parent: declared.parent} : {}),
    dependsOn: declared.dependsOn,
    policy: declared.policy,
    outputs: declared.outputs,
    source: construct === undefined ? {} : {construct},
    clearSecrets: [],
  }
}
