/** The parts of the page, from the top: what a reviewer must see first stands first. */

import {formatDuration} from '../../../base/duration.ts'
import type {Edge} from '../../../engine/model/plan.ts'
import {liftingOf} from '../../../engine/plan/guards.ts'
import {liftedBy} from '../../plan-text.ts'
import type {Report, ReportChange, ReportObject, Timeline, TimelineRow} from '../../report.ts'
import {isActive, isDestroy, isRisky, risksOf} from '../../report.ts'
import {
  briefValue,
  byKind,
  byWeight,
  costInWords,
  counted,
  fieldOf,
  grouped,
  guardWords,
  lossesOf,
  objectGroups,
  titleParts,
  verdict,
} from '../../shown.ts'
import {type Html, html, wholeText} from './html-text.ts'

/** What a page that would be too large leaves out. */
export interface PageCut {
  readonly fields: boolean
  readonly most: number
  readonly pictures: boolean
}

const title = (it: ReportObject, several: boolean): Html => {
  const [head = '', ...rest] = titleParts(it, several)
  return html`<strong>${head}</strong>${rest.map(part => html`<span class="sub"><code>${part}</code></span>`)}`
}

const titlesOf = ({objects, stacks}: Report): ReadonlyMap<string, string> =>
  new Map(objects.map(it => [it.key, titleParts(it, stacks.length > 1)[0] ?? it.key]))

const lifted = (allow: string): Html => (liftingOf(allow) === 'option' ? html`allow with <code>${allow}</code>` : html`${liftedBy(allow)}`)

const badge = (word: string): Html => html`<span class="badge ${/^[a-z-]+$/.test(word) ? word : ''}">${word}</span>`

const actionOf = (it: ReportObject): string => (it.state === undefined || it.state === 'no-op' ? it.action : it.state)

/** @param places - where in the page what is, as far as it is there */
export function pageHead(report: Report, places: readonly (readonly [id: string, words: string, isThere: boolean])[]): Html {
  const {command, stacks, repository, commit, run, hash, failure, refused} = report
  const quiet = failure === undefined && !refused && !report.objects.some(isActive)
  const bad = failure !== undefined || refused || objectGroups(report).failed.length > 0
  return html`<header class="top"><p class="eyebrow">svcctl ${command}</p><h1>${stacks.length === 0 ? '-' : stacks.join(', ')}</h1>
<p class="verdict ${bad ? 'bad' : quiet ? 'good' : ''}">${verdict(report)}</p>
<ul class="facts">${[
    ...(repository === undefined ? [] : [html`<li>${repository}</li>`]),
    ...(commit === undefined ? [] : [html`<li>commit <code>${commit.slice(0, 12)}</code></li>`]),
    ...(hash === undefined ? [] : [html`<li>plan <code>${hash.slice(0, 12)}</code></li>`]),
    ...(run === 0 ? [] : [html`<li>job ${run}</li>`]),
  ]}</ul>
<nav aria-label="In this page"><ul class="facts">${places.filter(([, , isThere]) => isThere).map(([id, words]) => html`<li><a href="#${id}">${words}</a></li>`)}</ul></nav></header>`
}

const TILES = [
  ['delete', 'to delete', 'red'],
  ['replace', 'to replace', 'red'],
  ['update', 'to update', 'amber'],
  ['create', 'to create', 'green'],
  ['adopt', 'to adopt', 'blue'],
  ['move', 'to move', 'blue'],
  ['forget', 'to forget', 'blue'],
  ['blocked', 'blocked', 'amber'],
  ['missing', 'missing', 'red'],
  ['drifted', 'drifted', 'amber'],
  ['no-op', 'unchanged', ''],
  ['unchanged', 'unchanged', ''],
] as const
const STATE_TILES = [
  ['failed', 'red'],
  ['unknown', 'red'],
  ['skipped', 'amber'],
  ['blocked', 'amber'],
  ['detached', 'amber'],
  ['done', 'green'],
] as const

export function tiles({objects, applied}: Report): Html {
  const tile = (count: number, words: string, colour: string) =>
    count === 0 ? undefined : html`<li class="${colour}"><b>${grouped(count)}</b><span>${words}</span></li>`
  const ofStates = STATE_TILES.map(([state, colour]) => tile(objects.filter(it => it.state === state).length, state, colour))
  const ofActions = TILES.map(([action, words, colour]) => tile(objects.filter(it => it.action === action).length, words, colour))
  return html`<ul class="tiles">${applied === undefined ? ofActions : ofStates}</ul>`
}

