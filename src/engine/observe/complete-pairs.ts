/** What pairs of a declaration and its live object are completed with once everything is read. */

import {canonicalJson} from '../../base/json.ts'
import {isRecordedSecret, liveAttribute} from '../model/attribute.ts'
import {diffFields} from '../model/diff.ts'
import type {Ledger} from '../model/ledger.ts'
import {type LiveObject, outputOf, readObject, withOwnRow} from '../model/live.ts'
import {openLeaves, plainPart, resolveValue} from '../model/resolve.ts'
import {recordedSecrets} from '../model/shown-field.ts'
import {Deferred, type Key, Secret, type ValueObject} from '../model/value.ts'
import {staleRow} from './absence.ts'
import type {ObserveInput, Paired} from './observation.ts'
import {entryOf} from './pair.ts'

/** Everything filled in that what was read answers; what a row does not show, and is needed, is read once more. */
export async function completePairs(input: ObserveInput, pairs: ReadonlyMap<Key, Paired>): Promise<Map<Key, Paired>> {
  const seen = resolveSpecs(input, pairs)
  const whole = await fetchSparse(input, seen)
  const more = new Set([...whole].flatMap(([key, it]) => (it === seen.get(key) ? [] : [key])))
  const waits = ({spec}: Paired) => openLeaves(spec).some(({leaf}) => leaf instanceof Deferred && leaf.needs.some(it => more.has(it)))
  return more.size > 0 && [...whole.values()].some(waits) ? fetchSparse(input, resolveSpecs(input, whole)) : whole
}

/**
 * Declarations of which more is known than they were looked for by: an object that is found by its name must not be made a
 * second time for a name that was not known yet, and no other one may get a name that another object has.
 *
 * @param specs - what they were looked for by, where that was not what is declared
 */
export function namedAnew(
  {kinds}: ObserveInput,
  pairs: ReadonlyMap<Key, Paired>,
  specs: ReadonlyMap<Key, ValueObject>,
): Map<Key, ValueObject> {
  const isNew = ({declaration: {key, kind, spec: declared}, spec, match}: Paired) => {
    if (spec === declared || (match !== undefined && specs.has(key))) return false
    const {identity} = kinds.get(kind) ?? {}
    const [was, is] = [plainPart(specs.get(key) ?? declared), plainPart(spec)]
    return identity?.matches ? canonicalJson(was) !== canonicalJson(is) : identity?.key(was) !== identity?.key(is)
  }
  return new Map([...pairs].flatMap(([key, it]) => (isNew(it) ? [[key, it.spec] as const] : [])))
}

/** Fills in what another object's live fields already answer. */
function resolveSpecs(input: ObserveInput, pairs: ReadonlyMap<Key, Paired>): Map<Key, Paired> {
  const ledgers = allLedgers(input)
  const resolved = new Map<Key, Paired>()
  for (const [key, pair] of pairs) {
    const spec = resolveValue(pair.spec, ({expression, needs}) => {
      if (!needs.every(it => pairs.get(it)?.match !== undefined)) return undefined
      let secret = false
      const attribute = (of: Key, name: string) => {
        const read = pairs.get(of)
        // Nobody declares it there any more, and a ledger knows that it was a secret.
        secret ||= read !== undefined && isRecordedSecret(recordedSecrets(entryOf(ledgers, read)), name)
        return liveAttribute(read?.match?.live, name)
      }
      const value = tryEvaluate(() => input.evaluate(expression, pair.declaration.stack, {variable: input.variable, attribute}))
      return secret && value !== undefined && value !== null ? new Secret(value, expression, undefined, needs) : value
    })
    resolved.set(key, {...pair, spec: spec as ValueObject})
  }
  return resolved
}

const allLedgers = ({otherLedgers = [], ledgers}: ObserveInput): ReadonlyMap<string, Ledger> =>
  new Map([...otherLedgers.map(it => [it.stack, it] as const), ...ledgers])

function tryEvaluate<T>(evaluate: () => T): T | undefined {
  try {
    return evaluate()
  } catch {
    // An output the live object does not show (yet): it stays open, and the apply says so when it still is.
    return undefined
  }
}

/**
 * List rows may be sparse, and late: one read each where a declared field or an output is missing in the row, where it is
 * not as it was written a moment ago, and where an object that no ledger has would be changed, which its list alone shows.
 */
async function fetchSparse(input: ObserveInput, pairs: ReadonlyMap<Key, Paired>): Promise<Map<Key, Paired>> {
  const full = new Map(pairs)
  const ledgers = allLedgers(input)
  await Promise.all(
    [...pairs.values()].map(async pair => {
      const live = pair.match?.live
      if (pair.match === undefined || live?.kind.verbs.read === undefined || live.kind.singleton) return
      const entry = entryOf(ledgers, pair)
      const {missingInLive, changes, assumed} = diffFields({
        kind: live.kind,
        declared: pair.spec,
        live: live.fields,
        ...(entry ? {applied: entry.applied} : {}),
        ignore: pair.declaration.policy.ignoreChanges,
        secretState: () => 'same',
      })
      const outputs = pair.declaration.outputs.filter(
        it => outputOf(live, it) === undefined && !Object.hasOwn(pair.spec, it.split('/')[0] ?? ''),
      )
      const isStrange = changes.length > 0 && pair.match.found === 'name' && !pair.context && entry === undefined
      const isAssumed = assumed.length > 0 && !pair.context
      if (missingInLive.length === 0 && outputs.length === 0 && !isAssumed && !isStrange && !isLate(input, pair, live)) return
      const request = live.kind.verbs.read(live.ids)
      const row = await readObject(input.backendOf(pair.declaration.stack, live.kind.api), live.kind, live.ids, {kept: true})
      if (row === undefined) return void full.set(pair.declaration.key, {...pair, doubt: staleRow(request.path)})
      full.set(pair.declaration.key, {...pair, match: {...pair.match, live: {...live, fields: withOwnRow(live, row)}}})
    }),
  )
  return full
}

/** Whether a list shows it other than the ledger has it, right after something was written. */
function isLate({maybeLate = false, ledgers}: ObserveInput, pair: Paired, live: LiveObject): boolean {
  const entry = maybeLate ? entryOf(ledgers, pair) : undefined
  if (entry === undefined || entry.remoteId !== live.remoteId) return false
  const {applied} = entry
  const ignore = pair.declaration.policy.ignoreChanges
  return diffFields({kind: live.kind, declared: applied, applied, live: live.fields, ignore, secretState: () => 'same'}).changes.length > 0
}
