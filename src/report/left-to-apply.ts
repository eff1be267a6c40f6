/** Whether another apply of what is left would send anything. */
import type {State} from '../engine/model/events.ts'

interface EndedAs {
  /** As `because` names it. */
  readonly key: string
  readonly state: State
  readonly because?: string | undefined
}

/** What the API cannot do, and what waits for that, is left the next time as well. */
export function isLeftToApply(ended: readonly EndedAs[]): boolean {
  const byKey = new Map(ended.map(it => [it.key, it]))
  const isStuck = (it: EndedAs, seen: ReadonlySet<string> = new Set()): boolean => {
    if (it.state === 'blocked') return true
    const before = it.because === undefined || seen.has(it.key) ? undefined : byKey.get(it.because)
    return it.state === 'skipped' && before !== undefined && isStuck(before, new Set([...seen, it.key]))
  }
  return ended.some(it => it.state !== 'done' && it.state !== 'no-op' && !isStuck(it))
}
