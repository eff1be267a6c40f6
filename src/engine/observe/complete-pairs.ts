/** What pairs of a declaration and its live object are completed with once everything is read. */

import {liveAttribute} from '../model/attribute.ts'
import {diffFields} from '../model/diff.ts'
import {liveObject, outputOf} from '../model/live.ts'
import {resolveValue} from '../model/resolve.ts'
import type {Key, ValueObject} from '../model/value.ts'
import type {ObserveInput, Paired} from './observation.ts'

/** Fills in what another object's live fields already answer. */
export function resolveSpecs(input: ObserveInput, pairs: ReadonlyMap<Key, Paired>): Map<Key, Paired> {
  const lookup = {
    variable: input.variable,
    attribute: (key: Key, attribute: string) => liveAttribute(pairs.get(key)?.match?.live, attribute),
  }
  const resolved = new Map<Key, Paired>()
  for (const [key, pair] of pairs) {
    const spec = resolveValue(pair.spec, deferred =>
      deferred.needs.every(it => pairs.get(it)?.match !== undefined)
        ? tryEvaluate(() => input.evaluate(deferred.expression, pair.declaration.stack, lookup))
        : undefined,
    )
    resolved.set(key, {...pair, spec: spec as ValueObject})
  }
  return resolved
}

function tryEvaluate<T>(evaluate: () => T): T | undefined {
  try {
    return evaluate()
  } catch {
    // An output the live object does not show (yet): it stays open, and the apply says so when it still is.
    return undefined
  }
}

/** List rows may be sparse: one read each where a declared field or an output is missing in the row. */
export async function fetchSparse(input: ObserveInput, pairs: ReadonlyMap<Key, Paired>): Promise<Map<Key, Paired>> {
  const full = new Map(pairs)
  await Promise.all(
    [...pairs.values()].map(async pair => {
      const live = pair.match?.live
      if (pair.match === undefined || live?.kind.verbs.read === undefined || live.kind.singleton) return
      const {missingInLive} = diffFields({
        kind: live.kind,
        declared: pair.spec,
        live: live.fields,
        ignore: pair.declaration.policy.ignoreChanges,
        secretState: () => 'same',
      })
      const outputs = pair.declaration.outputs.filter(
        it => outputOf(live, it) === undefined && !Object.hasOwn(pair.spec, it.split('/')[0] ?? ''),
      )
      if (missingInLive.length === 0 && outputs.length === 0) return
      const row = await input.backendOf(pair.declaration.stack, live.kind.api).reader.read(live.kind.verbs.read(live.ids), {kept: true})
      const whole = row && liveObject(live.kind, live.ids.slice(0, -1), {...live.fields, ...row})
      if (whole) full.set(pair.declaration.key, {...pair, match: {...pair.match, live: {...live, fields: whole.fields}}})
    }),
  )
  return full
}
