/** What a job of GitHub Actions reads: its summary page, its outputs, and annotations at the lines of the stacks. */

import type {Report, ReportObject} from '../report.ts'
import {isActive, risksOf} from '../report.ts'
import type {ReportFormat, ReportPiece} from '../report-format.ts'
import {brief, counted, fieldOf, objectGroups, titleParts} from '../shown.ts'
import {oneLine} from '../terminal-text.ts'
import {type MarkdownLimit, markdown} from './markdown.ts'

/** A step's summary may have 1 MiB; other steps write there too. */
const SUMMARY: MarkdownLimit = {most: 1_000_000, sizeOf: text => Buffer.byteLength(text)}

/** GitHub shows ten of a level and drops the rest in silence. */
const MOST = 10

export function stepOutputs(report: Report): Readonly<Record<string, string>> {
  const {destroys, risks} = objectGroups(report)
  return {
    hash: report.hash ?? '',
    approve: report.approve ?? '',
    changed: String(report.objects.some(isActive)),
    destroys: String(destroys.length),
    risks: String(risks.length),
    refused: String(report.refused),
    audit_head: report.auditHead ?? '',
  }
}

interface Annotation {
  readonly message: string
  readonly title: string
  /** `file:line` */
  readonly at?: string | undefined
}

type Level = 'error' | 'warning'

/** Worst first. */
function annotationsOf(report: Report): Readonly<Record<Level, readonly Annotation[]>> {
  const {failure, guards, objects} = report
  const {destroys, risks, failed, drifted, blocked, held} = objectGroups(report)
  const several = report.stacks.length > 1
  const about = (it: ReportObject, title: string, why: string): Annotation => ({
    title,
    message: `${titleParts(it, several).join(' ')}: ${why}`,
    at: it.written,
  })
  const byName = new Map(objects.map(it => [several ? it.key : it.address, it]))
  const destroying = new Set(destroys)
  return {
    error: [
      ...(failure === undefined
        ? []
        : failure.problems.length === 0
          ? [{title: failure.code, message: failure.message}]
          : failure.problems.map(it => ({
              title: failure.code,
              message: `${it.address === undefined ? '' : `${it.address}: `}${it.message}`,
              at: it.source,
            }))),
      ...failed.map(it => about(it, it.error?.code ?? `${it.action} ${it.state}`, it.error?.message ?? `because of ${it.because ?? ''}`)),
      ...guards.map(it => ({
        title: it.code,
        message: `${it.message}: ${it.addresses.slice(0, 3).join(', ')}${it.addresses.length > 3 ? ` and ${it.addresses.length - 3} more` : ''}`,
        at: it.addresses.map(address => byName.get(address)?.written).find(place => place !== undefined),
      })),
      ...blocked.filter(it => it.state === undefined).map(it => about(it, 'blocked', it.reason ?? '')),
      ...drifted.map(it => about(it, it.action, it.action === 'missing' ? 'it is gone' : it.changes.map(fieldOf).join(', '))),
    ],
    warning: [
      ...destroys.map(it => about(it, it.action, it.reason ?? '')),
      ...risks
        .filter(it => !destroying.has(it))
        .map(it =>
          about(
            it,
            'risk',
            risksOf(it)
              .map(risk => `${fieldOf(risk)}: ${risk.risk}`)
              .join('; '),
          ),
        ),
      ...held.map(it => about(it, 'held', `by ${it.held?.by ?? ''} until ${it.held?.until ?? ''}`)),
      ...(report.frozen ?? []).map(it => ({title: 'frozen', message: it})),
      ...report.notes.map(it => ({title: 'note', message: it})),
    ],
  }
}

/** Commands of the runner, a line each; the tenth of a level says how many more there are. */
export function annotations(report: Report, folder: string): string {
  const all = annotationsOf(report)
  const lines = (['error', 'warning'] as const).flatMap(level => {
    const [shown, more] = all[level].length > MOST ? [all[level].slice(0, MOST - 1), all[level].length - MOST + 1] : [all[level], 0]
    return [
      ...shown.map(it => workflowCommand(level, it, folder)),
      ...(more === 0
        ? []
        : [workflowCommand(level, {title: 'svcctl', message: `${counted(more, `more ${level}`)}: see the summary of the job`}, folder)]),
    ]
  })
  return lines.map(it => `${it}\n`).join('')
}

function workflowCommand(level: Level, {message, title, at}: Annotation, folder: string): string {
  const place = /^([^:]+(?:\.[A-Za-z.]+)):(\d+)$/.exec(at ?? '') ?? /^([^:\s]+\.[A-Za-z.]+)()$/.exec(at ?? '')
  const properties = [
    ...(place?.[1] === undefined ? [] : [`file=${property(folder === '' ? place[1] : `${folder}/${place[1]}`)}`]),
    ...(place?.[2] === undefined || place[2] === '' ? [] : [`line=${place[2]}`]),
    `title=${property(brief(title))}`,
  ]
  return `::${level} ${properties.join(',')}::${data(brief(message))}`
}

/** As GitHub's own toolkit escapes them. */
const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = (text: string): string => data(oneLine(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')

export const githubFormat: ReportFormat = {
  render: (report, folder): readonly ReportPiece[] => [
    {to: 'job summary', text: `${markdown(report, SUMMARY)}\n`},
    {
      to: 'job output',
      text: Object.entries(stepOutputs(report))
        .map(([name, value]) => `${name}=${oneLine(value)}\n`)
        .join(''),
    },
    {to: 'log', text: annotations(report, folder)},
  ],
}
