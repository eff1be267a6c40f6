/**
 * A report as one comment of a code host. What destroys, what is risky and what stands against it come first and are never
 * folded; what does not fit is cut by rule, from the end that matters least.
 */

import {formatDuration} from '../../base/duration.ts'
import {shellWord} from '../../base/shell-word.ts'
import {isDrift} from '../../engine/model/plan.ts'
import {liftingOf} from '../../engine/plan/guards.ts'
import type {Report, ReportAction, ReportObject} from '../report.ts'
import {isDestroy, isRisky, risksOf} from '../report.ts'
import type {ReportFormat} from '../report-format.ts'
import {
  briefValue,
  byKind,
  costInWords,
  counted,
  fieldOf,
  grouped,
  guardWords,
  lossesOf,
  objectGroups,
  titleParts,
  verdict,
} from '../shown.ts'
import {code, command, fenced, words} from './markdown-text.ts'

export interface MarkdownLimit {
  readonly most: number
  readonly sizeOf: (text: string) => number
}

/** GitHub takes 65 536 characters and GitLab more; both count as JavaScript does. */
export const COMMENT: MarkdownLimit = {most: 65_000, sizeOf: text => text.length}

interface Cut {
  /** Fields of what is created. */
  readonly createdFields: boolean
  /** Values of what is updated. */
  readonly values: boolean
  /** Objects one by one in what is folded. */
  readonly listed: boolean
  /** How many are named in what is not folded. */
  readonly most: number
  /** What is missing, for the reader. */
  readonly says?: string
}

const WHOLE: Cut = {createdFields: true, values: true, listed: true, most: Number.POSITIVE_INFINITY}
const NO_FIELDS: Cut = {...WHOLE, createdFields: false, says: 'creates without their fields'}
const PATHS: Cut = {...NO_FIELDS, values: false, says: 'creates without their fields, updates without their values'}
const COUNTS: Cut = {...PATHS, listed: false, says: 'what neither destroys nor risks anything is counted only'}
const first = (most: number): Cut => ({...COUNTS, most, says: `${COUNTS.says}, and of the rest the first ${most} are named`})
const CUTS: readonly Cut[] = [WHOLE, NO_FIELDS, PATHS, COUNTS, ...[50, 25, 12, 6, 3, 1, 0].map(first)]

export function markdown(report: Report, {most, sizeOf}: MarkdownLimit = COMMENT): string {
  let text = ''
  for (const cut of CUTS) {
    const blocks = folded(report, cut, most)
    // What is far too long is not put together.
    if (blocks === undefined) continue
    text = rendered(report, cut, blocks)
    if (sizeOf(text) <= most) break
  }
  return text
}

function rendered(report: Report, cut: Cut, folded: readonly string[]): string {
  const blocks = [
    marker(report),
    heading(report),
    summaryTable(report),
    ...failureBlocks(report, cut),
    ...unfolded(report, cut),
    ...folded,
    ...(cut.says === undefined ? [] : [`_This report is cut: ${cut.says}._`]),
    ...ending(report),
  ]
  return `${blocks.join('\n\n')}\n`
}

/** By which a later run finds its own comment again. */
export const markerStart = (key: string): string => `<!-- svcctl key=${key} `

const marker = ({key, run, hash, commit}: Report): string => `${markerStart(key)}run=${run} hash=${hash ?? '-'} commit=${commit ?? '-'} -->`

const heading = (report: Report): string => {
  const stacks = report.stacks.length === 0 ? '-' : words(report.stacks.join(', '))
  return `### svcctl: ${stacks}: ${verdict(report)}`
}

/** All rows always, so that a reader who looks for one finds it in its place. */
function summaryTable(report: Report): string {
  const {guards, notShown, frozen = []} = report
  const {destroys, risks, blocked, held, accepted} = objectGroups(report)
  const replaced = destroys.filter(it => it.action === 'replace')
  const rows: readonly (readonly [string, string])[] = [
    ['Destroys', destroysInWords(destroys.length - replaced.length, replaced.length)],
    [
      'Risks',
      risks.length === 0
        ? 'none'
        : `**${counted(risks.length, 'object')}**: ${someWords(risks.flatMap(it => risksOf(it).map(risk => risk.risk)))}`,
    ],
    [
      'Guards',
      guards.length + frozen.length === 0
        ? 'none'
        : [
            ...some(frozen, it => `**Frozen**: ${words(it)}`),
            ...guards.map(it => `**${it.code}**: ${words(guardWords(it))}; ${liftedWords(it.allow)}`),
          ].join('<br>'),
    ],
    [
      'Blocked, held',
      blocked.length + held.length + accepted.length === 0
        ? 'none'
        : [
            ...some(blocked, it => `blocked: ${title(it, report)}: ${words(it.error?.message ?? it.reason ?? '')}`),
            ...some(
              held,
              it =>
                `held: ${title(it, report)} by ${words(it.held?.by ?? '')} until ${words(it.held?.until ?? '')}: ${words(it.held?.reason ?? '')}`,
            ),
            ...some(
              accepted,
              it => `accepted: ${title(it, report)} by ${words(it.accepted?.by ?? '')} until ${words(it.accepted?.until ?? '')}`,
            ),
          ].join('<br>'),
    ],
    ['Cost', words(costInWords(report))],
    ['Not shown', notShown.length === 0 ? 'nothing' : some(notShown, words).join('; ')],
  ]
  return ['| | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n')
}