export function summary(report: Report): Html {
  const {guards, notShown, notes, frozen = []} = report
  const {destroys, risks, blocked, held, accepted} = objectGroups(report)
  const replaced = destroys.filter(it => it.action === 'replace').length
  const several = report.stacks.length > 1
  const named = (objects: readonly ReportObject[], words: (it: ReportObject) => string) => [
    ...objects.slice(0, 10).map(it => html`<p>${titleParts(it, several)[0]}: ${words(it)}</p>`),
    ...(objects.length > 10 ? [html`<p>${grouped(objects.length - 10)} more</p>`] : []),
  ]
  const rows: readonly (readonly [string, Html])[] = [
    [
      'Destroys',
      destroys.length === 0
        ? html`none`
        : html`${[...(destroys.length > replaced ? [`${grouped(destroys.length - replaced)} deleted`] : []), ...(replaced > 0 ? [`${grouped(replaced)} replaced`] : [])].join(', ')}`,
    ],
    [
      'Risks',
      risks.length === 0
        ? html`none`
        : html`${counted(risks.length, 'object')}: ${[...new Set(risks.flatMap(it => risksOf(it).map(risk => risk.risk)))].slice(0, 5).join('; ')}`,
    ],
    [
      'Guards',
      guards.length + frozen.length === 0
        ? html`none`
        : html`${frozen.map(it => html`<p><strong>Frozen</strong>: ${it}</p>`)}${guards.map(it => html`<p><strong>${it.code}</strong>: ${guardWords(it)}; ${lifted(it.allow)}</p>`)}`,
    ],
    [
      'Blocked, held',
      blocked.length + held.length + accepted.length === 0
        ? html`none`
        : html`${[
            ...named(blocked, it => `blocked: ${it.error?.message ?? it.reason ?? ''}`),
            ...named(held, it => `held by ${it.held?.by ?? ''} until ${it.held?.until ?? ''}: ${it.held?.reason ?? ''}`),
            ...named(accepted, it => `accepted by ${it.accepted?.by ?? ''} until ${it.accepted?.until ?? ''}`),
          ]}`,
    ],
    ['Cost', html`${costInWords(report)}`],
    ['Not shown', notShown.length === 0 ? html`nothing` : html`${notShown.map(it => html`<p>${it}</p>`)}`],
    ...(notes.length === 0 ? [] : [['Notes', html`${notes.slice(0, 20).map(it => html`<p>${it}</p>`)}`] as const]),
  ]
  return html`<dl class="card">${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

export function failureSection({failure}: Report): Html | undefined {
  if (failure === undefined) return undefined
  const {code, message, problems, suggestions} = failure
  return html`<section aria-labelledby="failure"><h2 id="failure">What went wrong</h2><p><strong>${code}</strong>: ${message}</p>${
    problems.length === 0
      ? undefined
      : html`<ul>${problems.slice(0, 50).map(it => html`<li>${it.address === undefined ? undefined : html`<code>${it.address}</code>: `}${it.message}${it.source === undefined ? undefined : html` (<code>${it.source}</code>)`}</li>`)}</ul>`
  }${suggestions.length === 0 ? undefined : html`<ul>${suggestions.slice(0, 10).map(it => html`<li>${it}</li>`)}</ul>`}</section>`
}

interface Column {
  readonly name: string
  readonly cell: (it: ReportObject) => Html
}

function objectTable(
  id: string,
  heading: string,
  objects: readonly ReportObject[],
  columns: readonly Column[],
  most: number,
): Html | undefined {
  if (objects.length === 0) return undefined
  const more = objects.slice(most)
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${heading}</h2><div class="card scroll" tabindex="0" role="region" aria-label="${heading}, as a table"><table class="stack"><thead><tr>${columns.map(
    it => html`<th scope="col">${it.name}</th>`,
  )}</tr></thead><tbody>${objects.slice(0, most).map(it => html`<tr>${columns.map(column => html`<td data-name="${column.name}">${column.cell(it)}</td>`)}</tr>`)}</tbody></table></div>${notListed(more)}</section>`
}

