/**
 * A report as one page that needs nothing else: no request, no script to be read, at most 5 MB. The policy in it allows
 * exactly its one style and its one script, so that no text of a server can become more than text.
 */
import {createHash} from 'node:crypto'
import {formatDuration} from '../../../base/duration.ts'
import type {Report, Timeline} from '../../report.ts'
import {isActive} from '../../report.ts'
import type {ReportFormat} from '../../report-format.ts'
import {counted, objectGroups, verdict} from '../../shown.ts'
import {dependencyPictures, type Picture} from './graph.ts'
import {Html, html} from './html-text.ts'
import {
  attention,
  changesSection,
  edgeTable,
  failureSection,
  nextSteps,
  type PageCut,
  pageHead,
  summary,
  tiles,
  timelineTable,
} from './sections.ts'
import {SCRIPT, STYLE} from './style.ts'
import {drawnRows, isDrawable, timelineLegend, timelinePicture} from './timeline.ts'

const MOST_BYTES = 5_000_000

const CUTS: readonly PageCut[] = [
  {fields: true, most: Number.POSITIVE_INFINITY, pictures: true},
  {fields: false, most: Number.POSITIVE_INFINITY, pictures: true},
  {fields: false, most: 5_000, pictures: false},
  {fields: false, most: 1_000, pictures: false},
  {fields: false, most: 100, pictures: false},
]

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const POLICY = `default-src 'none'; style-src ${digest(STYLE)}; script-src ${digest(SCRIPT)}; base-uri 'none'; form-action 'none'`

export async function htmlPage(report: Report): Promise<string> {
  const pictures = await dependencyPictures(report)
  let text = ''
  for (const cut of CUTS) {
    if (leastBytes(report, cut) > MOST_BYTES) continue
    text = rendered(report, cut.pictures ? pictures : [], cut)
    if (Buffer.byteLength(text) <= MOST_BYTES) break
  }
  return text
}

/** What is far too large is not put together. */
function leastBytes({objects}: Report, {fields, most}: PageCut): number {
  const shown = objects.filter(isActive).slice(0, most)
  return shown.length * 300 + (fields ? shown.reduce((sum, it) => sum + it.changes.length, 0) * 60 : 0)
}

function rendered(report: Report, pictures: readonly Picture[], cut: PageCut): string {
  const {stacks, command} = report
  const parts = {changes: changesSection(report, cut), graph: graphSection(report, pictures, cut), timeline: timelineSection(report, cut)}
  const next = nextSteps(report)
  const {failed, destroys, risks, drifted} = objectGroups(report)
  const places: readonly (readonly [id: string, words: string, isThere: boolean])[] = [
    ['failed', 'Failed', failed.length > 0],
    ['destroys', 'Destroys', destroys.length > 0],
    ['risks', 'Risks', risks.length > 0],
    ['drift', 'Drift', drifted.length > 0],
    ['changes', 'Changes', parts.changes !== undefined],
    ['graph', 'What waits for what', parts.graph !== undefined],
    ['timeline', 'Timeline', parts.timeline !== undefined],
    ['next', report.applied === undefined ? 'To apply it' : 'The run', next !== undefined],
  ]
  const body = html`${pageHead(report, places)}
<main>${tiles(report)}${summary(report)}${failureSection(report)}${attention(report, cut)}${parts.changes}${parts.graph}${parts.timeline}${next}${
    cut === CUTS[0]
      ? undefined
      : html`<p class="why">This page is cut: ${cut.fields ? '' : 'fields are shown of what destroys or risks something only'}${cut.pictures ? '' : ', and without pictures'}.</p>`
  }</main>
<footer>Made by svcctl. It was made beforehand: this page asks nobody anything.</footer>`
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${new Html(POLICY.replaceAll('"', '&quot;'))}"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="referrer" content="no-referrer"><title>svcctl ${command}: ${stacks.length === 0 ? '-' : stacks.join(', ')}: ${verdict(report)}</title><style>${new Html(STYLE)}</style></head>
<body>${body}<script>${new Html(SCRIPT)}</script></body></html>
`.text
}

function graphSection(report: Report, pictures: readonly Picture[], {most}: PageCut): Html | undefined {
  if (!report.objects.some(it => isActive(it) && it.edges.length > 0)) return undefined
  const [only] = pictures
  const frame = (it: Picture) =>
    html`<div class="card scroll picture" tabindex="0" role="img" aria-label="${counted(it.nodes, 'object')} and what waits for what; the table below says the same">${it.svg}</div>`
  return html`<section aria-labelledby="graph"><h2 id="graph">What waits for what</h2>${
    pictures.length === 1 && only !== undefined
      ? frame(only)
      : html`<div class="scroll long" tabindex="0" role="region" aria-label="A picture for each subscription">${pictures.map(
          (it, at) =>
            html`<details class="more"${at === 0 ? html` open` : undefined}><summary>${it.of ?? ''}: ${counted(it.nodes, 'object')}</summary>${frame(it)}</details>`,
        )}</div>`
  }${aloneWords(report, pictures)}${edgeTable(report, most)}</section>`
}

function aloneWords({objects}: Report, pictures: readonly Picture[]): Html | undefined {
  const alone = objects.filter(isActive).length - pictures.reduce((sum, it) => sum + it.objects, 0)
  return alone <= 0 || pictures.length === 0
    ? undefined
    : html`<p class="why">${counted(alone, 'other object')} ${alone === 1 ? 'waits' : 'wait'} for nothing.</p>`
}

function timelineSection(report: Report, cut: PageCut): Html | undefined {
  const {timeline} = report
  if (timeline === undefined || !isDrawable(timeline)) return undefined
  return html`<section aria-labelledby="timeline"><h2 id="timeline">${timeline.is === 'planned' ? 'How long it will take' : 'How long it took'}</h2><p class="why">${timelineWords(timeline)}</p>${timelineLegend(timeline)}<div class="card scroll picture" tabindex="0" role="img" aria-label="A bar for each change from being sent to being ready; the table below says the same">${timelinePicture(report, timeline)}</div>${timelineTable(report, timeline, cut.most)}</section>`
}

function timelineWords({is, rows, seconds, ready, proven, refusals}: Timeline): string {
  const most = rows.length > drawnRows ? `The ${drawnRows} of ${rows.length} that end last. ` : ''
  if (is === 'planned')
    return `${most}${formatDuration(seconds * 1000)}, by what such changes took so far; without waiting for the request limit.`
  const parts = [
    ...(ready === undefined ? [] : [`all ready after ${formatDuration(ready * 1000)}`]),
    ...(proven === undefined ? [] : [`proven after ${formatDuration(proven * 1000)}`]),
    ...(refusals.length === 0 ? [] : [`${counted(refusals.length, 'answer')} 429`]),
  ]
  return `${most}${parts.join(', ') || formatDuration(seconds * 1000)}.`
}

export const htmlFormat: ReportFormat = {render: async report => [{to: 'place', text: await htmlPage(report)}]}