function destroysInWords(deleted: number, replaced: number): string {
  if (deleted + replaced === 0) return 'none'
  const parts = [...(deleted === 0 ? [] : [`${grouped(deleted)} deleted`]), ...(replaced === 0 ? [] : [`${grouped(replaced)} replaced`])]
  return `**${parts.join(', ')}**`
}

const liftedWords = (allow: string): string =>
  ({option: `allow with ${code(allow)}`, command: `if that is meant, run ${code(allow)}`, step: words(allow)})[liftingOf(allow)]

/** A row names so many. */
const NAMED = 5
/** A list that counts names so many. */
const KINDS = 20

const some = <T>(items: readonly T[], text: (it: T) => string): string[] => [
  ...items.slice(0, NAMED).map(text),
  ...(items.length > NAMED ? [`${grouped(items.length - NAMED)} more`] : []),
]

const someWords = (all: readonly string[]): string => some([...new Set(all)], words).join('; ')

const title = (it: ReportObject, {stacks}: Report): string => {
  const [head = '', ...rest] = titleParts(it, stacks.length > 1).map(code)
  return rest.length === 0 ? head : `${head} (${rest.join(', ')})`
}

function failureBlocks({failure}: Report, {most}: Cut): string[] {
  if (failure === undefined) return []
  const {code: errorCode, message, problems, suggestions} = failure
  const shown = problems.slice(0, Math.min(most, KINDS))
  const lines = [
    ...shown.map(
      it =>
        `- ${it.address === undefined ? '' : `${code(it.address)}: `}${words(it.message)}${it.source === undefined ? '' : ` (${code(it.source)})`}`,
    ),
    ...(problems.length > shown.length ? [`- ${grouped(problems.length - shown.length)} more`] : []),
    ...some(suggestions, it => `- ${words(it)}`),
  ]
  return [`**${errorCode}**: ${words(message)}`, ...(lines.length === 0 ? [] : [lines.join('\n')])]
}

interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly objects: readonly ReportObject[]
  readonly row: (it: ReportObject) => readonly string[]
}

/** What nobody may overlook. */
function unfolded(report: Report, cut: Cut): string[] {
  const {destroys, risks, failed, drifted} = objectGroups(report)
  const state = (it: ReportObject) => (it.state === undefined ? it.action : `${it.action}: ${it.state}`)
  const tables: readonly Table[] = [
    {
      title: 'Failed',
      columns: ['Object', 'State', 'Why'],
      objects: failed,
      row: it => [
        title(it, report),
        state(it),
        it.error === undefined ? `because of ${code(it.because ?? '')}` : `${it.error.code}: ${words(it.error.message)}`,
      ],
    },
    {
      title: 'Destroys',
      columns: ['Object', 'Kind', 'Action', 'Because', 'Risk'],
      objects: destroys,
      row: it => [
        `${title(it, report)}${it.name === undefined ? '' : ` ${code(it.name)}`}`,
        code(it.kind),
        state(it),
        words(it.reason ?? ''),
        someWords(lossesOf(it)) || '-',
      ],
    },
    {
      title: 'Risks',
      columns: ['Object', 'Field', 'Change', 'Risk'],
      objects: risks,
      row: it => {
        const changes = risksOf(it)
        return [
          `${title(it, report)}${it.name === undefined ? '' : ` ${code(it.name)}`}`,
          some(changes, change => code(fieldOf(change))).join('<br>'),
          some(changes, change => `${code(briefValue(change.before, '(absent)'))} to ${code(briefValue(change.after, '(gone)'))}`).join(
            '<br>',
          ),
          some(changes, change => words(change.risk)).join('<br>'),
        ]
      },
    },
    {
      title: 'Drift',
      columns: ['Object', 'Kind', 'Field', 'Applied', 'Now'],
      objects: drifted,
      row: it => [
        title(it, report),
        code(it.kind),
        it.action === 'missing' ? '(missing)' : some(it.changes, change => code(fieldOf(change))).join('<br>'),
        some(it.changes, change => code(briefValue(change.before, '(absent)'))).join('<br>') || '-',
        some(it.changes, change => code(briefValue(change.after, '(gone)'))).join('<br>') || '-',
      ],
    },
  ]
  return tables.flatMap(({title, columns, objects, row}) => {
    if (objects.length === 0) return []
    const [shown, more] = [objects.slice(0, cut.most), objects.slice(cut.most)]
    const lines =
      shown.length === 0
        ? []
        : [`| ${columns.join(' | ')} |`, `|${columns.map(() => '---').join('|')}|`, ...shown.map(it => `| ${row(it).join(' | ')} |`)]
    const rest = byKind(more)
      .slice(0, KINDS)
      .map(([kind, count]) => `- ${grouped(count)} more ${code(kind)}`)
    return [`#### ${title}`, ...(lines.length === 0 ? [] : [lines.join('\n')]), ...(rest.length === 0 ? [] : [rest.join('\n')])]
  })
}

