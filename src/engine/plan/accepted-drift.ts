/** What of a drift somebody has accepted, and what of that has run out or is about nothing. */
import {isOver} from '../../base/deadline.ts'
import {canonicalJson, type Json} from '../../base/json.ts'
import type {BaselineEntry} from '../model/drift-baseline.ts'
import {holdsMark} from '../model/shown-field.ts'
import {type Key, keyOfOperation} from '../model/value.ts'
import type {Drifted, DriftReport, OwnedObject} from './drift.ts'

/** One field, or one object that is gone, and who lives with it until when. */
export interface AcceptedDrift extends OwnedObject, Pick<BaselineEntry, 'until' | 'by' | 'reason'> {
  /** JSON pointer; empty for an object that is gone. */
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}

export interface JudgedDrift extends DriftReport {
  readonly summary: DriftReport['summary'] & {
    /** Objects in which nothing drifted but what is accepted. */
    readonly accepted: number
  }
  readonly accepted: readonly AcceptedDrift[]
  /** Entries whose time is over: they accept nothing any more. */
  readonly expired: readonly BaselineEntry[]
  /** Entries that nothing fits, of objects that were looked at. */
  readonly unused: readonly BaselineEntry[]
}

/** An entry, and which objects its address means. */
export interface MeantEntry {
  readonly entry: BaselineEntry
  readonly keys: ReadonlySet<Key>
}

/**
 * @param now - milliseconds since the epoch
 * @param seen - whether the drift is about an object at all: it may have been narrowed
 */
export function judged(
  report: DriftReport,
  baseline: readonly MeantEntry[],
  {now, seen}: {readonly now: number; readonly seen: (key: Key) => boolean},
): JudgedDrift {
  const holds = ({entry}: MeantEntry) => !isOver(entry.until, now)
  const valid = baseline.filter(holds)
  const used = new Set<BaselineEntry>()
  const accepted: AcceptedDrift[] = []
  const drifted: Drifted[] = []
  for (const it of report.drifted) {
    const key = keyOfOperation(it)
    const own = valid.filter(({keys}) => keys.has(key)).map(({entry}) => entry)
    const {missing, changes, ...object} = it
    const take = (path: string, sides: Pick<AcceptedDrift, 'before' | 'after'>, fits: (entry: BaselineEntry) => boolean): boolean => {
      const fitting = own.filter(fits)
      for (const entry of fitting) used.add(entry)
      // Of several the one that holds longest is what counts.
      const [longest] = fitting.toSorted((a, b) => Date.parse(b.until) - Date.parse(a.until))
      if (longest === undefined) return false
      accepted.push({...object, path, ...sides, until: longest.until, by: longest.by, reason: longest.reason})
      return true
    }
    if (missing) {
      if (!take('', {}, entry => entry.missing === true && entry.path === '')) drifted.push(it)
      continue
    }
    const left = changes.filter(({path, before, after}) => {
      const sides = {...(before === undefined ? {} : {before}), ...(after === undefined ? {} : {after})}
      return !take(path, sides, entry => isFor(entry, path, after))
    })
    if (left.length > 0) drifted.push({...it, changes: left})
  }
  const missing = drifted.filter(it => it.missing).length
  return {
    ...report,
    drifted,
    summary: {
      ...report.summary,
      drifted: drifted.length - missing,
      missing,
      accepted: report.drifted.length - drifted.length,
    },
    accepted,
    expired: baseline.filter(it => !holds(it)).map(({entry}) => entry),
    unused: valid.filter(({entry, keys}) => !used.has(entry) && [...keys].some(seen)).map(({entry}) => entry),
  }
}

/** Whether an entry is about what a field has now. */
function isFor(entry: BaselineEntry, path: string, live: Json | undefined): boolean {
  if (entry.any) return path === entry.path || path.startsWith(`${entry.path}/`)
  if (entry.path !== path) return false
  if (live === undefined) return entry.missing === true
  // Of what is not shown, nobody can have accepted that very value.
  return entry.value !== undefined && !holdsMark(live) && canonicalJson(entry.value) === canonicalJson(live)
}
