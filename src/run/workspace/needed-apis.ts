import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'

/** Of a stack that is not selected, only what a selected one refers to is read. */
export function neededApis(stack: StackDeclarations, selected: readonly StackDeclarations[]): readonly Api[] {
  const prefix = `${stack.name}:`
  const referred = selected.some(it =>
    it.declarations.some(
      d => (d.parent?.by === 'key' && d.parent.key.startsWith(prefix)) || d.dependsOn.some(edge => edge.key.startsWith(prefix)),
    ),
  )
  return referred ? apisOfKinds(stack.declarations.map(it => it.kind)) : []
}

export const apisOfKinds = (names: Iterable<string>): readonly Api[] => [...new Set([...names].flatMap(name => kinds.get(name)?.api ?? []))]

/** Whether a stack speaks to the API of a kind. */
export const speaksTo =
  (connectionOf: (stack: string, api: Api) => unknown) =>
  ({stack, kind}: {readonly stack: string; readonly kind: string}): boolean =>
    apisOfKinds([kind]).some(api => connectionOf(stack, api) !== undefined)