const FOLDED: readonly (readonly [title: string, actions: readonly ReportAction[]])[] = [
  ['to create', ['create']],
  ['to update', ['update']],
  ['to adopt', ['adopt']],
  ['to move or forget', ['move', 'forget']],
]

/** What can be looked at when everything above is clear; `undefined` when it is longer than `most`. */
function folded(report: Report, cut: Cut, most: number): string[] | undefined {
  const blocks: string[] = []
  let length = 0
  for (const [words, actions] of FOLDED) {
    const objects = report.objects.filter(it => actions.includes(it.action))
    if (objects.length === 0) continue
    const lines: string[] = []
    for (const line of cut.listed ? listedLines(objects, report, cut) : countedLines(objects)) {
      lines.push(line)
      length += line.length + 1
      if (length > most) return undefined
    }
    blocks.push([`<details><summary>${counted(objects.length, 'object')} ${words}</summary>`, '', ...lines, '', '</details>'].join('\n'))
  }
  return blocks
}

function* listedLines(objects: readonly ReportObject[], report: Report, cut: Cut): Generator<string> {
  yield '```diff'
  for (const it of objects) yield* foldedLines(it, report, cut)
  yield '```'
}

function* countedLines(objects: readonly ReportObject[]): Generator<string> {
  const kinds = byKind(objects)
  for (const [kind, count] of kinds.slice(0, KINDS)) yield `- ${grouped(count)} ${code(kind)}`
  if (kinds.length > KINDS) yield `- ${counted(kinds.length - KINDS, 'more kind')}`
}

const SIGNS: Readonly<Partial<Record<ReportAction, string>>> = {create: '+', update: '!', adopt: '=', move: '>', forget: 'x'}

function foldedLines(it: ReportObject, report: Report, cut: Cut): string[] {
  const name = it.name === undefined ? '' : ` ${fenced(JSON.stringify(it.name))}`
  const from = it.movedFrom === undefined ? '' : `, from ${fenced(it.movedFrom)}`
  const state = it.state === undefined ? '' : `: ${it.state}`
  const [head = '', ...rest] = titleParts(it, report.stacks.length > 1).map(fenced)
  const line = `${SIGNS[it.action] ?? ' '} ${head}${rest.length === 0 ? '' : ` (${rest.join(', ')})`} ${fenced(it.kind)}${name}${from}${state}`
  if (it.action === 'create')
    return [
      line,
      ...(cut.createdFields ? it.changes.map(change => `+     ${field(change)} = ${fenced(briefValue(change.after, ''))}`) : []),
    ]
  if (!cut.values) return [line, ...(it.changes.length === 0 ? [] : [`      ${it.changes.slice(0, KINDS).map(field).join(', ')}`])]
  return [
    line,
    ...it.changes.map(change => {
      const who = isDrift(change) ? ` (changed ${change.moved})` : ''
      const risk = change.risk === undefined ? '' : ` risk: ${fenced(change.risk)}`
      return `      ${field(change)}: ${fenced(briefValue(change.before, '(absent)'))} -> ${fenced(briefValue(change.after, '(gone)'))}${who}${risk}`
    }),
  ]
}

const field = (change: ReportObject['changes'][number]): string => fenced(fieldOf(change))

/** What to do next. */
function ending({hash, approve, apply, applied, refused, timeline, objects}: Report): string[] {
  const lines = [
    ...(hash === undefined ? [] : [`Plan \`${hash}\``]),
    ...(approve === undefined || applied !== undefined ? [] : [`Approve: \`--approve ${approve}\``]),
    ...(apply === undefined || applied !== undefined
      ? []
      : [`${refused ? 'Refused as it is. When it is not: ' : 'Apply: '}${command(apply)}`]),
    ...(applied?.run === undefined ? [] : [`Run ${code(applied.run)}, ${applied.converged ? 'converged' : 'not converged'}`]),
    ...(timeline?.is !== 'actual' || timeline.proven === undefined ? [] : [`Proven after ${formatDuration(timeline.proven * 1000)}`]),
    ...(applied?.residualPlan === undefined ? [] : [`What is left: ${command(`svcctl apply ${shellWord(applied.residualPlan)}`)}`]),
  ]
  if (lines.length > 0) return [lines.join('  \n')]
  return objects.some(it => isDestroy(it) || isRisky(it)) ? ['No plan was made.'] : []
}

export const markdownFormat: ReportFormat = {render: report => [{to: 'place', text: markdown(report)}]}
