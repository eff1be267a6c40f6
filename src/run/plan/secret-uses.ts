/** `svcctl secrets`: the secrets of stacks, which fields hold them, and whether an update may change these. No value is read. */
import {kinds} from '../../backends/kinds.ts'
import {parsePointer} from '../../base/pointer.ts'
import {type SecretVariable, variablesRead} from '../../declaration/read/secret-variables.ts'
import type {Declaration, StackDeclarations} from '../../engine/model/declaration.ts'
import {ruleAt} from '../../engine/model/field-rules.ts'
import type {Kind} from '../../engine/model/kind.ts'
import {openLeaves} from '../../engine/model/resolve.ts'
import {keyOf} from '../../engine/model/value.ts'
import type {SecretUse, ShownSecret} from '../../report/secrets-text.ts'

/** @param stacks - those that are asked for; others may use their secrets too */
export function secretUses(
  secrets: readonly SecretVariable[],
  stacks: readonly StackDeclarations[],
  others: readonly StackDeclarations[],
): SecretUse[] {
  const asked = new Set(stacks.map(it => it.name))
  const uses = new Map<string, {declaration: Declaration; path: string}[]>()
  for (const declaration of [...stacks, ...others].flatMap(it => it.declarations)) {
    for (const {pointer: path, leaf} of openLeaves(declaration.spec)) {
      for (const {stack, name} of variablesRead(leaf.expression ?? '', declaration.stack)) {
        const known = uses.get(keyOf(stack, name))
        if (known === undefined) uses.set(keyOf(stack, name), [{declaration, path}])
        else known.push({declaration, path})
      }
    }
  }
  return secrets
    .filter(it => asked.has(it.stack))
    .map(({stack, name, version, set}) => {
      const fields = (uses.get(keyOf(stack, name)) ?? []).map(({declaration, path}) => fieldOf(declaration, path, stack))
      return {
        stack,
        name,
        variable: `TF_VAR_${name}`,
        version: version ?? null,
        set,
        usedBy: [...new Set(fields.map(it => it.address))],
        changeable: fields.every(it => it.changeable),
        fields,
      }
    })
    .sort((a, b) => (keyOf(a.stack, a.name) < keyOf(b.stack, b.name) ? -1 : 1))
}

function fieldOf(declaration: Declaration, path: string, stack: string): ShownSecret {
  const kind = kinds.get(declaration.kind)
  const why = kind && whyNot(kind, path)
  return {
    address: declaration.stack === stack ? declaration.address : declaration.key,
    path,
    changeable: why === undefined,
    ...(why === undefined ? {} : {why}),
  }
}

/** Why an update cannot send the field, where it cannot. */
function whyNot(kind: Kind, path: string): string | undefined {
  if (kind.verbs.update === undefined) return kind.absent?.update ?? `the API cannot change a ${kind.noun}`
  const pattern = parsePointer(path).map(segment => (/^\d+$/.test(segment) ? '*' : segment))
  const {createOnly, immutable} = ruleAt(kind, `/${pattern.join('/')}`)
  if (createOnly) return 'it is sent on create only'
  return immutable ? 'a change of it means another object' : undefined
}
