/** A parent that a plan does not cover: where it is, and what the ledger has under its key until it comes there. */
import type {ParentRef} from '../model/declaration.ts'
import type {PlanInput} from './plan-input.ts'

type ByKey = Extract<ParentRef, {readonly by: 'key'}>

/** @param remoteId - of the parent, which may have come to its key from another one by what is no part of the plan */
export function outsideParent({ledgers, otherLedgers = []}: PlanInput, ref: ByKey, remoteId: string): ByKey {
  const at = ref.key.indexOf(':')
  const stack = ref.key.slice(0, at)
  const ledger = ledgers.get(stack) ?? otherLedgers.find(it => it.stack === stack)
  const ledgerHas = ledger?.entries.get(ref.key.slice(at + 1))?.remoteId
  return {...ref, remoteId, ...(ledgerHas === undefined || ledgerHas === remoteId ? {} : {ledgerHas})}
}
