import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import {withContext} from '../../engine/observe/with-context.ts'

/** Of stacks that are not selected, those that something selected hangs on are read: by name, the APIs they speak to. */
export function neededApis(
  selected: readonly StackDeclarations[],
  others: readonly StackDeclarations[],
): ReadonlyMap<string, readonly Api[]> {
  const names = new Set(selected.map(it => it.name))
  const context = new Set(withContext([...selected, ...others], it => names.has(it.stack)).map(it => it.stack))
  return new Map(others.map(it => [it.name, context.has(it.name) ? apisOfKinds(it.declarations.map(one => one.kind)) : []]))
}

export const apisOfKinds = (names: Iterable<string>): readonly Api[] => [...new Set([...names].flatMap(name => kinds.get(name)?.api ?? []))]

/** Whether a stack speaks to the API of a kind. */
export const speaksTo =
  (connectionOf: (stack: string, api: Api) => unknown) =>
  ({stack, kind}: {readonly stack: string; readonly kind: string}): boolean =>
    apisOfKinds([kind]).some(api => connectionOf(stack, api) !== undefined)
