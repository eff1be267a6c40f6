/** What earlier runs of a plan have done of it, from its beginning or since it was carried out whole. */
import type {State} from '../../engine/model/events.ts'
import {changedIn, doneIn, madeIn, recordedIn, stepsDoneIn} from '../../engine/model/journal.ts'
import {keyOfOperation} from '../../engine/model/value.ts'
import type {Begun} from '../../engine/plan/begun.ts'
import {stepsOf} from '../../engine/plan/bill.ts'
import type {Host} from '../host/host.ts'
import {beforeOf, type RunStory, recentRuns} from './run-files.ts'

/** The same where the last run of a plan here is over, and has left something of it to do. */
export function begunBefore(host: Host, plan: string): Begun | undefined {
  const last = recentRuns(host).findLast(it => it.header.plan === plan)
  return last === undefined || isWhole(last) ? undefined : begunRun(host, plan)
}

/**
 * What a run that is gone on with has done, and those that went on with it or that it went on with.
 * @param run - the one that is resumed; absent: the last one of this plan
 */
export function begunRun(host: Host, plan: string, run?: string): Begun {
  const stories = recentRuns(host, run).filter(it => it.header.plan === plan)
  const at = run === undefined ? stories.length - 1 : stories.findIndex(it => it.header.run === run)
  const own = stories.slice(stories.slice(0, Math.max(0, at)).findLastIndex(isWhole) + 1)
  const entries = own.flatMap(it => it.entries)
  const [done, recorded, steps] = [new Set(doneIn(entries)), new Set(recordedIn(entries)), stepsDoneIn(entries)]
  return {
    isDone: it => {
      const [key, all] = [keyOfOperation(it), stepsOf(it)]
      if (all.length === 0) return recorded.has(key)
      return done.has(key) || all.every(step => steps.get(key)?.has(step))
    },
    made: new Map(own.flatMap(it => [...madeIn(it.entries)])),
    changed: new Map(own.flatMap(it => [...changedIn(it.entries)])),
    before: own.flatMap(it => beforeOf(host, it.header.run) ?? []),
  }
}

function isWhole({entries}: RunStory): boolean {
  const end = entries.findLast(it => it.type === 'end')
  // What settles a dead run counts something else, and does nothing that was left.
  return (
    end !== undefined &&
    'done' in end.summary &&
    Object.entries(end.summary).every(([state, count]) => count === 0 || ENDED_WELL.has(state))
  )
}

const ENDED_WELL: ReadonlySet<string> = new Set<State>(['done', 'no-op'])
