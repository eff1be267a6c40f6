/** Pieces of text that every format shows in the same words. What they return is not escaped for any format. */
import {formatDuration} from '../base/duration.ts'
import type {Json} from '../base/json.ts'
import type {GuardResult} from '../engine/model/plan.ts'
import {boundBy} from './bound-by.ts'
import {shownValue} from './plan-text.ts'
import {isDestroy, isRisky, type Report, type ReportAction, type ReportChange, type ReportObject, risksOf} from './report.ts'
import {oneLine} from './terminal-text.ts'

/** A longer text loses its middle. */
const LONGEST = 200
const UNREMARKABLE = /^[!-~]+(?: [!-~]+)*$/
const HEAD = 110
const TAIL = 50

/** On one line and at most 200 characters, with the length where something is missing. */
export function brief(text: string): string {
  // Of ten thousand objects nearly all texts are.
  if (text.length <= LONGEST && UNREMARKABLE.test(text)) return text
  const line = oneLine(text)
  if (line.length <= LONGEST) return line
  const [head, tail] = [line.slice(0, HEAD), line.slice(-TAIL)]
  // Neither end is half a character.
  return `${head.replace(/[\ud800-\udbff]$/, '')} … (${grouped(line.length)} characters) … ${tail.replace(/^[\udc00-\udfff]/, '')}`
}

export const briefValue = (value: Json | undefined, absent: string): string => (value === undefined ? absent : brief(shownValue(value)))

/** `1 234 567` */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ' ')

export const counted = (count: number, one: string, more = `${one}s`): string => `${grouped(count)} ${count === 1 ? one : more}`

/** `/a/b` as people say it; the object itself has a name. */
export const fieldOf = ({path}: Pick<ReportChange, 'path'>): string => (path === '' ? '(object)' : brief(path.slice(1)))

/** As people know it: its construct path before the address that cdktf made of it. */
export function titleParts({key, address, construct}: ReportObject, several: boolean): readonly string[] {
  const own = brief(several ? key : address)
  return construct === undefined ? [own] : [brief(construct), own]
}

const PLANNED: Readonly<Record<ReportAction, string>> = {
  delete: 'to delete',
  replace: 'to replace',
  update: 'to update',
  create: 'to create',
  adopt: 'to adopt',
  move: 'to move',
  forget: 'to forget',
  blocked: 'blocked',
  'no-op': 'unchanged',
  missing: 'missing',
  drifted: 'drifted',
  unchanged: 'unchanged',
}

/** What destroys comes first. */
const ORDER: readonly ReportAction[] = ['delete', 'replace', 'update', 'create', 'adopt', 'move', 'forget', 'blocked', 'missing', 'drifted']

const STATES = ['failed', 'unknown', 'skipped', 'blocked', 'detached', 'done'] as const

/** `3 to delete, 1 997 to create`; of an apply how its operations ended. */
export function countsInWords(report: Report): string {
  const {objects, applied, command} = report
  if (applied !== undefined) {
    const counts = STATES.map(state => [objects.filter(it => it.state === state).length, state] as const).filter(([count]) => count > 0)
    return counts.length === 0 ? 'nothing to do' : counts.map(([count, state]) => `${grouped(count)} ${state}`).join(', ')
  }
  const {accepted} = objectGroups(report)
  const open = objects.filter(it => it.accepted === undefined)
  const counts = ORDER.map(action => [open.filter(it => it.action === action).length, PLANNED[action]] as const)
  const all = [...counts, [accepted.length, 'accepted'] as const]
  const shown = all.filter(([count]) => count > 0).map(([count, words]) => `${grouped(count)} ${words}`)
  if (shown.length > 0) return shown.join(', ')
  return command === 'drift' ? 'no drift' : 'no changes'
}

/** What stands against a plan, with how many objects it is about, once. */
export const guardWords = ({message, addresses}: GuardResult): string =>
  /^\d/.test(message) || addresses.length === 0 ? message : `${message} (${counted(addresses.length, 'object')})`

/** What goes with an object, or is risked with it. */
export function lossesOf(it: ReportObject): readonly string[] {
  const risks = [...new Set(risksOf(it).map(risk => risk.risk))]
  return [
    ...(it.holdsData && isDestroy(it) && risks.length === 0 ? ['its data is lost'] : risks),
    ...(it.takes === undefined ? [] : [`takes ${counted(it.takes.length, 'object')} along`]),
  ]
}

/** What somebody has to look at first stands first; otherwise as it is carried out. */
export function byWeight(objects: readonly ReportObject[]): readonly ReportObject[] {
  const weight = ({action, state}: ReportObject): number => {
    const ofState = state === undefined || state === 'no-op' ? -1 : STATES.indexOf(state as (typeof STATES)[number])
    return ofState >= 0 ? ofState : ORDER.indexOf(action)
  }
  return objects.toSorted((a, b) => weight(a) - weight(b))
}

/** What the heading says after the stacks. */
export function verdict(report: Report): string {
  const {failure, refused, objects} = report
  if (failure !== undefined) return refused ? 'refused' : 'failed'
  const counts = countsInWords(report)
  return refused ? `refused${objects.length === 0 ? '' : ` (${counts})`}` : counts
}

export function costInWords({cost: {used, requests, seconds, bound}, applied}: Report): string {
  const sent = used === undefined ? [] : [`${counted(used, 'request')} sent`]
  if (requests === undefined || seconds === undefined) return sent.join(', ') || 'not known'
  const planned =
    requests === 0 ? 'nothing to send' : `${counted(requests, 'request')}, ${formatDuration(seconds * 1000)}, ${boundBy(bound ?? '-')}`
  return [applied === undefined ? planned : `planned: ${planned}`, ...sent].join('; ')
}

export interface Groups {
  readonly destroys: readonly ReportObject[]
  readonly risks: readonly ReportObject[]
  readonly blocked: readonly ReportObject[]
  readonly held: readonly ReportObject[]
  /** Of an apply: what did not end well. */
  readonly failed: readonly ReportObject[]
  /** Of a drift: what is otherwise than it was applied, and nobody accepts. */
  readonly drifted: readonly ReportObject[]
  readonly accepted: readonly ReportObject[]
}

export function objectGroups({objects}: Report): Groups {
  return {
    destroys: objects.filter(isDestroy),
    risks: objects.filter(isRisky),
    blocked: objects.filter(it => it.action === 'blocked' || it.state === 'blocked'),
    held: objects.filter(it => it.held !== undefined),
    failed: objects.filter(it => it.state === 'failed' || it.state === 'unknown' || it.state === 'skipped' || it.state === 'detached'),
    drifted: objects.filter(it => (it.action === 'drifted' || it.action === 'missing') && it.accepted === undefined),
    accepted: objects.filter(it => it.accepted !== undefined),
  }
}

/** How many of each kind, most first. */
export function byKind(objects: readonly ReportObject[]): readonly (readonly [kind: string, count: number])[] {
  const counts = new Map<string, number>()
  for (const {kind} of objects) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
}
