/** When what waits, is sent, runs and is ready: a bar an object, drawn with nothing but rectangles, lines and text. */
import {formatDuration} from '../../../base/duration.ts'
import type {Report, Timeline, TimelineRow} from '../../report.ts'
import {brief, counted} from '../../shown.ts'
import {type Html, html} from './html-text.ts'

/** More rows say less: those that end last are what a run waits for. */
const MOST_ROWS = 80
const ROW = 36
const TOP = 28
const LONGEST_LABEL = 60
/** Lines of the axis, with room for their words on a telephone. */
const MOST_MARKS = 4

const PHASES = [
  ['waiting', 'waiting', 'waits for its turn'],
  ['sending', 'sent', 'sent, and not answered yet'],
  ['task', 'task', 'its task runs'],
  ['settling', 'settling', 'becomes ready'],
] as const satisfies readonly (readonly [string, keyof TimelineRow, string])[]

/** Nice distances between the lines of the axis, in seconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400]

/** Lengths are shares of the width, so that words keep their size on any screen. */
export function timelinePicture(report: Report, timeline: Timeline): Html {
  const titles = new Map(report.objects.map(it => [it.key, it.construct ?? (report.stacks.length > 1 ? it.key : it.address)]))
  const last = timeline.rows.toSorted((a, b) => (b.ready ?? 0) - (a.ready ?? 0)).slice(0, MOST_ROWS)
  const chosen = new Set(last)
  const rows = timeline.rows.filter(it => chosen.has(it)).toSorted((a, b) => (a.sent ?? 0) - (b.sent ?? 0))
  const whole = Math.max(timeline.proven ?? 0, timeline.seconds, 0.001)
  const share = (seconds: number): number => Math.round((Math.min(seconds, whole) / whole) * 9_900) / 100
  const height = TOP + rows.length * ROW + 4
  const step = STEPS.find(it => whole / it <= MOST_MARKS) ?? 86_400 * Math.ceil(whole / 86_400 / MOST_MARKS)
  const marks = Array.from({length: Math.min(MOST_MARKS, Math.floor(whole / step)) + 1}, (_, at) => at * step)
  const vertical = (seconds: number, className: string): Html =>
    html`<line class="${className}" x1="${share(seconds)}%" x2="${share(seconds)}%" y1="${TOP - 8}" y2="${height}"/>`
  const anchor = (seconds: number) => (seconds === 0 ? 'start' : share(seconds) > 92 ? 'end' : 'middle')
  return html`<svg class="tl" aria-hidden="true" focusable="false" width="100%" height="${height}">${marks.map(
    it =>
      html`${vertical(it, 'lane')}<text class="axis" x="${share(it)}%" y="13" text-anchor="${anchor(it)}">${it === 0 ? '0' : formatDuration(it * 1000)}</text>`,
  )}${rows.map((row, at) => {
    const y = TOP + at * ROW
    return html`<text x="0" y="${y + 12}">${label(titles.get(row.key) ?? row.key)}</text>${bars(row, timeline, share, y + 17)}`
  })}${timeline.refusals.slice(0, 200).map(it => vertical(it, 'mark'))}</svg>`
}

function label(text: string): string {
  const whole = brief(text)
  return whole.length > LONGEST_LABEL ? `…${whole.slice(-LONGEST_LABEL).replace(/^[\udc00-\udfff]/, '')}` : whole
}

function bars(row: TimelineRow, {is, seconds}: Timeline, share: (seconds: number) => number, y: number): Html[] {
  const bar = (from: number, to: number, className: string) => {
    const width = Math.max(0.4, Math.round((share(to) - share(from)) * 100) / 100)
    return html`<rect class="bar ${className}" x="${share(from)}%" y="${y}" width="${width}%" height="11" rx="3"/>`
  }
  const end = row.ready ?? seconds
  if (is === 'planned') return [bar(row.sent ?? 0, end, 'planned')]
  return PHASES.flatMap(([className, field], at) => {
    const from = row[field]
    if (from === undefined) return []
    const next = PHASES.slice(at + 1).flatMap(([, later]) => row[later] ?? [])[0] ?? end
    return next > from ? [bar(from, next, className)] : []
  })
}

export function timelineLegend({is, refusals}: Timeline): Html {
  const sample = (className: string, words: string) =>
    html`<li><svg aria-hidden="true" width="18" height="12"><rect class="bar ${className}" width="18" height="12" rx="3"/></svg>${words}</li>`
  if (is === 'planned') return html`<ul class="legend">${[sample('planned', 'from being sent to being ready')]}</ul>`
  return html`<ul class="legend">${PHASES.map(([className, , words]) => sample(className, words))}${
    refusals.length === 0
      ? undefined
      : html`<li><svg aria-hidden="true" width="18" height="12"><line class="mark" x1="9" x2="9" y1="0" y2="12"/></svg>${counted(refusals.length, 'answer')} 429</li>`
  }</ul>`
}

export const isDrawable = ({rows}: Timeline): boolean => rows.length > 0
export const drawnRows = MOST_ROWS