/** What nobody may overlook: failures, destroys, risks, drift. */
export function attention(report: Report, {most}: PageCut): Html {
  const several = report.stacks.length > 1
  const {destroys, risks, failed, drifted} = objectGroups(report)
  const object: Column = {
    name: 'Object',
    cell: it => html`${title(it, several)}${it.name === undefined ? undefined : html`<span class="sub">${it.name}</span>`}`,
  }
  const action: Column = {name: 'Action', cell: it => badge(actionOf(it))}
  const kind: Column = {name: 'Kind', cell: it => html`<code class="kind">${it.kind}</code>`}
  return html`${objectTable('failed', 'Failed', failed, [object, action, {name: 'Why', cell: it => (it.error === undefined ? html`because of ${it.because ?? ''}` : html`<strong>${it.error.code}</strong>: ${it.error.message}`)}], most)}${objectTable(
    'destroys',
    'Destroys',
    destroys,
    [
      object,
      kind,
      action,
      {name: 'Because', cell: it => html`${it.reason ?? ''}`},
      {name: 'Risk', cell: it => html`<span class="risk">${riskWords(it)}</span>`},
    ],
    most,
  )}${objectTable(
    'risks',
    'Risks',
    risks,
    [
      object,
      {
        name: 'Change',
        cell: it =>
          html`${risksOf(it)
            .slice(0, 10)
            .map(
              risk =>
                html`<p class="why"><code>${fieldOf(risk)}</code>: ${briefValue(risk.before, '(absent)')} to ${briefValue(risk.after, '(gone)')}</p>`,
            )}`,
      },
      {name: 'Risk', cell: it => html`<span class="risk">${riskWords(it)}</span>`},
    ],
    most,
  )}${objectTable('drift', 'Drift', drifted, [object, kind, action, {name: 'Applied, and now', cell: it => (it.action === 'missing' ? html`the object is gone` : fieldTable(it.changes.slice(0, 20), 'Applied', 'Now'))}], most)}`
}

const riskWords = (it: ReportObject): string => lossesOf(it).join('; ') || '-'

function fieldTable(changes: readonly ReportChange[], before: string, after: string): Html {
  return html`<table><thead><tr><th scope="col">Field</th><th scope="col">${before}</th><th scope="col">${after}</th></tr></thead><tbody>${changes.map(
    it =>
      html`<tr><td><code>${fieldOf(it)}</code></td><td>${briefValue(it.before, '(absent)')}</td><td>${briefValue(it.after, '(gone)')}${it.risk === undefined ? undefined : html`<span class="risk sub">${it.risk}</span>`}</td></tr>`,
  )}</tbody></table>`
}

/** More are scrolled in a box of their own, so that what comes after them is found. */
const MANY = 100

/** Everything that is done, one by one, with a filter for those who have the script. */
export function changesSection(report: Report, cut: PageCut): Html | undefined {
  const objects = byWeight(report.objects.filter(isActive))
  if (objects.length === 0) return undefined
  const titles = titlesOf(report)
  const shown = objects.slice(0, cut.most)
  const more = objects.slice(cut.most)
  const choices = (name: string, label: string, values: readonly string[]) =>
    html`<div><label for="f-${name}">${label}</label><select id="f-${name}" name="${name}"><option value="">all</option>${values.map(it => html`<option value="${it}">${it}</option>`)}</select></div>`
  return html`<section aria-labelledby="changes"><h2 id="changes">${counted(objects.length, 'change')}</h2>
<form class="filter" hidden>${choices('action', 'Action', [...new Set(shown.map(actionOf))])}${choices('kind', 'Kind', [...new Set(shown.map(it => it.kind))].toSorted())}<div class="grow"><label for="f-text">Text</label><input id="f-text" name="text" type="search" autocomplete="off"></div><output aria-live="polite"></output></form>
${shown.length > MANY ? html`<div class="card long" tabindex="0" role="region" aria-label="The changes, one by one">` : html`<div class="card">`}${shown.map(it => change(it, report.stacks.length > 1, titles, cut))}</div>${notListed(more)}</section>`
}

