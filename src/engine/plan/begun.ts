/**
 * What a run that is gone on with has done already, and what it found: it makes nothing twice, and gives way to nobody who came
 * after it.
 */
import type {BeforeImage} from '../model/before-image.ts'
import type {Operation} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import {stepsOf} from './bill.ts'

export interface Begun {
  /** What it has made; without an id, where somebody else has settled its create since. */
  readonly made: ReadonlyMap<Key, string | undefined>
  /** What it has sent changes to; absent: nothing. */
  readonly changed?: ReadonlyMap<Key, string>
  /** What it has carried out to its end: asked for an operation of its plan. Absent: nothing. */
  readonly isDone?: (planned: Operation) => boolean
  /** What the ledgers had of what it was to touch; none: nobody can tell any more. */
  readonly before: readonly BeforeImage[]
}

/** Journals are read where they decide something, and then once. */
export function once<T>(look: () => T): () => T {
  let known: {readonly value: T} | undefined
  return () => {
    known ??= {value: look()}
    return known.value
  }
}

/** Why an operation is not carried out once more, in words: what it would make was there, and somebody has taken it away since. */
export function whyNotMade(now: Operation, of: () => Begun | undefined): string | undefined {
  if (!stepsOf(now).includes('create')) return undefined
  const [key, begun] = [keyOfOperation(now), of()]
  if (!begun?.made.has(key)) return undefined
  const made = begun.made.get(key)
  // Another run has found what this one had begun, or has found that it was never made: only its own journal says which.
  return made === undefined
    ? 'what this run had begun was settled by another one, and is not there (never made, or gone since): no run makes an object twice'
    : `this run has made it as ${made}, and it is gone since: no run makes an object twice`
}

/**
 * Why what a run has done already is not done again, in words: whoever has changed it since has not approved that. A ledger that
 * does not have it all yet may still be written, and what the ledger has as sent may be sent again: the API did not keep it.
 */
export function whyNotAgain(planned: Operation, now: Operation, begun: Begun | undefined): string | undefined {
  const letsGo = planned.action === 'forget' && now.action === 'forget'
  const wasNotKept = now.action === 'update' && now.remoteId === planned.remoteId && now.changes.every(it => it.moved === 'outside')
  if ((stepsOf(now).length === 0 && !letsGo) || wasNotKept || begun?.isDone?.(planned) !== true) return undefined
  return `this run has done it, and now it would be ${now.action} (${now.reason}): no run does anything twice`
}

/** Whether an address was an object's when the run began; `undefined`: nobody can tell any more. */
export function foundBy({before}: Begun): ((address: Key, remoteId: string) => boolean) | undefined {
  if (before.length === 0) return undefined
  const found = new Set(
    before.flatMap(({stacks}) =>
      Object.entries(stacks).flatMap(([stack, {entries}]) => entries.map(it => `${keyOf(stack, it.address)} ${it.remoteId}`)),
    ),
  )
  return (address, remoteId) => found.has(`${address} ${remoteId}`)
}
