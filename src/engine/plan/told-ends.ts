/** How the operations of a run ended, as its journal tells it: of one that died, and of what others have found out since, too. */
import type {State, Step} from '../model/events.ts'
import type {DeadRun, JournalEntry} from '../model/journal.ts'
import type {Operation} from '../model/plan.ts'
import type {Key} from '../model/value.ts'
import {stepsOf} from './bill.ts'

export interface ToldEnd {
  readonly state: State
  /** Why it is not done, in words; of what is blocked its plan says that. */
  readonly why?: string
}

type Told = Extract<JournalEntry, {readonly key: Key}>

/** What a run ends without knowing the end of. */
export const LEFT_OPEN: readonly State[] = ['detached', 'unknown']

/** @returns asked with the operation of the run's plan, where that is still there: it says which steps there are */
export function toldEnds({
  entries,
  loose,
}: Pick<DeadRun, 'loose'> & {readonly entries: readonly JournalEntry[]}): (key: Key, operation: Operation | undefined) => ToldEnd {
  const open = new Map(loose.map(it => [it.key, it.step]))
  const told = toldBy(entries)
  return (key, operation) => {
    const own = told.get(key) ?? []
    const said = saidOf(own)
    const step = open.get(key)
    if (step !== undefined) {
      const state = said !== undefined && LEFT_OPEN.includes(said) ? said : 'unknown'
      return {state, why: `what became of its ${step} was not found out yet`}
    }
    const state = said === undefined || isSettledSince(own) ? brokenOff(own, operation) : said
    if (state === 'failed') return {state, why: whyFailed(own)}
    return state === 'skipped' ? {state, why: 'nothing was sent for it'} : {state}
  }
}

/** Whether a run has not said itself how all of it ended: then it takes its plan to tell. */
export function isCutShort(entries: readonly JournalEntry[]): boolean {
  if (!entries.some(it => it.type === 'end' && it.summary.recovered === undefined)) return true
  const told = toldBy(entries)
  return [...told.values()].some(own => own.some(it => it.type === 'sent') && (saidOf(own) === undefined || isSettledSince(own)))
}

const saidOf = (own: readonly Told[]): State | undefined => own.findLast(it => it.type === 'ended')?.state

function toldBy(entries: readonly JournalEntry[]): ReadonlyMap<Key, readonly Told[]> {
  const told = new Map<Key, Told[]>()
  for (const it of entries) {
    if (!('key' in it)) continue
    const own = told.get(it.key)
    if (own) own.push(it)
    else told.set(it.key, [it])
  }
  return told
}

/** What a run let go of, or waited for in vain, is as its steps say that were settled since. */
function isSettledSince(own: readonly Told[]): boolean {
  const at = own.findLastIndex(it => it.type === 'ended')
  const ended = own[at]
  if (ended?.type !== 'ended') return false
  if (LEFT_OPEN.includes(ended.state)) return true
  return ended.state === 'failed' && own.slice(at).some(it => it.type === 'settled' && it.failed === undefined)
}

/** How it stands with what a run wrote no end of: its steps follow each other, and the last one ends it. */
function brokenOff(own: readonly Told[], operation: Operation | undefined): State {
  if (operation?.action === 'no-op' || operation?.action === 'blocked') return operation.action
  const sent = own.flatMap(it => (it.type === 'sent' ? it.step : []))
  if (sent.length === 0) return 'skipped'
  const last = operation === undefined ? sent.at(-1) : stepsOf(operation).at(-1)
  // What came with its parent was changed, and not created.
  return stepsDone(own).some(it => it === last || (it === 'update' && last === 'create')) ? 'done' : 'failed'
}

const stepsDone = (own: readonly Told[]): readonly Step[] =>
  own.flatMap(it => (it.type === 'settled' && it.failed === undefined ? it.step : []))

function whyFailed(own: readonly Told[]): string {
  const last = own.findLast(it => it.type === 'settled' || it.type === 'void')
  if (last?.type === 'void') return last.why
  if (last?.type === 'settled' && last.failed !== undefined) return last.failed
  return `it went no further than ${stepsDone(own).at(-1) ?? 'its beginning'}`
}