function change(it: ReportObject, several: boolean, titles: ReadonlyMap<string, string>, cut: PageCut): Html {
  const fields = cut.fields || isDestroy(it) || isRisky(it) ? it.changes : []
  const word = actionOf(it)
  const after = it.edges.slice(0, 20)
  return html`<details class="op" data-action="${word}" data-kind="${it.kind}"${isRisky(it) || isDestroy(it) ? html` open` : undefined}><summary>${badge(word)}<span class="what">${title(it, several)}</span></summary><div><p class="why">${sentenceOf(it)}${
    it.written === undefined ? undefined : html` <code>${it.written}</code>`
  }</p>${
    it.error === undefined ? undefined : html`<p><strong>${it.error.code}</strong>: ${it.error.message}</p>`
  }${fields.length === 0 ? undefined : html`<div class="scroll" tabindex="0" role="region" aria-label="Fields of ${it.address}">${fieldTable(fields, 'Before', 'After')}</div>`}${
    it.changes.length > 0 && fields.length === 0 ? html`<p class="why">${counted(it.changes.length, 'field')}</p>` : undefined
  }${after.length === 0 ? undefined : html`<p class="why">after ${after.map((edge: Edge) => titles.get(edge.key) ?? edge.key).join(', ')}</p>`}</div></details>`
}

/** `cloud.database "cache". it is not there yet [cloud/subscriptions/1]` */
const sentenceOf = (it: ReportObject): Html =>
  html`<code>${it.kind}</code>${it.name === undefined ? undefined : html` <q>${it.name}</q>`}: ${it.reason ?? ''}${
    it.movedFrom === undefined ? undefined : html`, from ${it.movedFrom}`
  }${it.remoteId === undefined ? undefined : html` <code>${it.remoteId}</code>`}`

export function timelineTable(report: Report, {rows, is}: Timeline, most: number): Html {
  const titles = titlesOf(report)
  const columns: readonly (readonly [string, keyof TimelineRow])[] =
    is === 'planned'
      ? [
          ['Sent', 'sent'],
          ['Ready', 'ready'],
        ]
      : [
          ['Sent', 'sent'],
          ['Task', 'task'],
          ['Settling', 'settling'],
          ['Ready', 'ready'],
        ]
  const at = (seconds: number | string | undefined) => (typeof seconds === 'number' ? formatDuration(seconds * 1000) : '-')
  return html`<details class="more"><summary>The timeline as a table</summary><div class="card scroll" tabindex="0" role="region" aria-label="The timeline as a table"><table><thead><tr><th scope="col">Object</th>${columns.map(([name]) => html`<th scope="col" class="num">${name}</th>`)}</tr></thead><tbody>${rows
    .slice(0, most)
    .map(
      row =>
        html`<tr><td>${titles.get(row.key) ?? row.key}</td>${columns.map(([, field]) => html`<td class="num">${at(row[field])}</td>`)}</tr>`,
    )}</tbody></table></div></details>`
}

export function edgeTable(report: Report, most: number): Html {
  const titles = titlesOf(report)
  const rows = report.objects.filter(isActive).flatMap(it => it.edges.map(edge => [it, edge] as const))
  return html`<details class="more"><summary>The dependencies as a table</summary><div class="card scroll" tabindex="0" role="region" aria-label="The dependencies as a table"><table><thead><tr><th scope="col">Object</th><th scope="col">waits for</th><th scope="col">because of</th></tr></thead><tbody>${rows
    .slice(0, most)
    .map(
      ([it, edge]) =>
        html`<tr><td>${titles.get(it.key) ?? it.key}</td><td>${titles.get(edge.key) ?? edge.key}</td><td>${edge.reason}</td></tr>`,
    )}</tbody></table></div></details>`
}

export function nextSteps({hash, approve, apply, applied, refused}: Report): Html | undefined {
  if (hash === undefined) return undefined
  return html`<section aria-labelledby="next"><h2 id="next">${applied === undefined ? 'To apply it' : 'The run'}</h2><p>Plan <code>${hash}</code></p>${
    applied === undefined
      ? html`${approve === undefined ? undefined : html`<p>Approve with <code>--approve ${approve}</code></p>`}${refused ? html`<p>It is refused as it is.</p>` : undefined}${apply === undefined ? undefined : html`<pre class="command">${wholeText(apply)}</pre>`}`
      : html`<p>${applied.run === undefined ? 'Nothing was to be done.' : `Run ${applied.run}, ${applied.converged ? 'converged' : 'not converged'}.`}</p>${applied.residualPlan === undefined ? undefined : html`<p>What is left:</p><pre class="command">svcctl apply ${wholeText(applied.residualPlan)}</pre>`}`
  }</section>`
}

/** How many more there are, by kind. */
const notListed = (more: readonly ReportObject[]) =>
  more.length === 0
    ? undefined
    : html`<ul>${byKind(more)
        .slice(0, 20)
        .map(([kind, count]) => html`<li>${grouped(count)} more <code>${kind}</code></li>`)}</ul>`
